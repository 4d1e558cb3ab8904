"""What all baselines share that choose among options: a score for each option, from scores to probabilities."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from quintain.core.task import AnswerType, Task
from quintain.models import logistic
from quintain.models.contract import Baseline, Batch
from quintain.models.fields import clean, of_type
from quintain.models.softmax import softmax
from quintain.tasks.contract import kind_of

Floats = npt.NDArray[np.float64]


class OptionBaseline(Baseline):
    """A baseline for tasks whose answer is one option (they compete) or several (each stands for itself)."""

    answer_types: ClassVar[tuple[AnswerType, ...]] = ("choice", "choices")

    @classmethod
    def finds_fields(cls, task: Task) -> bool:
        """Ask for options to choose from."""
        return len(of_type(task, "texts")) == 1

    @property
    def options_field(self) -> str:
        """The field that holds the options."""
        return of_type(self.task, "texts")[0]

    @property
    def several(self) -> bool:
        """Whether several options may be right."""
        return kind_of(self.task).answers.several

    @abstractmethod
    def scores(self, batch: Batch) -> Floats:
        """Return a score for each option of each example, all in one row, in their order."""

    def predict(self, batch: Batch) -> list[Any]:
        """Return probabilities by the number of the option."""
        counts = [len(self.options(example)) for example in batch]
        scores = self.scores(batch) if sum(counts) else np.empty(0)
        parts = np.split(scores, np.cumsum(counts)[:-1]) if batch else []
        turn = scipy.special.expit if self.several else softmax
        return [{str(n): p for n, p in enumerate(turn(part).tolist() if len(part) else ())} for part in parts]

    def options(self, example: dict[str, Any]) -> list[str]:
        """Return the options of an example as clean texts."""
        return [clean(option) for option in example.get(self.options_field) or ()]

    def right(self, table: pl.DataFrame) -> npt.NDArray[np.int64]:
        """Return for each option of each example whether it is right (1) or not (0), all in one row."""
        marks: list[int] = []
        for options, answer in table.select(self.options_field, "answer").iter_rows():
            chosen = set(answer) if self.several else {answer}
            marks.extend(int(number in chosen) for number in range(len(options or ())))
        return np.array(marks, dtype=np.int64)


def inputs_of(table: pl.DataFrame) -> Batch:
    """Return the rows of a table as a model would meet them: without their answers."""
    return table.drop("answer").to_dicts()


def margin(fitted: logistic.Logistic, features: logistic.Matrix) -> Floats:
    """Return the log-odds that a two-class regression (wrong, right) finds for "right"."""
    weights = fitted.weights[:, 1] - fitted.weights[:, 0]
    return np.asarray(features @ weights + fitted.intercepts[1] - fitted.intercepts[0], dtype=np.float64)
