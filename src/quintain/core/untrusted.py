"""What models and their servers say, made fit to be read and kept: JSON within bounds, texts that a store takes.

Nothing that comes from a model is parsed anywhere else. Bounds are checked on the bytes, before anything is built from
them, so that a reply cannot cost more than it is allowed to.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from quintain.core.errors import BadInput

DEPTH = 32
DIGITS = 100  # far more than any number needs, and few enough for every float
MESSAGE = 2_000  # characters of a message about a model that are kept

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")  # escapes that may turn into what cannot be stored
_NUMBER = re.compile(rb"[0-9]{%d}" % (DIGITS + 1))
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that one reply may hold: bytes, bytes of one text, members of lists and objects together, nesting."""

    size: int
    text: int
    elements: int
    depth: int = DEPTH


def storable(text: str, limit: int | None = None) -> str:
    r"""Replace what PostgreSQL and UTF-8 do not take (NUL, half surrogates), and keep *limit* characters.

    >>> storable("a\x00b\ud800c", 4)
    'a�b�'
    """
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text if limit is None else text[:limit])


def read_json(data: bytes | bytearray | str, bounds: Bounds) -> Any:
    """Read JSON from somebody who is not trusted, or raise BadInput that says which bound it breaks.

    >>> read_json('{"label": "positive"}', Bounds(size=100, text=20, elements=5))
    {'label': 'positive'}
    """
    body = data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data)
    if len(body) > bounds.size:
        raise BadInput("It has {size:,} bytes; {most:,} are allowed.", size=len(body), most=bounds.size)
    _check(body, bounds)
    try:
        value = json.loads(body.decode("utf-8-sig", "replace"), parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise BadInput("It is not JSON: {error}.", error=error) from None
    return _cleaned(value) if _ESCAPED.search(body) else value


def _check(body: bytes, bounds: Bounds) -> None:
    """Look at the structure alone: texts are cut out first, for which escaped quotes must not be in the way."""
    bare = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if bare.count(b'"') > 4 * bounds.elements + 2:  # a key and a value for each member
        raise BadInput("It has too many texts; {elements:,} members are allowed.", elements=bounds.elements)
    pieces = bare.split(b'"')
    longest = max(map(len, pieces[1::2]), default=0)
    if longest > bounds.text:
        raise BadInput("It has a text of {longest:,} bytes; {text:,} are allowed.", longest=longest, text=bounds.text)
    structure = b"".join(pieces[::2])
    elements = structure.count(b",") + structure.count(b"[") + structure.count(b"{")
    if elements > bounds.elements:
        raise BadInput(
            "It has {elements:,} members of lists and objects; {most:,} are allowed.",
            elements=elements,
            most=bounds.elements,
        )
    if _NUMBER.search(structure):
        raise BadInput("It has a number of more than {digits} digits.", digits=DIGITS)
    brackets = structure.translate(_SQUARE, _NO_BRACKET)
    for _ in range(bounds.depth):  # the innermost pairs go first, one level each time
        brackets = brackets.replace(b"[]", b"")
        if not brackets:
            return
    raise BadInput("It is nested more than {depth} deep, or its brackets do not match.", depth=bounds.depth)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {storable(key): _cleaned(one) for key, one in value.items()}
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number that an answer may hold")
