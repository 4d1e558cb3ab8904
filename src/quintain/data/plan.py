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
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from quintain.core import spec_kinds as kinds
from quintain.core.errors import Fault
from quintain.core.example import Role
from quintain.core.spec import option, plain, read, specification, tables
from quintain.core.spec_kinds import Kind
from quintain.core.texts import Text
from quintain.core.toml import parse_toml, read_text
from quintain.data.readers.contract import Options
from quintain.data.selecting import RowRange, parse_range

DEFAULT_LIMIT = 100


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)


def _is_encoding(value: Any) -> bool:
    try:
        return isinstance(value, str) and (value == "" or bool(codecs.lookup(value)))
    except (LookupError, ValueError):
        return False


TEXT = kinds.any_text()
LABEL = Kind(lambda _: True, Text("a label"), kept=_text)
VALUES = Kind(
    lambda value: isinstance(value, list | tuple), Text("a list"), kept=_texts
)  # in a plan, 7 and "7" are the same
COLUMN = Kind(
    lambda value: isinstance(value, str | list | tuple),
    Text("a column or a list of columns"),
    kept=lambda value: value if isinstance(value, str) else _texts(value),
)
ROWS = Kind(
    lambda value: isinstance(value, str) and (value == "" or parse_range(value) is not None),
    Text("rows from A to B such as 1:5000, 5001: or :5000, counted from 1"),
)
ENCODING = Kind(_is_encoding, Text("an encoding that is known, such as utf-8, latin-1 or cp1252"))


@specification
class Range:
    """A band of a real-valued score, from *low* (included) to *high* (not included); no *label* drops it."""

    label: str | None = option(TEXT, default=None, help="the label of these scores; none drops them")
    low: float | None = option(kinds.number(), default=None, help="the lowest of them")
    high: float | None = option(kinds.number(), default=None, help="where the next range begins")


@specification
class Filter:
    """Keep rows whose *column* is one of *keep* (where given) and none of *leave_out*; *roles* narrows when."""

    column: str = option(TEXT, help="the column of the file")
    keep: tuple[str, ...] = option(VALUES, default=(), help="what it must hold")
    leave_out: tuple[str, ...] = option(VALUES, default=(), help="what it must not hold")
    roles: tuple[str, ...] = option(VALUES, default=(), help="for which roles; for all by default")


