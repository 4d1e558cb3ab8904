"""Which option looks like a right one, without the question and the passage."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl
import scipy

from quintain.models import logistic
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.options import Floats, OptionBaseline, inputs_of, margin
from quintain.models.words import Vocabulary

STRENGTH = 1.0


@BASELINES.register("answer-only")
class AnswerOnly(OptionBaseline):
    """Score an option by its own words and its length against the others."""

    name: ClassVar[str] = "answer-only"
    title: ClassVar[str] = "Answer only"
    about: ClassVar[str] = (
        "A logistic regression on the words of each option and on its length, without the question and the passage. "
        "It sees only a part of the input, so whatever it gets right beyond chance shows that the options give the "
        "answer away. It is a measure of the data, not a way to solve the task."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn the words and lengths of right and wrong options."""
        batch = inputs_of(table)
        occurrences = self.cutting.terms(self._texts(batch))
        count = len(self._texts(batch))
        vocabulary = Vocabulary.learn(occurrences, count, least=2)
        self.state["terms"] = list(vocabulary.terms)
        self.arrays["idf"] = vocabulary.idf
        self._vocabulary = vocabulary
        fitted = logistic.fit(self._features(batch), self.right(table), 2, strength=STRENGTH, progress=progress)
        self.arrays |= {"weights": fitted.weights, "intercepts": fitted.intercepts}

    def prepare(self) -> None:
        """Put the vocabulary at hand."""
        self._vocabulary = Vocabulary(tuple(self.state["terms"]), self.arrays["idf"])

    def scores(self, batch: Batch) -> Floats:
        """Return the log-odds of each option."""
        fitted = logistic.Logistic(self.arrays["weights"], self.arrays["intercepts"])
        return margin(fitted, self._features(batch))

    def _texts(self, batch: Batch) -> list[str]:
        return [option for example in batch for option in self.options(example)]

    def _features(self, batch: Batch) -> scipy.sparse.csr_matrix:
        texts = self._texts(batch)
        vectors = self._vocabulary.vectors(self.cutting.terms(texts), len(texts))
        shapes = [row for example in batch for row in _lengths(self.options(example))]
        return scipy.sparse.csr_matrix(scipy.sparse.hstack([vectors, scipy.sparse.csr_matrix(np.array(shapes))]))


def _lengths(options: list[str]) -> list[list[float]]:
    """Return each option's length, and how it compares with the other options of the example."""
    lengths = np.log1p([len(option) for option in options])
    middle, top, bottom = lengths.mean(), lengths.max(), lengths.min()
    return [[length - middle, float(length == top), float(length == bottom)] for length in lengths.tolist()]
