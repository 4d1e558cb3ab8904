"""What all baselines share that answer with a label and its probability."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.task import AnswerType, Task
from quintain.models.contract import Baseline, Batch
from quintain.models.fields import text_fields
from quintain.models.schedule import Schedule

Mass = npt.NDArray[np.floating[Any]]
Probabilities = npt.NDArray[np.floating[Any]]


class LabelBaseline(Baseline):
    """A baseline for tasks whose answers are labels, and that have a text to read."""

    answer_types: ClassVar[tuple[AnswerType, ...]] = ("label",)

    @classmethod
    def finds_fields(cls, task: Task) -> bool:
        """Ask for at least one text."""
        return bool(text_fields(task))

    @property
    def labels(self) -> list[str]:
        """The labels that it answers, in the order of the columns of `probabilities`."""
        return list(self.state["labels"])

    def targets(self, table: pl.DataFrame) -> npt.NDArray[np.int64]:
        """Remember the labels, and return each row's answer as a number; refuse an answer that is no label."""
        self.state["labels"] = list(self.task.label_names)
        numbers = {label: number for number, label in enumerate(self.labels)}
        codes = table["answer"].replace_strict(numbers, default=None, return_dtype=pl.Int64)
        if codes.null_count():
            unknown = table["answer"].filter(codes.is_null())[0]
            raise BadInput(
                "{n} training examples have an answer that is no label, such as '{unknown}'.",
                n=codes.null_count(),
                unknown=unknown,
                name=self.task.name,
                labels=", ".join(self.labels),
                remedy="The labels of task '{name}': {labels}.",
            )
        return codes.to_numpy()

    @abstractmethod
    def probabilities(self, batch: Batch) -> Probabilities:
        """Return the probability of each label (columns) for each example (rows)."""

    def predict(self, batch: Batch) -> list[Any]:
        """Return probabilities by label."""
        if not batch:
            return []
        labels = self.labels
        return [dict(zip(labels, row, strict=True)) for row in self.probabilities(batch).tolist()]


class MassBaseline(LabelBaseline):
    """A baseline that can also learn from examples that speak for several labels, each more or less."""

    @abstractmethod
    def learn(self, table: pl.DataFrame, mass: Mass, schedule: Schedule, start: Self | None = None) -> None:
        """Learn from how much each row of *table* speaks for each label, going on from *start* where it is given.

        Whenever *schedule* is told how far it is, `state` and `arrays` hold what has been learned by then.
        """

    def one_hot(self, table: pl.DataFrame) -> Mass:
        """Return the answers of *table* as mass: one for the answer, none for the others."""
        return np.asarray(np.eye(len(self.task.label_names), dtype=np.float32)[self.targets(table)])
