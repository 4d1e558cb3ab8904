"""The base of all records, the one encoder that writes them as JSON, and the one decoder that reads them.

    text = to_json(record)
    decode(JudgedItem, json.loads(text)) == record

A field is written also where it is None, unless it is one that is `left_out`.

An answer may hold more than its reader knows: a client reads what a newer server sends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any, str], Any]

NAMES: Mapping[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


LEFT_OUT = "left out"


def left_out(*, without: str = "") -> Any:
    """Make a field that JSON does not have where it is None: most things of its kind have nothing to say there.

    It is null, and not left out, where the field *without* which it means nothing is there.
    """
    return field(default=None, metadata={LEFT_OUT: without})


@dataclass(frozen=True, slots=True)
class Record:
    """The base of all records. A field is an attribute; `record["field"]` reads it by its name in JSON."""

    def __getitem__(self, name: str) -> Any:
        kind: Any = type(self)
        if name not in _names(kind):
            raise KeyError(name)
        return getattr(self, name)


class Misread(ValueError):
    """A value is not of the type that a record wants; *path* says where, such as `judges[3].accuracy.value`."""

    def __init__(self, path: str, expected: str, value: object = None) -> None:
        shown = "null" if value is None else repr(value)
        problem = f"{shown if len(shown) <= 60 else f'{shown[:57]}…'}, not {expected}" if expected else "missing"
        super().__init__(f"{path or 'the answer'} is {problem}")


def plain(value: object) -> Any:
    """Return a value that JSON does not know as one that it does; the values within are for the next call.

    >>> json.dumps({"at": datetime(2026, 11, 16)}, default=plain)
    '{"at": "2026-11-16T00:00:00"}'
    """
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        shape = {name: getattr(value, name) for name in _always(kind)}
        for name, without in _at_times(kind):
            entry = getattr(value, name)
            if entry is not None or (without and getattr(value, without) is not None):
                shape[name] = entry
        return shape
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def to_json(value: object) -> str:
    """Write a record, or anything that holds some, as JSON."""
    return json.dumps(value, default=plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def to_plain(value: object) -> Any:
    """Return a record as what its JSON holds, down to the last value: to be hashed, compared or kept.

    >>> to_plain({"at": datetime(2026, 11, 16)})
    {'at': '2026-11-16T00:00:00'}
    """
    return json.loads(to_json(value))


def decode(kind: type[T], value: object, path: str = "") -> T:
    """Make a record of type *kind* from what JSON holds; raises Misread, which names the path.

    What is such a record already stays as it is.

    >>> decode(list[int], ["1"], "votes")
    Traceback (most recent call last):
    quintain.core.records.base.Misread: votes[0] is '1', not a whole number
    """
    record_type: Any = kind
    record: T = _reader(record_type)(value, path)
    return record


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


@cache
def _always(kind: type) -> tuple[str, ...]:
    """Name the fields that are written whatever they hold."""
    return tuple(item.name for item in fields(kind) if LEFT_OUT not in item.metadata)


@cache
def _at_times(kind: type) -> tuple[tuple[str, str], ...]:
    return tuple((item.name, item.metadata[LEFT_OUT]) for item in fields(kind) if LEFT_OUT in item.metadata)


@cache
def _reader(kind: Any) -> Reader:
    """Return the function that reads a type; made once for each."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any or kind is object or isinstance(kind, TypeVar):
        return lambda value, path: value
    if origin in {Union, UnionType}:
        return partial(_read_union, tuple(arg for arg in args if arg is not NoneType), NoneType in args)
    if origin is Literal:
        return partial(_read_choice, args)
    if is_dataclass(kind):
        return partial(_read_record, kind)
    return _reader_of(origin or kind, args)


def _reader_of(base: Any, args: Sequence[Any]) -> Reader:
    if issubclass(base, Mapping):
        return partial(_read_mapping, args[1] if args else Any)
    if issubclass(base, tuple) and len(args) > 1 and args[1] is not Ellipsis:
        return partial(_read_row, args)
    if issubclass(base, Collection) and not issubclass(base, str):
        return partial(_read_list, tuple if issubclass(base, tuple) else list, args[0] if args else Any)
    return partial(_read_plain, base)


def _read_record(kind: Any, value: Any, path: str) -> Any:
    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise Misread(path, f"a {kind.__name__}", value)
    arguments = {}
    for name, hint, required in _members(kind):
        where = f"{path}.{name}" if path else name
        if name in value:
            arguments[name] = _reader(hint)(value[name], where)
        elif required:
            raise Misread(where, "")
    return kind(**arguments)


@cache
def _members(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    """Return name and type of each field of a record, and whether it has to be there."""
    hints = get_type_hints(kind)
    return tuple(
        (item.name, hints[item.name], item.default is MISSING and item.default_factory is MISSING)
        for item in fields(kind)
        if item.init
    )


def _read_mapping(inner: Any, value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise Misread(path, "an object", value)
    read = _reader(inner)
    return {key: read(one, f"{path}.{key}") for key, one in value.items()}


def _read_list(make: Callable[[Any], Any], inner: Any, value: Any, path: str) -> Any:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Misread(path, "a list", value)
    read = _reader(inner)
    return make(read(one, f"{path}[{number}]") for number, one in enumerate(value))


def _read_row(kinds: Sequence[Any], value: Any, path: str) -> tuple[Any, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != len(kinds):
        raise Misread(path, f"a list of {len(kinds)}", value)
    return tuple(
        _reader(kind)(one, f"{path}[{number}]") for number, (kind, one) in enumerate(zip(kinds, value, strict=True))
    )


def _read_union(kinds: Sequence[Any], empty: bool, value: Any, path: str) -> Any:
    if value is None and empty:
        return None
    refused: Misread | None = None
    for kind in kinds:
        try:
            return _reader(kind)(value, path)
        except Misread as error:
            refused = error
    raise refused or Misread(path, "null", value)


def _read_choice(choices: Sequence[Any], value: Any, path: str) -> Any:
    if value not in choices:
        raise Misread(path, f"one of {', '.join(map(str, choices))}", value)
    return value


def _read_plain(kind: Any, value: Any, path: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
        return value
    if not isinstance(value, str) or kind in NAMES:
        raise Misread(path, NAMES.get(kind, f"a {kind.__name__}"), value)
    try:
        return datetime.fromisoformat(value) if kind is datetime else kind(value)
    except ValueError:
        raise Misread(path, "a time" if kind is datetime else f"a {kind.__name__}", value) from None
