"""Words and word pairs weighed by tf-idf, and multinomial logistic regression on them."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
import polars as pl

from quintain.core.task import Task
from quintain.models import logistic
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.fields import clean, text_fields
from quintain.models.labelled import Mass, MassBaseline, Probabilities
from quintain.models.schedule import Schedule
from quintain.models.words import Vocabulary

STRENGTH = 4.0
ITERATIONS = 300
SMALL = 2_000  # with fewer documents than this, terms that stand in one only are kept


class TermRegression(MassBaseline):
    """Logistic regression on the terms of some fields; with several fields, a term counts apart in each."""

    @classmethod
    def reads(cls, task: Task) -> list[str]:
        """List the fields that are read."""
        return text_fields(task)

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Learn the vocabulary, then the weights. There is one best solution, so the seed plays no part."""
        self.learn(table, self.one_hot(table), Schedule(seed=seed, progress=progress))

    def learn(self, table: pl.DataFrame, mass: Mass, schedule: Schedule, start: Self | None = None) -> None:
        """Do so from mass; going on from another one keeps its vocabulary. An epoch is one step of the optimiser."""
        self.state["labels"] = list(self.task.label_names)
        self.format = self.format if start is None else start.format
        occurrences = self._terms(table)
        if start is None:
            vocabulary = Vocabulary.learn(occurrences, table.height, least=1 if table.height < SMALL else 2)
        else:
            vocabulary = Vocabulary(tuple(start.state["terms"]), start.arrays["idf"])
        self.state["terms"] = list(vocabulary.terms)
        iterations = schedule.epochs or ITERATIONS

        def take(fitted: logistic.Logistic) -> None:
            self.arrays = {
                "idf": vocabulary.idf,
                "weights": fitted.weights.astype(np.float32),
                "intercepts": fitted.intercepts,
            }

        def step(number: int, fitted: logistic.Logistic) -> bool:
            take(fitted)
            for share in schedule.due(number / iterations):
                schedule.keep(share)
            return schedule.epoch_done(number)

        watched = schedule.after is not None or schedule.at
        take(
            logistic.fit_mass(
                vocabulary.vectors(occurrences, table.height),
                mass.astype(np.float64),
                strength=STRENGTH,
                iterations=iterations,
                progress=schedule.progress,
                start=None if start is None else start._regression,
                step=step if watched else None,
            )
        )

    def prepare(self) -> None:
        """Put the vocabulary and the regression at hand."""
        self._vocabulary = Vocabulary(tuple(self.state["terms"]), self.arrays["idf"])
        self._regression = logistic.Logistic(self.arrays["weights"], self.arrays["intercepts"])

    def probabilities(self, batch: Batch) -> Probabilities:
        """Weigh the terms of each example."""
        reads = self.reads(self.task)
        table = pl.DataFrame({name: [clean(example.get(name)) for example in batch] for name in reads})
        return self._regression.probabilities(self._vocabulary.vectors(self._terms(table), len(batch)))

    def _terms(self, table: pl.DataFrame) -> pl.DataFrame:
        reads = self.reads(self.task)
        prefixes = [""] if len(reads) == 1 else [f"{number}:" for number in range(len(reads))]
        columns = (table[name].fill_null("").to_list() for name in reads)
        return pl.concat(
            [self.cutting.terms(texts, prefix=prefix) for texts, prefix in zip(columns, prefixes, strict=True)]
        )


@BASELINES.register("tfidf")
class Tfidf(TermRegression):
    """Read all text fields."""

    name: ClassVar[str] = "tfidf"
    title: ClassVar[str] = "TF-IDF logistic regression"
    about: ClassVar[str] = (
        "It weighs words and pairs of neighbouring words by tf-idf and adds them up by logistic regression. "
        "It knows nothing of word order beyond pairs, of words that it never met, or of what words mean."
    )
