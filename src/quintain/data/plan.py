"""How a file becomes a data set: which columns, which labels, what is left out. A TOML file, options, or both.

format = "jsonl"
role = "test"

[columns]                       # our name = the file's name
text = "reviewText"
answer = "overall"

[labels]                        # a value in the file = a label of the task
1 = "negative"
3 = "neutral"
5 = "positive"
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from quintain.core.errors import BadInput, Fault
from quintain.core.example import Role
from quintain.core.texts import Text
from quintain.core.toml import parse_toml, read_text
from quintain.data.readers.contract import Options

DEFAULT_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Range:
    """A band of a real-valued score, from *low* (included) to *high* (not included); no *label* drops it."""

    label: str | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Keep rows whose *column* is one of *keep* (where given) and none of *leave_out*; *roles* narrows when."""

    column: str
    keep: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What to make of a file's rows.

    *columns* maps our names (inputs, `answer`, `id`, `tags`, `group`, `meta`) to columns of the file; a list of
    columns makes a list. *drop* are answers whose rows are left out; other answers that *labels* or *ranges* do not
    mention are faults unless *unmapped* is "drop". *tag_columns* make tags such as `genre:fiction`, *tags* go on every
    example, *keep* are columns that are kept as meta.
    """

    format: str = ""
    role: str = ""
    hidden: bool = False
    language: str = "en"
    description: str = ""
    columns: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()
    drop: tuple[str, ...] = ()
    unmapped: str = "refuse"
    unlabelled: bool = False
    filters: tuple[Filter, ...] = ()
    tag_columns: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    duplicates: str = "refuse"
    skip_bad: bool = False
    limit: int = DEFAULT_LIMIT
    names: tuple[str, ...] = ()
    quotes: bool = True
    separator: str = ""
    encoding: str = "utf-8"
    split: str = ""

    @property
    def reading(self) -> Options:
        """The part of the plan that the readers need."""
        split = self.split or (self.role if self.role in {"train", "dev", "test"} else "")
        return Options(self.names, self.quotes, self.separator, self.encoding, split)

    def active_filters(self) -> list[Filter]:
        """List the filters that hold for the plan's role."""
        return [one for one in self.filters if not one.roles or self.role in one.roles]

    def with_changes(self, **changes: Any) -> ImportPlan:
        """Give a copy with *changes*; mappings are merged, lists added to, None and empty values change nothing."""
        merged: dict[str, Any] = {}
        for name, value in changes.items():
            if value is None or value in ("", (), {}, False):
                continue
            before = getattr(self, name)
            merged[name] = _joined(before, value)
        plan = replace(self, **merged)
        faults = _value_faults(plan)
        if faults:
            raise BadInput(faults=[Fault(reason, field=name) for name, reason in faults])
        return plan


def _joined(before: Any, value: Any) -> Any:
    if isinstance(before, tuple):
        return tuple(dict.fromkeys((*before, *value)))
    return {**before, **value} if isinstance(before, Mapping) else value


def read_plan(path: Path) -> ImportPlan:
    """Read the plan in the TOML file at *path*."""
    return parse_plan(read_text(path), file=path.name)


def parse_plan(text: str, *, file: str = "plan") -> ImportPlan:
    """Make a plan of TOML *text*, or raise BadInput with every fault in it; *file* is named in them."""
    data = parse_toml(text, file=file)
    known = {item.name: item for item in fields(ImportPlan)}
    problems = [(name, _unknown(name, list(known))) for name in data if name not in known]
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name in known:
            values[name], reason = _read(name, value)
            problems += [(name, reason)] if reason else []
    if not problems:
        plan = ImportPlan(**values)
        problems = _value_faults(plan)
        if not problems:
            return plan
    raise BadInput(faults=[Fault(reason, file=file, field=name) for name, reason in problems])


def _unknown(name: str, known: Sequence[str]) -> Text:
    close = get_close_matches(name, known, n=1)
    if close:
        return Text("is not known; did you mean '{close}'?", close=close[0])
    return Text("is not known; known are {known}", known=", ".join(known))


_TEXTS = ("drop", "tag_columns", "tags", "keep", "names")
_FLAGS = ("hidden", "unlabelled", "skip_bad", "quotes")


def _read(name: str, value: Any) -> tuple[Any, Text | None]:
    """Give a value as the plan holds it, and what is wrong with it."""
    if name in {"columns", "labels", "constants"}:
        return _read_mapping(name, value)
    if name == "ranges":
        return _read_tables(value, Range, {"label": str, "low": (int, float), "high": (int, float)})
    if name == "filters":
        shape = {"column": str, "keep": list, "leave_out": list, "roles": list}
        return _read_tables(value, Filter, shape)
    if name in _TEXTS:
        return (_texts(value), None) if isinstance(value, list) else ((), Text("is not a list"))
    wanted = bool if name in _FLAGS else int if name == "limit" else str
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        return None, Text("is {value}, which is not {called}", value=repr(value), called=_CALLED[wanted])
    return value, None


_CALLED = {bool: Text("true or false"), int: Text("a whole number"), str: Text("a text")}


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_mapping(name: str, value: Any) -> tuple[Any, Text | None]:
    if not isinstance(value, dict):
        return {}, Text("is not a table")
    if name == "labels":
        return {key: _text(label) for key, label in value.items()}, None
    if name == "constants":
        return value, None
    wrong = [key for key, column in value.items() if not isinstance(column, (str, list))]
    if wrong:
        return {}, Text("'{wrong}' is mapped to neither a column nor a list of columns", wrong=wrong[0])
    return {key: _texts(column) if isinstance(column, list) else column for key, column in value.items()}, None


def _read_tables(value: Any, make: type[Any], shape: Mapping[str, Any]) -> tuple[Any, Text | None]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return (), Text("is not a list of tables")
    made = []
    for one in value:
        for key, cell in one.items():
            if key not in shape:
                return (), Text("'{key}' {reason}", key=key, reason=_unknown(key, list(shape)))
            if not isinstance(cell, shape[key]) or isinstance(cell, bool):
                return (), Text("'{key}' is {cell}, which does not fit", key=key, cell=repr(cell))
        values = {key: _texts(cell) if isinstance(cell, list) else cell for key, cell in one.items()}
        if make is Filter and "column" not in values:
            return (), Text("a filter needs a 'column'")
        made.append(make(**{"label": None, **values}) if make is Range else make(**values))
    return tuple(made), None


def _value_faults(plan: ImportPlan) -> list[tuple[str, Text]]:
    found = []
    for name, value, allowed in (
        ("role", plan.role, ("", *(role.value for role in Role))),
        ("unmapped", plan.unmapped, ("refuse", "drop")),
        ("duplicates", plan.duplicates, ("refuse", "first")),
    ):
        if value not in allowed:
            found.append(
                (
                    name,
                    Text(
                        "is '{value}', which is not one of {known}",
                        value=value,
                        known=", ".join(one for one in allowed if one),
                    ),
                )
            )
    if plan.labels and plan.ranges:
        found.append(("ranges", Text("cannot stand beside 'labels': an answer is mapped in one way")))
    try:
        codecs.lookup(plan.encoding)
    except LookupError:
        found.append(
            (
                "encoding",
                Text("is '{encoding}', which is not known; try utf-8, latin-1 or cp1252", encoding=plan.encoding),
            )
        )
    if plan.limit < 1:
        found.append(("limit", Text("must be at least 1")))
    if len(plan.separator) > 1:
        found.append(("separator", Text("is '{separator}', which is not a single character", separator=plan.separator)))
    return found
