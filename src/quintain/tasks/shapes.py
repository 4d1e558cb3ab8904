"""Whether plain values, as JSON brings them, have the shape that a kind asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quintain.core.task import AnswerType, FieldType
from quintain.core.texts import Text

INT64 = 2**63


def is_text(value: Any) -> bool:
    """Say whether *value* is a text that can be stored."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def is_index(value: Any) -> bool:
    """Say whether *value* is a whole number that a table can hold."""
    return isinstance(value, int) and not isinstance(value, bool) and -INT64 <= value < INT64


def is_texts(value: Any) -> bool:
    """Say whether *value* is a list of texts."""
    return isinstance(value, list | tuple) and all(is_text(entry) for entry in value)


def is_span(value: Any) -> bool:
    """Say whether *value* is a text, or a mapping of its text and (perhaps) its start."""
    if not isinstance(value, Mapping):
        return is_text(value)
    start = value.get("start")
    return set(value) <= {"text", "start"} and is_text(value.get("text")) and (start is None or is_index(start))


def _is_list_of(one: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and all(one(entry) for entry in value)


_FIELDS: Mapping[FieldType, tuple[Callable[[Any], bool], Text]] = {
    "text": (is_text, Text("a text")),
    "long_text": (is_text, Text("a text")),
    "texts": (is_texts, Text("a list of texts")),
    "tokens": (is_texts, Text("a list of tokens")),
    "token": (is_index, Text("a token's number, counted from 0")),
    "image": (is_text, Text("an image's address")),
}
_ANSWERS: Mapping[AnswerType, tuple[Callable[[Any], bool], Text]] = {
    "label": (is_text, Text("a label")),
    "choice": (is_index, Text("an option's number, counted from 0")),
    "choices": (_is_list_of(is_index), Text("a list of options' numbers, counted from 0")),
    "span": (
        lambda value: is_span(value) or _is_list_of(is_span)(value),
        Text("a span (text and start) or a list of spans"),
    ),
    "token": (is_index, Text("a token's number, counted from 0")),
    "text": (lambda value: is_text(value) or is_texts(value), Text("a text or a list of texts")),
}


def field_fault(kind: FieldType, value: Any) -> Text | None:
    """Say what is wrong with the shape of an input, if anything."""
    return _fault(*_FIELDS[kind], value)


def answer_fault(kind: AnswerType, value: Any) -> Text | None:
    """Say what is wrong with the shape of a gold answer, if anything."""
    return _fault(*_ANSWERS[kind], value)


def _fault(fits: Callable[[Any], bool], wanted: Text, value: Any) -> Text | None:
    if fits(value):
        return None
    if isinstance(value, str):
        return Text("is not {wanted}", wanted=wanted) if is_text(value) else Text("is not valid Unicode")
    return Text("is {value}, not {wanted}", value=_called(value), wanted=wanted)


_CALLED: Mapping[type, Text] = {
    bool: Text("true or false"),
    int: Text("a number"),
    float: Text("a number"),
    list: Text("a list"),
    dict: Text("a table"),
}


def _called(value: Any) -> Text:
    return _CALLED.get(type(value)) or Text("of type {type}", type=type(value).__name__)


def gold_list(kind: AnswerType, answer: Any) -> Any:
    """Give a gold answer as it is stored: kinds that allow several right ones keep a list of them."""
    if answer is None or kind not in {"span", "text"}:
        return list(answer) if isinstance(answer, tuple) else answer
    several = list(answer) if isinstance(answer, list | tuple) else [answer]
    if kind == "text":
        return several
    return [{"text": one, "start": None} if isinstance(one, str) else {"start": None, **one} for one in several]
