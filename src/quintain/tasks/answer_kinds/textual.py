"""What the types share whose answers are compared as texts, and whose gold answers may list several right ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from quintain.core.example import Answer
from quintain.core.languages import ENGLISH
from quintain.stats.text import normalise
from quintain.tasks.answer_kinds.contract import AnswerKind, Reading, Values


class TextualAnswer(AnswerKind):
    """A text, or a place in one: metrics see lists of texts beside single ones."""

    predicted: ClassVar[pl.DataType] = pl.String()
    read_as: ClassVar[Reading] = "words"
    is_text: ClassVar[bool] = True

    def golds(self, values: Values) -> pl.Series:
        """Return the texts of the right answers."""
        if isinstance(values, pl.Series) and values.dtype == pl.List(pl.String):
            return values
        return pl.Series("gold", [_texts(value) for value in values], dtype=pl.List(pl.String))

    def predictions(self, values: Values) -> pl.Series:
        """Return the text of each prediction."""
        if isinstance(values, pl.Series) and values.dtype == pl.String:
            return values
        rows = [_texts(value) for value in values]
        return pl.Series("prediction", [None if not row else row[0] for row in rows], dtype=pl.String)

    def normalised(self, values: pl.Series, language: str = ENGLISH) -> pl.Series:
        """Leave out case, punctuation and the articles of *language*."""
        return pl.Series([None if text is None else normalise(text, language) for text in values], dtype=pl.String)

    def texts(self, answer: Answer) -> list[str]:
        """Return the texts of the right answers, or of the one that was given."""
        return [one["text"] if isinstance(one, Mapping) else one for one in self.stored(answer)]


def _texts(value: Any) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [str(value.get("text", ""))]
    # A question without an answer has an empty list of golds: the right prediction is the empty text.
    return [text for item in value for text in _texts(item) or []] or [""]
