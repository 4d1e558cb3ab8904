"""One of the task's labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import polars as pl

from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.stats.label_columns import in_names
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, AnswerKind, Reading
from quintain.tasks.shapes import is_text


@ANSWER_KINDS.register("label")
class LabelAnswer(AnswerKind):
    """A label, by its name."""

    name: ClassVar[AnswerType] = "label"
    wanted: ClassVar[Text] = Text("a label")
    dtype: ClassVar[pl.DataType] = pl.String()
    predicted: ClassVar[pl.DataType] = pl.String()
    read_as: ClassVar[Reading] = "label"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1")
    f1: ClassVar[str | None] = "macro_f1"
    is_class: ClassVar[bool] = True
    named: ClassVar[bool] = True
    by_example: ClassVar[bool] = False
    rank: ClassVar[int] = 0

    def fits(self, value: Any) -> bool:
        """Ask for a text."""
        return is_text(value)

    def normalise_labels(self, values: pl.Series, labels: Sequence[str] | None = None) -> pl.Series:
        """Return labels that are the same in one spelling: that of *labels*, or else of the column."""
        return in_names(values, labels)
