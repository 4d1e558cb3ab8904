"""What every reader of example files gives: its columns, and batches of rows that know where they came from.

A reader is one file in this package with one function decorated by `@READERS.register(name)`. It never reads a whole
file into memory where the format allows it, and never stops at a bad row: it reports it and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.registry import Registry
from quintain.data.text import suffix_of

MAX_LINE = 32 << 20
BLOCK = 4 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a file where its name does not say it all.

    *names* are the columns of a separated file without a header; *quotes* is false where quotation marks are just
    characters; *encoding* is for old files that are not UTF-8; *split* picks one from a folder.
    """

    names: tuple[str, ...] = ()
    quotes: bool = True
    separator: str = ""
    encoding: str = "utf-8"
    split: str = ""


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Some rows: *rows* are the numbers by which a person finds them in *file*, *done* the bytes read so far."""

    file: str
    frame: pl.DataFrame
    rows: pl.Series
    faults: tuple[Fault, ...] = ()
    done: int = 0


# From each wanted column to whether its values may be lists or structures.
RequestedColumns = Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Source:
    """An opened file: its *columns*, its *size* in bytes, and its rows.

    *usual* maps our names to those columns that hold them in every file of this format.
    """

    name: str
    columns: tuple[str, ...]
    size: int
    batches: Callable[[RequestedColumns], Iterator[RowBatch]]
    usual: Mapping[str, str] = field(default_factory=dict)


Reader = Callable[[Path, Options], Source]

READERS: Registry[Reader] = Registry("file format", package="quintain.data.readers", group="quintain.readers")

_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".conllu": "conllu",
    ".json": "squad",
}


def guess_format(path: Path) -> str:
    """Return the format of *path* by its name; refuse a name that does not tell, with how to name it."""
    if path.is_dir():
        return "folder"
    form = _BY_SUFFIX.get(suffix_of(path))
    if form is None:
        raise BadInput(
            "The format of {name} cannot be told from its name.",
            name=path.name,
            names=", ".join(READERS.names()),
            remedy="Name it with --format, one of: {names}.",
            page="Choose the format in the form: one of {names}.",
        )
    return form


def row_numbers(first: int, count: int) -> pl.Series:
    """Return the numbers of *count* rows that follow each other, from *first*."""
    return pl.int_range(first, first + count, dtype=pl.UInt32(), eager=True).alias("row")


def no_rows(columns: tuple[str, ...] | list[str]) -> pl.DataFrame:
    """Return a table of texts with no rows."""
    return pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))
