"""Fine-tuning on a GPU where there is one: the device, steps per second, and that the loss falls.

    python benchmarks/train_gpu.py [--hidden 256] [--layers 4] [--rows 4000] [--epochs 2] [--device auto]

Makes a random BERT with a vocabulary of its own in a temporary folder, so nothing is downloaded, and runs the learner
`transformers` of recipes on made-up texts. Exits with 1 where the loss does not fall. It also breaks the training off
once and goes on, so that saving and restoring on the device is tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import torch
import transformers

from quintain.core.task import Label, Task
from quintain.data.mixing import Mix
from quintain.models.fine_tuning import FineTuningRun
from quintain.models.learners.transformers import TransformersOptions
from quintain.models.learning import Lesson
from train_speed import LABELS, sentences


class BrokenOff(Exception):
    """Ends the first part of the training."""


def checkpoint(folder: Path, texts: list[str], hidden: int, layers: int) -> None:
    """Write a random model with the most frequent words as its vocabulary."""
    words = pl.Series(texts).str.split(" ").explode().value_counts(sort=True).head(20_000)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words.to_series(0).to_list()]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    shape = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=max(1, hidden // 64),
        intermediate_size=4 * hidden,
        max_position_embeddings=128,
    )
    transformers.BertModel(shape).save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=128).save_pretrained(folder)


def main() -> None:
    """Train, and say what happened."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("hidden", 256), ("layers", 4), ("rows", 4000), ("epochs", 2), ("batch", 32)):
        options.add_argument(f"--{name}", type=int, default=default)
    options.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    given = options.parse_args()
    texts, labels = sentences(given.rows)
    task = Task(
        name="gpu", kind="text-classification", title={"en": "GPU"}, labels=tuple(map(Label, LABELS)), options={}
    )
    size = len(texts)
    says = np.eye(3, dtype=np.float32)[labels]
    ones = np.ones(size, dtype=np.float32)
    mix = Mix(LABELS, pl.DataFrame({"text": texts}), says, ones.astype(np.int64), ones, np.zeros(size, dtype=np.bool_))
    chosen = TransformersOptions(rate=5e-4, batch=given.batch, epochs=given.epochs, device=given.device, dropout=0.0)
    with tempfile.TemporaryDirectory() as name:
        begin, place = Path(name) / "checkpoint", Path(name) / "place"
        begin.mkdir()
        checkpoint(begin, texts, given.hidden, given.layers)
        lesson = Lesson(task, mix, place)

        def half(done: float) -> None:
            if done >= 0.5:
                raise BrokenOff

        first = FineTuningRun(replace(lesson, progress=half), chosen, begin)
        started = time.perf_counter()
        try:
            first.run()
        except BrokenOff:
            print(f"broken off after step {first.step} of {first.steps}")
        second = FineTuningRun(lesson, chosen, begin)
        facts = second.run().facts
        seconds = time.perf_counter() - started
    losses = first.losses + second.losses
    tenth = max(1, len(losses) // 10)
    early, late = float(np.mean(losses[:tenth])), float(np.mean(losses[-tenth:]))
    print(f"torch {torch.__version__}, {facts['Device']}: {second.steps} steps in {seconds:.1f} s, "
          f"{second.steps / seconds:.1f} steps/s")  # fmt: skip
    print(f"loss of the first tenth {early:.4f}, of the last {late:.4f}")
    if not late < early:
        sys.exit("The loss did not fall.")


if __name__ == "__main__":
    main()
