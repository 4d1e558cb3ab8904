"""Hashed n-grams and a linear layer, in the manner of fastText: fast enough to read a corpus through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import column, table_column, text_fields
from quintain.models.labelled import Mass, MassBaseline, Probabilities
from quintain.models.ngrams import Features, chunks, features
from quintain.models.schedule import Schedule
from quintain.models.softmax import softmax

BITS = 18
EPOCHS = 8
LEAST_EPOCHS = 3
ENOUGH = 2_000_000  # examples to go through, where the epochs are not given: large data needs fewer of them
RATE = 0.5
DECAY = 1e-5
BATCH = 1024
BATCHES_AT_LEAST = 32
KEEP_ROWS = 50_000  # features of more rows than this are computed anew in each epoch rather than kept

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]


@BASELINES.register("ngram")
class Ngram(MassBaseline):
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
        self.learn(table, self.one_hot(table), Schedule(seed=seed, progress=progress))

    def learn(self, table: pl.DataFrame, mass: Mass, schedule: Schedule, start: Self | None = None) -> None:
        """Do so from mass; going on from another one begins with its weights."""
        self.state["labels"] = list(self.task.label_names)
        self.format = self.format if start is None else start.format
        texts = _joined([table_column(table, name) for name in text_fields(self.task)])
        rng = np.random.default_rng(schedule.seed)
        size = int(np.clip(len(texts) // BATCHES_AT_LEAST, 1, BATCH))
        order = rng.permutation(len(texts))
        batches = [order[at : at + size] for at in range(0, len(texts), size)]
        rounds = schedule.epochs or int(np.clip(ENOUGH // len(texts), LEAST_EPOCHS, EPOCHS))
        used, epochs = _epochs(texts, batches, rng, rounds, self.format)
        weights, bias = self._begin(used, start)
        squares, bias_squares = np.full_like(weights, 1e-6), np.full_like(bias, 1e-6)
        totals, steps = mass.sum(axis=1, keepdims=True), len(batches) * rounds
        for number, (rows, grams) in enumerate(epochs):
            rate = np.float32(RATE * (1 - number / steps))
            error = softmax(grams.times(weights) + bias) * totals[rows] - mass[rows]
            _adagrad(weights, squares, grams.transposed_times(error) / len(rows) + DECAY * weights, rate)
            _adagrad(bias, bias_squares, error.mean(axis=0), rate)
            schedule.progress(number / steps)
            due, whole = schedule.due((number + 1) / steps), (number + 1) % len(batches) == 0
            if due or (whole and schedule.after is not None):
                self._take(used, weights, bias, start)
            for share in due:
                schedule.keep(share)
            if whole and schedule.epoch_done((number + 1) // len(batches)):
                break
        self._take(used, weights, bias, start)

    def _begin(self, used: npt.NDArray[np.int32], start: Self | None) -> tuple[Floats, Floats]:
        if start is not None:
            return start.arrays["weights"][used].copy(), start.arrays["bias"].copy()
        size = len(self.labels)
        return np.zeros((len(used), size), dtype=np.float32), np.zeros(size, dtype=np.float32)

    def _take(self, used: npt.NDArray[np.int32], weights: Floats, bias: Floats, start: Self | None) -> None:
        """Keep what was learned; buckets that no text falls into stay as they were."""
        size = (1 << BITS, len(self.labels))
        every = np.zeros(size, dtype=np.float32) if start is None else start.arrays["weights"].copy()
        every[used] = weights
        self.arrays = {"weights": every, "bias": bias.copy()}

    def probabilities(self, batch: Batch) -> Probabilities:
        """Add up the weights of each example's n-grams."""
        return self.text_probabilities(_joined([column(batch, name) for name in text_fields(self.task)]))

    def text_probabilities(self, texts: Sequence[str]) -> Probabilities:
        """Do the same for plain texts: the fast way through a corpus."""
        weights, bias = self.arrays["weights"], self.arrays["bias"]
        scores = [found.times(weights) + bias for found in chunks(texts, BITS, self.format)]
        return softmax(np.concatenate(scores)) if scores else np.empty((0, len(bias)))


def _joined(columns: list[list[str]]) -> list[str]:
    """Return each example as one text; where there are several fields, a mark keeps their words from pairing up."""
    return columns[0] if len(columns) == 1 else [" ¦ ".join(parts) for parts in zip(*columns, strict=True)]


def _epochs(
    texts: Sequence[str], batches: list[Rows], rng: np.random.Generator, rounds: int, version: int
) -> tuple[npt.NDArray[np.int32], Iterator[tuple[Rows, Features]]]:
    """Return the buckets to learn, and *rounds* times all batches, each time in another order.

    Where there are not too many texts their features are kept, and buckets that no text falls into are left out.
    """
    order = (number for _ in range(rounds) for number in rng.permutation(len(batches)).tolist())

    def read(number: int) -> Features:
        return features([texts[row] for row in batches[number]], BITS, version)

    if len(texts) > KEEP_ROWS:
        return np.arange(1 << BITS, dtype=np.int32), ((batches[number], read(number)) for number in order)
    every = [read(number) for number in range(len(batches))]
    used = np.unique(np.concatenate([found.buckets() for found in every]))
    narrowed = [found.narrowed(used) for found in every]
    return used, ((batches[number], narrowed[number]) for number in order)


def _adagrad(values: Floats, squares: Floats, gradient: Floats, rate: np.float32) -> None:
    squares += gradient * gradient
    values -= rate * gradient / np.sqrt(squares)
