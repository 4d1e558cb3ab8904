"""One of a sentence's words."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, AnswerKind, Reading
from quintain.tasks.shapes import is_index


@ANSWER_KINDS.register("token")
class TokenAnswer(AnswerKind):
    """A word of the sentence, by its number from 0."""

    name: ClassVar[AnswerType] = "token"
    wanted: ClassVar[Text] = Text("a token's number, counted from 0")
    dtype: ClassVar[pl.DataType] = pl.Int64()
    predicted: ClassVar[pl.DataType] = pl.Int64()
    read_as: ClassVar[Reading] = "option"
    metrics: ClassVar[tuple[str, ...]] = ("attachment",)
    is_class: ClassVar[bool] = True
    rank: ClassVar[int] = 4

    def fits(self, value: Any) -> bool:
        """Ask for a whole number."""
        return is_index(value)
