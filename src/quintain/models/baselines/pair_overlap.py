"""How much two texts share, and whether one of them denies something: a handful of features and a regression."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.task import Task
from quintain.models import logistic
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import clean, table_column, text_fields
from quintain.models.labelled import LabelBaseline, Probabilities
from quintain.models.words import Rarity, Vocabulary, listed

NEGATIONS = listed("no not never nobody nothing nowhere none neither nor cannot without hardly n't")
STRENGTH = 10.0


@BASELINES.register("pair-overlap")
class PairOverlap(LabelBaseline):
    """Compare the words of the first text with those of the last."""

    name: ClassVar[str] = "pair-overlap"
    title: ClassVar[str] = "Pair overlap"
    about: ClassVar[str] = (
        "It counts how many words, and how rare ones, the two texts share, how their lengths compare and which of them "
        "holds a negation, and decides by logistic regression on these few numbers. It never sees which words they "
        "are, so texts with the same words in another order or role look alike to it."
    )

    @classmethod
    def suits(cls, task: Task) -> bool:
        """Ask for labels on two texts or more."""
        return super().suits(task) and len(text_fields(task)) > 1

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn how rare words are, then the weights of the features."""
        classes = self.targets(table)
        first, last = self._columns(table)
        occurrences = self.cutting.tokens([f"{a} {b}" for a, b in zip(first, last, strict=True)])
        vocabulary = Vocabulary.learn(occurrences, table.height, least=2)
        self.state["terms"] = list(vocabulary.terms)
        self.state["unseen"] = float(np.log(1 + table.height) + 1)
        self.arrays["idf"] = vocabulary.idf
        self._rarity = Rarity(vocabulary.terms, vocabulary.idf, self.state["unseen"])
        vectors = self._features(first, last)
        mean, spread = vectors.mean(axis=0), vectors.std(axis=0)
        spread[spread == 0] = 1
        scaled = (vectors - mean) / spread
        fitted = logistic.fit(scaled, classes, len(self.labels), strength=STRENGTH, progress=progress)
        self.arrays |= {
            "mean": mean,
            "spread": spread,
            "weights": fitted.weights,
            "intercepts": fitted.intercepts,
        }

    def prepare(self) -> None:
        """Put the rarity of words and the regression at hand."""
        self._rarity = Rarity(self.state["terms"], self.arrays["idf"], self.state["unseen"])
        self._regression = logistic.Logistic(self.arrays["weights"], self.arrays["intercepts"])

    def probabilities(self, batch: Batch) -> Probabilities:
        """Compare the texts of each example."""
        fields = text_fields(self.task)
        first, last = ([clean(example.get(name)) for example in batch] for name in (fields[0], fields[-1]))
        scaled = (self._features(first, last) - self.arrays["mean"]) / self.arrays["spread"]
        return self._regression.probabilities(scaled)

    def _columns(self, table: pl.DataFrame) -> tuple[list[str], list[str]]:
        fields = text_fields(self.task)
        return table_column(table, fields[0]), table_column(table, fields[-1])

    def _features(self, first: list[str], last: list[str]) -> npt.NDArray[np.float64]:
        return np.array(
            [self._compare(self.cutting.words(a), self.cutting.words(b)) for a, b in zip(first, last, strict=True)]
        )

    def _compare(self, first: list[str], last: list[str]) -> list[float]:
        first_words, last_words = set(first), set(last)
        shared, weight = first_words & last_words, self._rarity.total
        return [
            len(shared) / max(1, len(last_words)),
            len(shared) / max(1, len(first_words | last_words)),
            weight(shared) / max(1.0, weight(last_words)),
            max((self._rarity.of(word) for word in last_words - first_words), default=0.0),
            np.log1p(len(last_words - first_words)),
            np.log1p(len(last)),
            np.log1p(len(first)),
            float(_denies(first_words)),
            float(_denies(last_words)),
            float(_denies(first_words) != _denies(last_words)),
            float(first[: len(last)] == last and bool(last)),
        ]


def _denies(vocabulary: set[str]) -> bool:
    return bool(vocabulary & NEGATIONS) or any(word.endswith(("n't", "n’t")) for word in vocabulary)
