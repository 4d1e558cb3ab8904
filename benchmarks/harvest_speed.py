"""How fast a corpus is harvested, end to end, and whether memory stays flat.

    python benchmarks/harvest_speed.py [--sentences 1000000] [--folder DIR]

Reviews of about five made-up sentences with stars are written as JSON lines, a hashed n-gram model is trained, and
`quintain harvest` runs as a process of its own. Rates are sentences per second of the clock and of processor time
(all threads together); memory is the peak of the process. The clock's rate says little while other work goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from quintain.core.task import Label, Task
from quintain.models.baselines.ngram import Ngram
from rows import Row, print_rows

AIM = 20_000
LABELS = ("negative", "neutral", "positive")
SENTENCES = 1_000_000
PER_REVIEW = 5
WORDS = 16


def write_corpus(path: Path, sentences: int, seed: int = 0) -> None:
    """Write reviews: words by Zipf's law out of 20,000, now and then an abbreviation, a decimal or a smiley."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    words = ["".join(rng.choice(letters, length)) for length in rng.integers(2, 10, 20_000)]
    shares = 1 / np.arange(1, len(words) + 1)
    shares /= shares.sum()
    ends = [".", ".", ".", ".", "!", "?", "...", "!!", " :)", ". 4.5 of 5 by Mr. Bell.", " etc. and so on."]
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, sentences // PER_REVIEW, 10_000):
            reviews = min(10_000, sentences // PER_REVIEW - start)
            chosen = rng.choice(len(words), size=(reviews, PER_REVIEW, WORDS), p=shares).tolist()
            marks = rng.integers(0, len(ends), size=(reviews, PER_REVIEW)).tolist()
            stars = rng.integers(1, 6, size=reviews).tolist()
            for number in range(reviews):
                parts = [
                    " ".join(words[word] for word in row).capitalize() + ends[mark]
                    for row, mark in zip(chosen[number], marks[number], strict=True)
                ]
                line = {"review_id": f"r{start + number}", "stars": stars[number], "text": " ".join(parts)}
                stream.write(json.dumps(line) + "\n")


def write_model(folder: Path, corpus: Path) -> None:
    """Train on the first reviews; what it learns does not matter for its speed."""
    texts = pl.read_ndjson(corpus, n_rows=3000)["text"]
    answers = [LABELS[number % 3] for number in range(len(texts))]
    task = Task("speed", "text-classification", {"en": "Speed"}, labels=tuple(Label(name) for name in LABELS))
    Ngram.train(task, pl.DataFrame({"text": texts, "answer": answers})).save(folder)


def measure(corpus: Path, model: Path, out: Path) -> dict[str, float]:
    """Harvest once, in a process of its own."""
    command = [sys.executable, "-m", "quintain", "harvest", str(corpus), "--model", str(model), "--out", str(out)]
    start = time.perf_counter()
    with subprocess.Popen([*command, "--size", "5000", "--json"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.read())
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    seconds, processor = time.perf_counter() - start, usage.ru_utime + usage.ru_stime
    read = told["sentences"]["read"]
    return {
        "sentences": read,
        "per_second": read / seconds,
        "per_cpu_second": read / processor,
        "cores": processor / seconds,
        "peak_mb": usage.ru_maxrss / 1024,
        "taken": told["taken"],
    }


def race(sentences: int = SENTENCES, folder: Path | None = None) -> list[Row]:
    """Harvest a tenth of the corpus, then all of it."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="quintain-harvest-") as temporary:
        place = folder or Path(temporary)
        for count in (sentences // 10, sentences):
            corpus = place / f"reviews-{count}.jsonl"
            write_corpus(corpus, count)
            write_model(place / "model", corpus)
            found = measure(corpus, place / "model", place / "sample.jsonl")
            name = f"{found['sentences']:,.0f} sentences"
            rows += [
                Row("harvest", f"{name}, per second", f"{found['per_second']:,.0f}", f"{AIM:,}"),
                Row("harvest", f"{name}, per second of processor time", f"{found['per_cpu_second']:,.0f}"),
                Row("harvest", f"{name}, cores in use", f"{found['cores']:.2f}", "at most 2"),
                Row("harvest", f"{name}, peak memory", f"{found['peak_mb']:,.0f} MB", "flat"),
            ]
    return rows


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sentences", type=int, default=SENTENCES)
    options.add_argument("--folder", type=Path, help="Keep the files here.")
    arguments = options.parse_args()
    print_rows(race(arguments.sentences, arguments.folder))


if __name__ == "__main__":
    main()
