"""One of an example's options."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, AnswerKind, Reading
from quintain.tasks.shapes import is_index


@ANSWER_KINDS.register("choice")
class ChoiceAnswer(AnswerKind):
    """An option, by its number from 0."""

    name: ClassVar[AnswerType] = "choice"
    wanted: ClassVar[Text] = Text("an option's number, counted from 0")
    dtype: ClassVar[pl.DataType] = pl.Int64()
    predicted: ClassVar[pl.DataType] = pl.Int64()
    read_as: ClassVar[Reading] = "option"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    is_class: ClassVar[bool] = True
    rank: ClassVar[int] = 1

    def fits(self, value: Any) -> bool:
        """Ask for a whole number."""
        return is_index(value)
