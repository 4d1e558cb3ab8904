"""Hashed n-grams and a linear layer, in the manner of fastText: fast enough to read a corpus through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import column, table_column, text_fields
from quintain.models.labelled import LabelBaseline, Probabilities
from quintain.models.ngrams import Features, chunks, features

BITS = 18
EPOCHS = 8
RATE = 0.5
DECAY = 1e-5
BATCH = 1024
BATCHES_AT_LEAST = 32
KEEP_ROWS = 50_000  # features of more rows than this are computed anew in each epoch rather than kept

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]


@BASELINES.register("ngram")
class Ngram(LabelBaseline):
    """Add up learned weights of words, word pairs and pieces of words."""

    name: ClassVar[str] = "ngram"
    title: ClassVar[str] = "Hashed n-gram linear model"
    about: ClassVar[str] = (
        "It adds up weights of words, word pairs and pieces of words of three to five letters, hashed into a fixed "
        "number of buckets. Pieces let it guess at words it never met, and bear with misspellings; it has no idea of "
        "meaning or of word order beyond pairs, and different pieces may share a bucket."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn by AdaGrad over small batches in a random order."""
        classes = self.targets(table)
        texts = _joined([table_column(table, name) for name in text_fields(self.task)])
        rng = np.random.default_rng(seed)
        size = int(np.clip(len(texts) // BATCHES_AT_LEAST, 1, BATCH))
        order = rng.permutation(len(texts))
        batches = [order[start : start + size] for start in range(0, len(texts), size)]
        used, epochs = _epochs(texts, batches, rng)
        weights: Floats = np.zeros((len(used), len(self.labels)), dtype=np.float32)
        bias: Floats = np.zeros(len(self.labels), dtype=np.float32)
        squares, bias_squares = np.full_like(weights, 1e-6), np.full_like(bias, 1e-6)
        one_hot = np.eye(len(self.labels), dtype=np.float32)
        steps = len(batches) * EPOCHS
        for number, (rows, found) in enumerate(epochs):
            rate = np.float32(RATE * (1 - number / steps))
            error = scipy.special.softmax(found.times(weights) + bias, axis=1) - one_hot[classes[rows]]
            _adagrad(weights, squares, found.transposed_times(error) / len(rows) + DECAY * weights, rate)
            _adagrad(bias, bias_squares, error.mean(axis=0), rate)
            progress(number / steps)
        self.arrays = {"weights": np.zeros((1 << BITS, len(self.labels)), dtype=np.float32), "bias": bias}
        self.arrays["weights"][used] = weights

    def probabilities(self, batch: Batch) -> Probabilities:
        """Add up the weights of each example's n-grams."""
        return self.text_probabilities(_joined([column(batch, name) for name in text_fields(self.task)]))

    def text_probabilities(self, texts: Sequence[str]) -> Probabilities:
        """Do the same for plain texts: the fast way through a corpus."""
        weights, bias = self.arrays["weights"], self.arrays["bias"]
        scores = [found.times(weights) + bias for found in chunks(texts, BITS)]
        return np.asarray(scipy.special.softmax(np.concatenate(scores), axis=1)) if scores else np.empty((0, len(bias)))


def _joined(columns: list[list[str]]) -> list[str]:
    """Give each example as one text; where there are several fields, a mark keeps their words from pairing up."""
    return columns[0] if len(columns) == 1 else [" ¦ ".join(parts) for parts in zip(*columns, strict=True)]


def _epochs(
    texts: Sequence[str], batches: list[Rows], rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], Iterator[tuple[Rows, Features]]]:
    """Give the buckets to learn, and EPOCHS times all batches, each time in another order.

    Where there are not too many texts their features are kept, and buckets that no text falls into are left out.
    """
    order = (number for _ in range(EPOCHS) for number in rng.permutation(len(batches)).tolist())

    def read(number: int) -> Features:
        return features([texts[row] for row in batches[number]], BITS)

    if len(texts) > KEEP_ROWS:
        return np.arange(1 << BITS, dtype=np.int32), ((batches[number], read(number)) for number in order)
    every = [read(number) for number in range(len(batches))]
    used = np.unique(np.concatenate([found.buckets() for found in every]))
    kept = [found.narrowed(used) for found in every]
    return used, ((batches[number], kept[number]) for number in order)


def _adagrad(values: Floats, squares: Floats, gradient: Floats, rate: np.float32) -> None:
    squares += gradient * gradient
    values -= rate * gradient / np.sqrt(squares)
