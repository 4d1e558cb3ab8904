"""How long the linear learner takes for a recipe's mix: wall and processor seconds, and what it has learned.

    python benchmarks/train_speed.py [--sentences 500000]

The sentences are made up with a fixed seed; a few words of each speak for its label. The aim is half a million of them
in under 60 seconds on two cores. Measuring on sentences that were left out shows that a
fast model is not a useless one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from quintain.core.task import Label, Task
from quintain.data.mixing import Mix
from quintain.models.learning import Lesson, macro_f1, make_learner, predicted

AIM = 60.0
LABELS = ("negative", "neutral", "positive")
WORDS = 60_000


def sentences(count: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Make sentences of 5 to 24 words, and the label of each."""
    rng = np.random.default_rng(seed)
    words = np.array(["".join(chr(97 + int(digit)) for digit in f"{number:08d}") for number in rng.permutation(WORDS)])
    shares = 1 / np.arange(1, WORDS + 1) ** 1.05
    lengths = rng.integers(5, 25, count)
    labels = rng.integers(0, len(LABELS), count)
    drawn = rng.choice(WORDS, size=lengths.sum(), p=shares / shares.sum())
    telling = rng.random(len(drawn)) < 0.15
    drawn[telling] = 500 + rng.integers(0, 3000, telling.sum()) * 3 + np.repeat(labels, lengths)[telling]
    ends = np.cumsum(lengths)
    chosen = words[drawn]
    return [" ".join(chosen[a:b]) for a, b in zip(ends - lengths, ends, strict=True)], labels


def main() -> None:
    """Train once and say what it took."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sentences", type=int, default=500_000)
    count = options.parse_args().sentences
    texts, labels = sentences(count + 2000)
    task = Task(
        name="speed",
        kind="text-classification",
        title={"en": "Speed"},
        labels=tuple(Label(name) for name in LABELS),
        options={},
    )
    mix = Mix(
        LABELS,
        pl.DataFrame({"text": texts[:count]}),
        np.eye(3, dtype=np.float32)[labels[:count]],
        np.ones(count, dtype=np.int64),
        np.ones(count, dtype=np.float32),
        np.zeros(count, dtype=np.bool_),
    )
    with tempfile.TemporaryDirectory() as place:
        wall, processor = time.perf_counter(), time.process_time()
        made = make_learner("linear", {}).learn(Lesson(task, mix, Path(place)))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    held = pl.DataFrame({"text": texts[count:]})
    gold = [LABELS[number] for number in labels[count:]]
    score = macro_f1(gold, predicted(made.handler, held, LABELS), LABELS)
    met = "met" if wall < AIM else "missed"
    print(f"{count:,} sentences: {wall:.1f} s, processor {processor:.1f} s, macro F1 {score:.3f}; aim {AIM:g} s {met}")


if __name__ == "__main__":
    main()
