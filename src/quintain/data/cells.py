"""Cells of CSV and TSV files: the one way in which such files are written, and what was done to cells undone.

A spreadsheet runs a cell that begins like a formula, whoever wrote its text. Such a cell gets an apostrophe in front,
by which spreadsheets know a text; readers of ours take it off again. Plain numbers are left alone. One with another
separator than ours (`;`, as in German) sees cells within our cells, whatever is quoted: what begins like a formula
after a semicolon, a tab or a line break gets its apostrophe, too.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, TextIO, TypeVar

import polars as pl

from quintain.core.escaping import visible

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
SEPARATORS = {"csv": ",", "tsv": "\t"}
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def separator_of(header: str, usual: str) -> str:
    """Return what parts the columns of a file with this *header*: some programs write CSV with semicolons or tabs.

    >>> separator_of("text;label", ","), separator_of('"a, b";label', ","), separator_of("text", ",")
    (';', ';', ',')
    """
    bare = _QUOTED.sub("", header)
    if usual in bare and bare.count(usual) >= bare.count(";"):
        return usual
    return next((sign for sign in ";\t," if sign in bare), usual)


_STARTS = r"=+\-@\t\r\n＝＋－＠"
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_RUNS = rf"^'*[{_STARTS}]"  # also what begins so already: else it could not be told from what we guarded
_GUARDED = rf"^'+[{_STARTS}]"
_INNER = r"([;\t\r\n])('*[=+\-@＝＋－＠])"
_INNER_GUARDED = r"([;\t\r\n])'('*[=+\-@＝＋－＠])"
_runs, _number, _guarded = re.compile(_RUNS), re.compile(_NUMBER), re.compile(_GUARDED)
_inner, _inner_guarded = re.compile(_INNER), re.compile(_INNER_GUARDED)


def guard(text: str) -> str:
    """Write *text* so that a spreadsheet shows it and does not run it.

    >>> guard("=1+1"), guard("-3.5"), guard("fine"), guard("'=1"), guard("a;=1+1;b")
    ("'=1+1", '-3.5', 'fine', "''=1", "a;'=1+1;b")
    """
    inside = _inner.sub(r"\1'\2", text)
    return f"'{inside}" if _runs.match(text) and not _number.fullmatch(text) else inside


def unguard(text: str) -> str:
    """Return the text that was guarded.

    >>> unguard("'=1+1"), unguard("'quoted'"), unguard("a;'=1+1;b")
    ('=1+1', "'quoted'", 'a;=1+1;b')
    """
    return _inner_guarded.sub(r"\1\2", text[1:] if _guarded.match(text) else text)


class RowWriter:
    """Writes rows for people to *stream* as CSV, cell by cell: guarded, and with overrides of direction marked."""

    def __init__(self, stream: TextIO, separator: str = ",") -> None:
        self._writer = csv.writer(stream, delimiter=separator, lineterminator="\n")

    def row(self, cells: Iterable[Any]) -> None:
        """Write one row."""
        self._writer.writerow([guard(visible(cell)) if isinstance(cell, str) else cell for cell in cells])

    def rows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write several rows."""
        for cells in rows:
            self.row(cells)


def write_separated(
    frame: pl.DataFrame, stream: IO[bytes], separator: str = ",", *, include_header: bool = True
) -> None:
    """Write a table as CSV; columns of lists and structures are made texts by the caller."""
    guarded_names(frame.with_columns(_guards(frame.schema))).write_csv(
        stream, separator=separator, include_header=include_header
    )


def sink_separated(table: pl.LazyFrame, path: Path, separator: str) -> None:
    """Write a table that is not in memory to *path* as CSV."""
    guarded_names(table.with_columns(_guards(table.collect_schema()))).sink_csv(path, separator=separator)


def guarded_names(table: Frame) -> Frame:
    """Guard the names of columns, which are the first row of a file."""
    names = {name: guard(name) for name in table.collect_schema().names()}
    return table.rename({old: new for old, new in names.items() if old != new})


def unguard_cells(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table as it was before its cells were guarded."""
    texts = [name for name, dtype in table.schema.items() if dtype == pl.String()]
    return table.with_columns(
        pl.when(pl.col(name).str.contains(_GUARDED))
        .then(pl.col(name).str.slice(1))
        .otherwise(pl.col(name))
        .str.replace_all(_INNER_GUARDED, "${1}${2}")
        .alias(name)
        for name in texts
    )


def _guards(schema: pl.Schema) -> list[pl.Expr]:
    return [
        pl.when(text.str.contains(_RUNS) & ~text.str.contains(_NUMBER))
        .then(pl.lit("'") + inside)
        .otherwise(inside)
        .alias(name)
        for name, dtype in schema.items()
        if isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
        for text in [pl.col(name).cast(pl.String())]
        for inside in [text.str.replace_all(_INNER, "${1}'${2}")]
    ]
