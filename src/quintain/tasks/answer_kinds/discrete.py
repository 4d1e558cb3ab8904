"""One or several spans, a number or a date."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from quintain.core.example import Answer
from quintain.core.languages import ENGLISH
from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.stats.drop import normalise_span
from quintain.tasks.answer_kinds.contract import ANSWER_KINDS, AnswerKind, Reading, Values
from quintain.tasks.shapes import is_text

_DATE = ("day", "month", "year")


@ANSWER_KINDS.register("discrete")
class DiscreteAnswer(AnswerKind):
    """Texts: one is a span, a number or a date, several are several spans. A gold answer lists the right answers.

    In plain JSON an answer is a text, a number, a list of texts, `{"text": …}`, or DROP's own `{"spans": …}`,
    `{"number": …}` and `{"date": {"day", "month", "year"}}`. A list that holds lists (or those objects) is one of
    right answers.
    """

    name: ClassVar[AnswerType] = "discrete"
    wanted: ClassVar[Text] = Text("a text, a number, a list of spans, or a list of right answers")
    dtype: ClassVar[pl.DataType] = pl.List(pl.List(pl.String()))
    predicted: ClassVar[pl.DataType] = pl.List(pl.String())
    read_as: ClassVar[Reading] = "words"
    metrics: ClassVar[tuple[str, ...]] = ("drop_f1", "drop_exact_match")
    f1: ClassVar[str | None] = "drop_f1"
    graded_by: ClassVar[str | None] = "drop_f1"
    right_by: ClassVar[tuple[str, float] | None] = ("drop_f1", 0.8)
    is_text: ClassVar[bool] = True
    by_example: ClassVar[bool] = False
    rank: ClassVar[int] = 6

    def fits(self, value: Any) -> bool:
        """Ask for an answer or a list of answers."""
        answers = right_answers(value)
        return answers is not None and all(is_text(text) for spans in answers for text in spans)

    def stored(self, answer: Any) -> Any:
        """Return the list of right answers, each a list of texts."""
        return right_answers(answer)

    def golds(self, values: Values) -> pl.Series:
        """Return the right answers to each example."""
        if isinstance(values, pl.Series) and values.dtype == self.dtype:
            return values
        return pl.Series("gold", [right_answers(value) for value in values], dtype=self.dtype)

    def predictions(self, values: Values) -> pl.Series:
        """Return the texts of each prediction."""
        if isinstance(values, pl.Series) and values.dtype == self.predicted:
            return values
        return pl.Series("prediction", [spans_of(value) for value in values], dtype=self.predicted)

    def normalised(self, values: pl.Series, language: str = ENGLISH) -> pl.Series:
        """Leave out case, punctuation, articles, and the order of several spans."""
        rows = [None if spans is None else sorted(map(normalise_span, spans)) for spans in values.to_list()]
        return pl.Series(rows, dtype=self.predicted)

    def texts(self, answer: Answer) -> list[str]:
        """Write each right answer, or the one that was given, as one text."""
        return [" ".join(spans) for spans in right_answers(answer) or []]

    def typed(self, text: str) -> Answer:
        """Read one span to a line."""
        return [line.strip() for line in text.splitlines() if line.strip()] or None

    def may_be(self, dtype: pl.DataType) -> bool:
        """Whether a column holds texts, or lists of them."""
        while isinstance(dtype, pl.List):
            dtype = dtype.inner if isinstance(dtype.inner, pl.DataType) else dtype.inner()
        return dtype == pl.String() or not dtype.is_nested()

    def in_python(self, source: str) -> str:
        """Take the first word."""
        return f"item[{source!r}].split(' ')[0]"


def right_answers(value: Any) -> list[list[str]] | None:
    """Read a gold answer as the list of right answers; None where it is none.

    >>> right_answers(["a", "b"]), right_answers([["a"], "b"]), right_answers({"number": 3})
    ([['a', 'b']], [['a'], ['b']], [['3']])
    """
    several = isinstance(value, list | tuple)
    if several and (not value or any(not isinstance(one, str) and not _is_number(one) for one in value)):
        readings = [spans_of(one) for one in value]
        return (
            None
            if any(reading is None for reading in readings)
            else [reading for reading in readings if reading is not None]
        )
    spans = spans_of(value)
    return None if spans is None else [spans]


def spans_of(value: Any) -> list[str] | None:
    """Read one answer as a list of texts; None where it is none.

    >>> spans_of(12), spans_of({"date": {"day": "8", "month": "March", "year": ""}})
    (['12'], ['8 March'])
    """
    if isinstance(value, str):
        return [value]
    if _is_number(value):
        return [_number(value)]
    if isinstance(value, list | tuple):
        texts = [spans_of(one) for one in value if isinstance(one, str) or _is_number(one)]
        flat = [text for one in texts for text in one or []]
        return flat if len(flat) == len(value) else None
    return _drops_own(value) if isinstance(value, Mapping) else None


def _drops_own(value: Mapping[Any, Any]) -> list[str] | None:
    """Read a span's object, or DROP's, in which the parts that do not apply are empty."""
    if isinstance(value.get("text"), str):
        return spans_of(value["text"])
    number, spans, date = (value.get(name) for name in ("number", "spans", "date"))
    if number not in (None, ""):
        return spans_of(number) if not isinstance(number, list | tuple | Mapping) else None
    if spans:
        return spans_of(spans) if isinstance(spans, list | tuple) else None
    if isinstance(date, Mapping) and set(date) <= set(_DATE):
        parts = [spans_of(date[part]) for part in _DATE if date.get(part) not in (None, "")]
        text = " ".join(part[0] for part in parts if part)
        return [text] if text else None
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else str(value)
