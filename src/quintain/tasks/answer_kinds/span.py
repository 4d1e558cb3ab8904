"""A piece of one of an example's texts."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, Values
from quintain.tasks.answer_kinds.textual import TextualAnswer
from quintain.tasks.shapes import is_span


@ANSWER_KINDS.register("span")
class SpanAnswer(TextualAnswer):
    """A span: its text, and where it starts. A gold answer lists the right ones; none of them is "no answer"."""

    name: ClassVar[AnswerType] = "span"
    wanted: ClassVar[Text] = Text("a span (text and start) or a list of spans")
    dtype: ClassVar[pl.DataType] = pl.List(pl.Struct({"text": pl.String(), "start": pl.Int64()}))
    metrics: ClassVar[tuple[str, ...]] = ("exact_match", "token_f1")
    f1: ClassVar[str | None] = "token_f1"
    graded_by: ClassVar[str | None] = "token_f1"
    right_by: ClassVar[tuple[str, float] | None] = ("token_f1", 0.8)
    rank: ClassVar[int] = 3

    def fits(self, value: Any) -> bool:
        """Ask for a span or several."""
        several = isinstance(value, list | tuple) and all(is_span(entry) for entry in value)
        return is_span(value) or several

    def stored(self, answer: Any) -> Any:
        """Return a list of spans, each with its text and its start or None."""
        if answer is None:
            return None
        several = list(answer) if isinstance(answer, list | tuple) else [answer]
        return [{"text": one, "start": None} if isinstance(one, str) else {"start": None, **one} for one in several]

    def as_prediction(self, answer: Any) -> Any:
        """Keep the text."""
        return answer["text"] if isinstance(answer, dict) else answer

    def golds(self, values: Values) -> pl.Series:
        """Return the texts of the right spans; the empty text where there is none."""
        if not isinstance(values, pl.Series) or values.dtype != self.dtype:
            return super().golds(values)
        texts = values.list.eval(pl.element().struct.field("text"))
        return texts.to_frame().select(pl.when(pl.first().list.len() == 0).then([""]).otherwise(pl.first())).to_series()

    def in_python(self, source: str) -> str:
        """Take the first word."""
        return f"item[{source!r}].split(' ')[0]"
