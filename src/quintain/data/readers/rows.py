"""Help for readers that make rows in Python: formats that are small, or not tables at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from quintain.core.errors import Fault
from quintain.data.readers.contract import RequestedColumns, RowBatch, parted

BATCH = 10_000

# A row by its number, or what is wrong there.
Row = tuple[int, Mapping[str, Any]] | Fault


def batched(
    file: str, rows: Iterable[Row], schema: Mapping[str, pl.DataType], requested: RequestedColumns, *, size: int
) -> Iterator[RowBatch]:
    """Make batches of *rows* whose columns are in *schema*; the last one has read *size* bytes."""
    for chunk in parted(rows, BATCH, _weight):
        good = [row for row in chunk if not isinstance(row, Fault)]
        faults = tuple(row for row in chunk if isinstance(row, Fault))
        yield RowBatch(file, _frame(good, schema, list(requested)), _numbers(good), faults, size)


def _weight(row: Row) -> int:
    return 0 if isinstance(row, Fault) else sum(len(value) for value in row[1].values() if isinstance(value, str))


def _frame(rows: Sequence[tuple[int, Mapping[str, Any]]], schema: Mapping[str, pl.DataType], names: list[str]) -> Any:
    return pl.DataFrame(
        {name: pl.Series([row.get(name) for _, row in rows], dtype=schema[name]) for name in names},
        schema={name: schema[name] for name in names},
    )


def _numbers(rows: Sequence[tuple[int, Mapping[str, Any]]]) -> pl.Series:
    return pl.Series("row", [number for number, _ in rows], dtype=pl.UInt32())