@specification
class ImportPlan:
    """What to make of a file's rows."""

    format: str = option(TEXT, default="", help="how the file is written; told by its name by default")
    role: str = option(kinds.one_of(tuple(Role), empty=True), default="", help="what the data set is for")
    hidden: bool = option(kinds.flag(), default=False, help="keep the answers from everybody but the task's owners")
    language: str = option(TEXT, default="", help="the language of the texts; the task's first by default")
    description: str = option(TEXT, default="", help="what the data set is")
    license: str = option(TEXT, default="", help="under which licence it may be used, such as cc-by-4.0")
    citation: str = option(TEXT, default="", help="how it is cited")
    columns: Mapping[str, str | tuple[str, ...]] = option(
        kinds.each(COLUMN), default={}, help="our name = the file's; a list of columns makes a list"
    )
    constants: Mapping[str, Any] = option(kinds.each(), default={}, help="inputs that the file does not have")
    labels: Mapping[str, str] = option(kinds.each(LABEL), default={}, help="a value in the file = a label of the task")
    ranges: tuple[Range, ...] = option(tables(Range), default=(), help="scores that become labels")
    drop: tuple[str, ...] = option(VALUES, default=(), help="answers whose rows are left out")
    unmapped: str = option(
        kinds.one_of(["refuse", "drop"]), default="refuse", help="what happens to answers that are not mapped"
    )
    unlabelled: bool = option(kinds.flag(), default=False, help="take rows without an answer")
    filters: tuple[Filter, ...] = option(tables(Filter), default=(), help="which rows are taken")
    tag_columns: tuple[str, ...] = option(VALUES, default=(), help="columns that make tags such as genre:fiction")
    tags: tuple[str, ...] = option(VALUES, default=(), help="tags of every example")
    keep: tuple[str, ...] = option(VALUES, default=(), help="columns that are kept as meta, for the task's owners")
    duplicates: str = option(
        kinds.one_of(["refuse", "first", "keep"]),
        default="refuse",
        help="what happens to an input that is there again; only a contrast set keeps it, as a member of another set",
    )
    rows: str = option(
        ROWS, default="", help="only the rows A:B of the file, both included, counted before any is left out"
    )
    sample: int | None = option(
        kinds.whole(1, 10**9), default=None, help="take a random sample of so many of the examples that are left"
    )
    seed: int = option(kinds.whole(0, 2**63 - 1), default=0, help="which sample: the same number gives the same one")
    skip_bad: bool = option(kinds.flag(), default=False, help="leave bad rows out, and import the others")
    limit: int = option(kinds.whole(1, 10**9), default=DEFAULT_LIMIT, help="how many bad rows are listed")
    names: tuple[str, ...] = option(VALUES, default=(), help="the columns of a file without a header")
    quotes: bool = option(kinds.flag(), default=True, help="whether quotation marks are more than characters")
    separator: str = option(
        kinds.matching(r"[\s\S]?", Text("a single character")),
        default="",
        help="what stands between the columns; found out by default",
    )
    encoding: str = option(ENCODING, default="", help="how the file's letters are written; found out by default")
    split: str = option(TEXT, default="", help="which split of a folder; that of the role by default")

    def check(self) -> Iterator[Fault]:
        """See that an answer is mapped in one way."""
        if self.labels and self.ranges:
            yield Fault("cannot stand beside 'labels': an answer is mapped in one way", field="ranges")
        if self.duplicates == "keep" and self.role != Role.CONTRAST:
            yield Fault("keeps an input twice in a contrast set only", field="duplicates")
        if self.seed and self.sample is None:
            yield Fault("has no meaning without 'sample'", field="seed")

    @property
    def row_range(self) -> RowRange | None:
        """The rows that are taken; None where all are."""
        return parse_range(self.rows)

    @property
    def selection(self) -> dict[str, Any]:
        """Which part of the file is taken, to be written down; empty where all of it is."""
        part: dict[str, Any] = {"rows": self.row_range.text} if self.row_range else {}
        return part if self.sample is None else {**part, "sample": self.sample, "seed": self.seed}

    @property
    def reading(self) -> Options:
        """The part of the plan that the readers need."""
        split = self.split or (self.role if self.role in {"train", "dev", "test"} else "")
        return Options(self.names, self.quotes, self.separator, self.encoding, split)

    def active_filters(self) -> list[Filter]:
        """List the filters that hold for the plan's role."""
        return [one for one in self.filters if not one.roles or self.role in one.roles]

    def with_changes(self, **changes: Any) -> ImportPlan:
        """Return a copy with *changes*; mappings are merged, lists added to, None and empty values change nothing."""
        merged = {
            name: _joined(getattr(self, name), value)
            for name, value in changes.items()
            if value is not None and value is not False and value not in ("", (), {})
        }
        return read(ImportPlan, plain(replace(self, **merged)))


def _joined(before: Any, value: Any) -> Any:
    if isinstance(before, tuple):
        return tuple(dict.fromkeys((*before, *value)))
    return {**before, **value} if isinstance(before, Mapping) else value


def read_plan(path: Path) -> ImportPlan:
    """Read the plan in the TOML file at *path*."""
    return parse_plan(read_text(path), file=path.name)


def parse_plan(text: str, *, file: str = "plan") -> ImportPlan:
    """Make a plan of TOML *text*, or raise BadInput with every fault in it; *file* is named in them."""
    return read(ImportPlan, parse_toml(text, file=file), file=file)
