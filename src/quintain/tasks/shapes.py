"""Whether plain values, as JSON brings them, have the shape that a kind asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quintain.core.task import FieldType
from quintain.core.texts import Text

INT64 = 2**63


def is_text(value: Any) -> bool:
    """Whether *value* is a text that can be stored."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def is_index(value: Any) -> bool:
    """Whether *value* is a whole number that a table can hold."""
    return isinstance(value, int) and not isinstance(value, bool) and -INT64 <= value < INT64


def is_texts(value: Any) -> bool:
    """Whether *value* is a list of texts."""
    return isinstance(value, list | tuple) and all(is_text(entry) for entry in value)


def is_span(value: Any) -> bool:
    """Whether *value* is a text, or a mapping of its text and (perhaps) its start."""
    if not isinstance(value, Mapping):
        return is_text(value)
    start = value.get("start")
    return set(value) <= {"text", "start"} and is_text(value.get("text")) and (start is None or is_index(start))


_FIELDS: Mapping[FieldType, tuple[Callable[[Any], bool], Text]] = {
    "text": (is_text, Text("a text")),
    "long_text": (is_text, Text("a text")),
    "texts": (is_texts, Text("a list of texts")),
    "tokens": (is_texts, Text("a list of tokens")),
    "token": (is_index, Text("a token's number, counted from 0")),
    "image": (is_text, Text("an image's address")),
}


def field_fault(kind: FieldType, value: Any) -> Text | None:
    """Return what is wrong with the shape of an input, or None."""
    fits, shape = _FIELDS[kind]
    return None if fits(value) else misfit(value, shape)


def misfit(value: Any, expected: Text) -> Text:
    """Return the text that *value* is not what was *expected*."""
    if isinstance(value, str):
        return Text("is not {wanted}", wanted=expected) if is_text(value) else Text("is not valid Unicode")
    return Text("is {value}, not {wanted}", value=_called(value), wanted=expected)


_CALLED: Mapping[type, Text] = {
    bool: Text("true or false"),
    int: Text("a number"),
    float: Text("a number"),
    list: Text("a list"),
    dict: Text("a table"),
}


def _called(value: Any) -> Text:
    return _CALLED.get(type(value)) or Text("of type {type}", type=type(value).__name__)
