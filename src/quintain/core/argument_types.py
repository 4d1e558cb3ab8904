"""Whether an argument is of the type that it is to have: a slip should be named, and not end in a TypeError."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from quintain.core.errors import BadInput
from quintain.core.texts import Text

_PLAIN: dict[type, tuple[Any, Text]] = {
    int: (Integral, Text("a whole number")),
    float: (Real, Text("a number")),
    str: (str, Text("a text")),
    bool: (bool, Text("True or False")),
    Path: ((str, PathLike), Text("a path")),
}
_LIST = Text("a list of such values")
_MAPPING = Text("a mapping of names to values")
_ONE_OF = Text("one of those that the documentation names")


def check_type(name: str, value: Any, hint: Any) -> None:
    """Refuse *value* where it is none of the types of *hint*, also within lists and mappings.

    A type that is neither plain nor a class of values, such as `Any`, is anything.

    >>> check_type("minimum", 3, int | None)
    >>> check_type("minimum", "3", int | None)
    Traceback (most recent call last):
    quintain.core.errors.BadInput: 'minimum' is a whole number, and '3' was given, which is a str. Give a whole number.
    >>> check_type("weights", {"speed": "x"}, dict[str, float])
    Traceback (most recent call last):
    quintain.core.errors.BadInput: 'weights["speed"]' is a number, and 'x' was given, which is a str. Give a number.
    """
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if value is None and NoneType in kinds:
        return
    refusals: list[BadInput] = []
    for kind in kinds:
        try:
            _check(name, value, kind)
        except BadInput as error:
            refusals.append(error)
        else:
            return
    # What is wrong within a list or a mapping says more than that it is no text.
    raise next((error for error in refusals if not str(error.message).startswith(f"'{name}'")), refusals[0])


def _check(name: str, value: Any, kind: Any) -> None:
    origin = get_origin(kind)
    if kind is NoneType:
        raise _refusal(name, value, Text("None"))
    if kind in _PLAIN:
        expected, description = _PLAIN[kind]
        if not isinstance(value, expected) or (isinstance(value, bool) and kind is not bool):
            raise _refusal(name, value, description)
    elif origin is Literal:
        if type(value) not in {type(choice) for choice in get_args(kind)}:
            raise _refusal(name, value, _ONE_OF)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        _check_mapping(name, value, get_args(kind))
    elif isinstance(origin, type) and issubclass(origin, Collection):
        _check_list(name, value, origin, get_args(kind))
    elif isinstance(kind, type) and kind.__module__.startswith("quintain.") and not isinstance(value, kind):
        raise _refusal(name, value, Text("{kind}", kind=kind.__name__))


def _check_mapping(name: str, value: Any, kinds: Sequence[Any]) -> None:
    if not isinstance(value, Mapping):
        raise _refusal(name, value, _MAPPING)
    for key, part in value.items():
        _check_part(f"{name}, a name in it", key, kinds[0])
        _check_part(f'{name}["{key}"]', part, kinds[1])


def _check_list(name: str, value: Any, origin: type, kinds: Sequence[Any]) -> None:
    """Refuse what is no list; a text is one of letters, which nobody means."""
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__") or not hasattr(value, "__len__"):
        raise _refusal(name, value, _LIST)
    fixed = origin is tuple and Ellipsis not in kinds
    if fixed and len(value) != len(kinds):
        raise _refusal(name, value, Text("{n} values", n=len(kinds)))
    for at, part in enumerate(islice(value, 1000)):
        _check_part(f"{name}[{at}]", part, kinds[at] if fixed else kinds[0])


def _check_part(name: str, value: Any, kind: Any) -> None:
    """Refuse a part of another type; a number may stand for a text: columns and labels are called by numbers, too."""
    if kind is not str or not isinstance(value, Real):
        check_type(name, value, kind)


def _refusal(name: str, value: Any, description: Text) -> BadInput:
    return BadInput(
        "'{name}' is {wanted}, and {value} was given, which is a {kind}.",
        name=name,
        wanted=description,
        value=repr(value)[:60],
        kind=type(value).__name__,
        remedy="Give {wanted}.",
    )
