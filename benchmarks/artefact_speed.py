"""How long looking for artefacts takes: 100,000 examples for a partial input, 1,000,000 for words and labels.

python benchmarks/artefact_speed.py
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from judgement_data import peak_megabytes
from rows import Row, print_rows

EXAMPLES, MANY, PART = 100_000, 1_000_000, 50_000
WORDS, LENGTH = 30_000, 18


def draw(number: int, seed: int = 0) -> tuple[Any, Any]:
    """Draw texts of words as frequent as words are, in which some go with one of three labels."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, number)
    words = rng.zipf(1.3, (number, LENGTH)) % WORDS
    words[:, 0] = np.where(rng.random(number) < 0.3, WORDS + label, words[:, 0])
    names = np.array([f"word{at}" for at in range(WORDS + 3)])
    return [" ".join(row) for row in names[words]], label


def parts() -> Iterator[tuple[Any, Any]]:
    """Give a million examples, a part at a time."""
    for at in range(MANY // PART):
        texts, label = draw(PART, at)
        yield texts, [("no", "maybe", "yes")[one] for one in label]


def race() -> list[Row]:
    """Measure both."""
    from quintain.stats.artefacts.examples import Examples
    from quintain.stats.artefacts.partial import partial_input
    from quintain.stats.artefacts.words_by_label import words_by_label

    texts, label = draw(EXAMPLES)
    examples = Examples({"text": texts}, label.astype(np.int64), ["no", "maybe", "yes"])
    begin, processor = time.perf_counter(), time.process_time()
    found = partial_input(examples, ["text"])
    spent = f"{time.perf_counter() - begin:.1f} s ({time.process_time() - processor:.1f} s of processors)"
    rows = [Row("artefacts", f"partial input, {EXAMPLES:,} examples", spent, "< 60 s")]
    rows.append(Row("artefacts", "its accuracy, 0.53 can be had", f"{found.accuracy.value:.3f}"))
    before, drawing = peak_megabytes(), 0.0

    def timed() -> Iterator[tuple[Any, Any]]:
        nonlocal drawing
        source = parts()
        while True:
            at = time.perf_counter()
            part = next(source, None)
            drawing += time.perf_counter() - at
            if part is None:
                return
            yield part

    begin = time.perf_counter()
    words = words_by_label(timed())
    spent = f"{time.perf_counter() - begin - drawing:.1f} s, {max(peak_megabytes() - before, 0):,.0f} MB more"
    rows.append(Row("artefacts", f"words and labels, {words.texts:,} examples", spent, "< 30 s, flat"))
    return rows


if __name__ == "__main__":
    print_rows(race())
