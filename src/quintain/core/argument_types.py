"""Whether an argument is of the type that it is to have: a slip should be named, and not end in a TypeError."""

from __future__ import annotations

from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from quintain.core.errors import BadInput
from quintain.core.texts import Text

_NUMBERS: dict[type, tuple[type, Text]] = {
    int: (Integral, Text("a whole number")),
    float: (Real, Text("a number")),
    str: (str, Text("a text")),
    bool: (bool, Text("True or False")),
}


def check_type(name: str, value: Any, hint: Any) -> None:
    """Refuse *value* where *hint* is a plain type, or such a type or None, and it is not of that type.

    >>> check_type("minimum", 3, int | None)
    >>> check_type("minimum", "3", int | None)
    Traceback (most recent call last):
    quintain.core.errors.BadInput: 'minimum' is a whole number, and '3' was given, which is a str. Give a whole number.
    """
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if (NoneType in kinds and value is None) or not kinds:
        return
    plain = [kind for kind in kinds if kind is not NoneType]
    if len(plain) != 1 or plain[0] not in _NUMBERS:
        return
    kind, description = _NUMBERS[plain[0]]
    if isinstance(value, kind) and (plain[0] is bool or not isinstance(value, bool)):
        return
    raise BadInput(
        "'{name}' is {wanted}, and {value} was given, which is a {kind}.",
        name=name,
        wanted=description,
        value=repr(value)[:60],
        kind=type(value).__name__,
        remedy="Give {wanted}.",
    )
