"""What every reader of example files gives: its columns, and batches of rows that know where they came from.

A reader is one file in this package with one function decorated by `@READERS.register(name)`. It never reads a whole
file into memory where the format allows it, and never stops at a bad row: it reports it and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.registry import Registry
from quintain.data.text import MAX_BYTES, suffix_of

MAX_LINE = 32 << 20
BLOCK = 4 << 20
BATCH_BYTES = 16 << 20  # that a batch holds at most, but for its last row: rows may be a megabyte each

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a file where its name does not say it all.

    *names* are the columns of a separated file without a header; *quotes* is false where quotation marks are just
    characters; *separator* and *encoding* are found out where they are not named; *split* picks one from a folder. A
    format that has to be read whole takes no file of more than *whole* bytes.
    """

    names: tuple[str, ...] = ()
    quotes: bool = True
    separator: str = ""
    encoding: str = ""
    split: str = ""
    whole: int = MAX_BYTES


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
_WORKBOOKS = frozenset({".xlsx", ".xlsm", ".xls", ".ods", ".numbers"})


def _refuse_workbook(path: Path) -> None:
    """Refuse what a spreadsheet program writes for itself, with what it can write for others."""
    if suffix_of(path) in _WORKBOOKS:
        raise BadInput(
            "{name} is a workbook of a spreadsheet program.", name=path.name, remedy="Save its sheet as CSV there."
        )


def guess_format(path: Path) -> str:
    """Return the format of *path* by its name; refuse a name that does not tell, with how to name it."""
    if path.is_dir():
        return "folder"
    form = _BY_SUFFIX.get(suffix_of(path))
    _refuse_workbook(path)
    if form is None:
        raise BadInput(
            "The format of {name} cannot be told from its name.",
            name=path.name,
            names=", ".join(READERS.names()),
            remedy="Name it with --format, one of: {names}.",
            page="Choose the format in the form: one of {names}.",
        )
    return form


def parted(rows: Iterable[Item], most: int, weight: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Part *rows* into lists of at most *most*, each of about BATCH_BYTES at most by the *weight* of its rows."""
    chunk: list[Item] = []
    held = 0
    for row in rows:
        chunk.append(row)
        held += weight(row)
        if len(chunk) == most or held >= BATCH_BYTES:
            yield chunk
            chunk, held = [], 0
    if chunk:
        yield chunk


def bytes_of(frame: pl.DataFrame) -> int:
    """Return what *frame* holds when each text counts, also where several rows share one in memory."""
    texts = [column for column in frame.iter_columns() if column.dtype == pl.String()]
    return max(int(frame.estimated_size()), sum(int(column.str.len_bytes().sum()) for column in texts))


def row_numbers(first: int, count: int) -> pl.Series:
    """Return the numbers of *count* rows that follow each other, from *first*."""
    return pl.int_range(first, first + count, dtype=pl.UInt32(), eager=True).alias("row")


def no_rows(columns: tuple[str, ...] | list[str]) -> pl.DataFrame:
    """Return a table of texts with no rows."""
    return pl.DataFrame(schema=dict.fromkeys(columns, pl.String()))
