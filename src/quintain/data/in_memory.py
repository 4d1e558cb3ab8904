"""Tables that are in memory already, where otherwise a file is read: what a notebook hands over.

    in_memory_table(frame)  # polars, pandas, Arrow: anything with the Arrow PyCapsule interface
    in_memory_table([("a", "ann", "yes")], ("item", "worker", "label"))

A row of such a table is named by its place, counted from 0, as frames count them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from quintain.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class InMemoryTable:
    """A table in memory; *rows* are there where it came as a list of objects, whose values may differ in shape.

    It stands in the place of a path: *name* is what errors call it, and it has no *suffix* that tells a format.
    """

    frame: pl.DataFrame
    name: str = "the table"
    rows: Sequence[Mapping[str, Any]] | None = field(default=None, repr=False)
    suffix: str = ""

    @property
    def stem(self) -> str:
        """What the table is called; a path has its name without the suffix there."""
        return self.name


Source = Path | InMemoryTable


def source_of(value: Any, columns: Sequence[str] = (), *, name: str = "the table") -> Source:
    """Return what a caller handed over as something that can be read: a path stays one, all else is a table.

    *columns* names the columns of rows that have no names of their own.
    """
    if isinstance(value, InMemoryTable):
        return value
    if isinstance(value, str | Path):
        return Path(value)
    return in_memory_table(value, columns, name=name)


def in_memory_table(value: Any, columns: Sequence[str] = (), *, name: str = "the table") -> InMemoryTable:
    """Make a table of a frame, a mapping from columns to values, or a list of objects or of rows."""
    if isinstance(value, pl.DataFrame):
        return InMemoryTable(value, name)
    if isinstance(value, pl.LazyFrame):
        return InMemoryTable(value.collect(), name)
    if isinstance(value, Mapping):
        return InMemoryTable(
            _frame({str(key): _cells(cells, str(key), name) for key, cells in value.items()}, name), name
        )
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "to_dict"):
        return InMemoryTable(_from_library(value, name), name)
    rows = list(value) if hasattr(value, "__iter__") else None
    if rows and all(isinstance(row, Mapping) for row in rows):
        return InMemoryTable(_frame(_by_column(rows), name), name, rows)
    if rows and columns and all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        return InMemoryTable(_from_rows(rows, columns, name), name)
    if rows is not None and not rows:
        raise BadInput("{name} is empty.", name=name, remedy="Give at least one row.")
    raise BadInput(
        "{name} is a {kind}, not a table.",
        name=name,
        kind=type(value).__name__,
        remedy="Give a path, a frame (polars, pandas, Arrow), a mapping from columns to values, or a list of objects.",
    )


def _cells(cells: Any, column: str, name: str) -> list[Any]:
    """Return the values of a column; a text is no column of letters, and nothing is none at all."""
    if isinstance(cells, str | bytes) or not hasattr(cells, "__iter__"):
        raise BadInput(
            "{name}: the column '{column}' is a {kind}, not a list of values.",
            name=name,
            column=column,
            kind=type(cells).__name__,
            remedy="Give a list for each column.",
        )
    return list(cells)


def _from_library(value: Any, name: str) -> pl.DataFrame:
    """Read another library's frame; pandas hands over Arrow only where pyarrow is installed beside it."""
    try:
        return pl.DataFrame(value)
    except (ImportError, TypeError, ValueError):
        columns = getattr(value, "columns", None)
        if columns is None:
            raise
        return _frame({str(column): value[column].tolist() for column in columns}, name)


def _from_rows(rows: Sequence[Sequence[Any]], columns: Sequence[str], name: str) -> pl.DataFrame:
    widest = max(len(row) for row in rows)
    if widest > len(columns) or min(len(row) for row in rows) < widest:
        raise BadInput(
            "The rows of {name} have {least} to {most} values.",
            name=name,
            least=min(len(row) for row in rows),
            most=widest,
            columns=", ".join(columns),
            remedy="Give as many as there are columns: {columns}.",
        )
    return _frame({column: [row[place] for row in rows] for place, column in enumerate(columns[:widest])}, name)


def _by_column(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(str(key) for row in rows for key in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _frame(columns: Mapping[str, list[Any]], name: str) -> pl.DataFrame:
    sizes = {len(cells) for cells in columns.values()}
    if len(sizes) > 1:
        raise BadInput(
            "The columns of {name} have {least} to {most} values.", name=name, least=min(sizes), most=max(sizes)
        )
    return pl.DataFrame([_series(column, cells) for column, cells in columns.items()])


def _series(name: str, cells: list[Any]) -> pl.Series:
    """Make a column; where the cells differ in type, such as 1 and 'b', or are of one of their own, they are texts."""
    try:
        column = pl.Series(name, cells)
    except (TypeError, pl.exceptions.PolarsError):
        column = pl.Series(name, dtype=pl.Object)
    if column.dtype != pl.Object:
        return column
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells], dtype=pl.String())
