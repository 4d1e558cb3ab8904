"""JSON from outside: read in one place, bounded in depth and digits, so that no reader after it can be thrown.

What Python's own parser lets through breaks things later on: nesting that overflows a stack (or takes polars minutes),
numbers that no column can hold, `NaN`, halves of surrogate pairs that cannot be written as UTF-8.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 64
MAX_DIGITS = 300  # whatever has more is beyond a floating-point number
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class NotJson(ValueError):
    """A text is not JSON that is read here; *reason* says why, *line* and *column* where."""

    def __init__(self, reason: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return self.reason if self.column is None else f"{self.reason} at column {self.column}"


def parse_json(text: str | bytes, *, halves: bool = False) -> Any:
    """Return the value that *text* holds; NotJson otherwise. *halves* lets half a surrogate pair pass.

    >>> parse_json('{"label": [1, 2]}')
    {'label': [1, 2]}
    >>> parse_json("[" * 20_000)
    Traceback (most recent call last):
    quintain.core.jsontext.NotJson: it is nested more than 64 deep
    """
    try:
        source = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        value = json.loads(source, parse_int=_whole, parse_float=_number, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise NotJson(error.msg, line=error.lineno, column=error.colno) from None
    except UnicodeDecodeError as error:
        raise NotJson(f"byte {error.object[error.start]:#04x} is not UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    if source.count("[") + source.count("{") > MAX_DEPTH and deeper_than(value, MAX_DEPTH):
        raise _too_deep()
    if not halves and (_SURROGATE.search(source) or not source.isascii()):
        _check_text(value)
    return value


def too_deep_for_tables(data: bytes) -> bool:
    """Whether a line of *data* may be nested deeper than is read here; asked before polars infers types."""
    if data.count(b"[") + data.count(b"{") <= data.count(b"\n") + MAX_DEPTH:
        return False
    return any(line.count(b"[") + line.count(b"{") > MAX_DEPTH for line in data.split(b"\n"))


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise NotJson(f"a number has {len(digits):,} digits; {MAX_DIGITS} are read")
    return int(digits)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise NotJson(f"the number {text[:40]} is too large")
    return value


def _refuse(name: str) -> Any:
    raise NotJson(f"{name} is not a number")


def _too_deep() -> NotJson:
    return NotJson(f"it is nested more than {MAX_DEPTH} deep")


def deeper_than(value: Any, limit: int) -> bool:
    """Whether lists and objects in *value* are nested more than *limit* deep."""
    level: list[Any] = [value]
    for _ in range(limit):
        level = [inner for one in level for inner in _inside(one)]
    return any(isinstance(one, (dict, list)) for one in level)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _check_text(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise NotJson("it holds half of a surrogate pair, which is no character") from None
