"""Values as files bring them, turned into the columns that a kind of task asks for.

What comes out has the wanted type; what does not fit is null there, and its place and reason are in the list beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from quintain.core.jsontext import NotJson, parse_json
from quintain.core.texts import Text
from quintain.data.numbers import plain_numbers
from quintain.tasks.answer_kinds.discrete import DiscreteAnswer, right_answers
from quintain.tasks.rules import SHOWN

Misfit = tuple[int, Text]
MAX_NUMBER = (1 << 63) - 1
_SPANS = pl.List(pl.Struct({"text": pl.String(), "start": pl.Int64()}))


def shape(values: pl.Series, goal: pl.DataType) -> tuple[pl.Series, list[Misfit]]:
    """Return *values* as type *goal*, and the positions (from 0) of those that do not fit."""
    if values.dtype == goal:
        return values, []
    if goal == pl.String():
        return _texts(values)
    if goal == pl.Int64():
        return _integers(values)
    for dtype, read, reason in _READ:
        if goal == dtype:
            return _each(values, goal, read, reason)
    if isinstance(goal, pl.List) and goal.inner == pl.String():
        return _lists(values, goal, _text_list, Text("is not a list of texts"))
    return _lists(values, goal, _number_list, Text("is not a list of whole numbers"))


def _texts(values: pl.Series) -> tuple[pl.Series, list[Misfit]]:
    if values.dtype.is_nested():
        misfits = [(at, Text("is a list or a structure, not a single value")) for at in _present(values)]
        return pl.Series(values.name, [None] * len(values), dtype=pl.String()), misfits
    return values.cast(pl.String()), []


def _integers(values: pl.Series) -> tuple[pl.Series, list[Misfit]]:
    if values.dtype.is_nested():
        misfits = [(at, Text("is a list or a structure, not a whole number")) for at in _present(values)]
        return pl.Series(values.name, [None] * len(values), dtype=pl.Int64()), misfits
    texts = values.cast(pl.String()).str.strip_chars()
    # A whole number may come as 2.0, from a table with gaps.
    numbers = plain_numbers(texts).str.replace(r"\.0+$", "").cast(pl.Int64(), strict=False)
    wrong = (texts.fill_null("") != "") & numbers.is_null()
    return numbers, [
        (at, Text("'{given}' is not a whole number", given=texts[at][:SHOWN])) for at in wrong.arg_true().to_list()
    ]


def _lists(
    values: pl.Series, goal: pl.DataType, read: Callable[[Any], Any], reason: Text
) -> tuple[pl.Series, list[Misfit]]:
    if isinstance(values.dtype, pl.List) and not values.dtype.inner.is_nested():
        cast = values.cast(goal, strict=False)
        if cast.explode().null_count() == values.explode().null_count():
            return cast, []
    return _each(values, goal, read, reason)


def _each(
    values: pl.Series, goal: pl.DataType, read: Callable[[Any], Any], reason: Text
) -> tuple[pl.Series, list[Misfit]]:
    cells: list[Any] = []
    misfits: list[Misfit] = []
    for at, value in enumerate(values.to_list()):
        try:
            cells.append(None if value is None or value == "" else read(_from_json(value)))
        except (TypeError, ValueError, KeyError):
            cells.append(None)
            misfits.append((at, reason))
    return pl.Series(values.name, cells, dtype=goal), misfits


def _present(values: pl.Series) -> list[int]:
    return values.is_not_null().arg_true().to_list()


def _from_json(value: Any) -> Any:
    """Read a list or a structure that a CSV file could only write as JSON."""
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        try:
            return parse_json(value)
        except NotJson:
            return value
    return value


def _text_list(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise TypeError
    return value


def _number_list(value: Any) -> list[int]:
    if not isinstance(value, list) or not all(type(one) is int and abs(one) <= MAX_NUMBER for one in value):
        raise TypeError
    return value


def _right_answers(value: Any) -> list[list[str]]:
    answers = right_answers(value)
    if answers is None:
        raise TypeError
    return answers


def _span_list(value: Any) -> list[dict[str, Any]]:
    """Read a text, a span, a list of either, or SQuAD's lists `text` and `answer_start` side by side."""
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        starts = value.get("answer_start", value.get("start"))
        starts = [None] * len(value["text"]) if starts is None else starts
        value = [{"text": text, "start": start} for text, start in zip(value["text"], starts, strict=True)]
    several = value if isinstance(value, list) else [value]
    return [_span(one) for one in several]


def _span(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"text": value, "start": None}
    if not isinstance(value, dict):
        raise TypeError
    start = value.get("start", value.get("answer_start"))
    if not isinstance(value["text"], str) or not (start is None or (type(start) is int and abs(start) <= MAX_NUMBER)):
        raise TypeError
    return {"text": value["text"], "start": start}


_READ: tuple[tuple[pl.DataType, Callable[[Any], Any], Text], ...] = (
    (_SPANS, _span_list, Text("is neither a text nor a list of texts with their starts")),
    (DiscreteAnswer.dtype, _right_answers, Text("is neither a text, a number nor a list of spans")),
)
