"""How fast the hashed n-gram model reads a corpus: sentences per second of processor time, so per core.

    python benchmarks/linear_speed.py [--texts FILE]

The sentences are made up from a list of words with a fixed seed, or are the lines of FILE. The aim is 60,000 short
sentences per second, because harvesting has to pass 20,000 per second end to end.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np
import polars as pl

from quintain.core.task import Label, Task
from quintain.models.baselines.ngram import Ngram

AIM = 60_000
LABELS = ("negative", "neutral", "positive")


def made_up(count: int, seed: int = 0) -> list[str]:
    """Make sentences of about 100 letters out of 20,000 made-up words, frequent ones more often."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    lengths = rng.integers(2, 10, 20_000)
    words = ["".join(rng.choice(letters, length)) for length in lengths]
    shares = 1 / np.arange(1, len(words) + 1)
    chosen = rng.choice(len(words), size=(count, 16), p=shares / shares.sum())
    return [" ".join(words[number] for number in row).capitalize() + "." for row in chosen.tolist()]


def main() -> None:
    """Train on some, then time all of them, three times."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", type=Path)
    options.add_argument("--count", type=int, default=100_000)
    arguments = options.parse_args()
    texts = arguments.texts.read_text(encoding="utf-8").splitlines() if arguments.texts else made_up(arguments.count)
    texts = (texts * (arguments.count // len(texts) + 1))[: arguments.count]
    task = Task("speed", "text-classification", {"en": "Speed"}, labels=tuple(Label(name) for name in LABELS))
    sample = texts[:3000]
    answers = [LABELS[number % 3] for number in range(len(sample))]
    model = Ngram.train(task, pl.DataFrame({"text": sample, "answer": answers}))
    batch = [{"text": text} for text in texts]
    rates: dict[str, list[float]] = {"predict": [], "probabilities only": []}
    for _ in range(3):
        for way, call in (
            ("predict", lambda: model.predict(batch)),
            ("probabilities only", lambda: model.text_probabilities(texts)),
        ):
            start = time.process_time()
            call()
            rates[way].append(len(texts) / (time.process_time() - start))
    letters = statistics.mean(len(text) for text in texts)
    print(
        json.dumps(
            {
                "sentences": len(texts),
                "letters": round(letters, 1),
                "aim": AIM,
                "per_second": {
                    way: {
                        "median": round(statistics.median(found)),
                        "least": round(min(found)),
                        "most": round(max(found)),
                    }
                    for way, found in rates.items()
                },
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
