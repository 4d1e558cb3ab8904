"""Any number of an example's options."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quintain.core.languages import ENGLISH
from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, AnswerKind, Reading
from quintain.tasks.shapes import is_index


@ANSWER_KINDS.register("choices")
class ChoicesAnswer(AnswerKind):
    """Options, by their numbers from 0; their order does not matter."""

    name: ClassVar[AnswerType] = "choices"
    wanted: ClassVar[Text] = Text("a list of options' numbers, counted from 0")
    dtype: ClassVar[pl.DataType] = pl.List(pl.Int64())
    predicted: ClassVar[pl.DataType] = pl.List(pl.Int64())
    read_as: ClassVar[Reading] = "options"
    metrics: ClassVar[tuple[str, ...]] = ("set_exact_match", "set_f1")
    f1: ClassVar[str | None] = "set_f1"
    graded_by: ClassVar[str | None] = "set_f1"
    right_by: ClassVar[tuple[str, float] | None] = ("set_exact_match", 0.5)
    several: ClassVar[bool] = True
    rank: ClassVar[int] = 2

    def fits(self, value: Any) -> bool:
        """Ask for a list of whole numbers."""
        return isinstance(value, list | tuple) and all(is_index(entry) for entry in value)

    def normalised(self, values: pl.Series, language: str = ENGLISH) -> pl.Series:
        """Sort, and leave out what is there twice."""
        return values.list.unique().list.sort()

    def in_python(self, source: str) -> str:
        """Choose the first."""
        return "[0]"
