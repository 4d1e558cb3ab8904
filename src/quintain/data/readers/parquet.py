"""Parquet, read a slice at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.data.parquet import check_parquet, reading_parquet
from quintain.data.readers.contract import (
    BATCH_BYTES,
    READERS,
    Options,
    RequestedColumns,
    RowBatch,
    Source,
    bytes_of,
    row_numbers,
)

SLICE = 50_000
FIRST_SLICE = 200  # rows that say how large the others may be
SLICE_BYTES = 16 * BATCH_BYTES  # each slice unpacks the part of the file that it is in: small ones would take long


@READERS.register("parquet")
def open_parquet(path: Path, options: Options) -> Source:
    """Open a Parquet file; its rows are counted from 1."""
    if not path.is_file():
        raise NotFound("There is no file {path}.", path=path, remedy="Check the spelling and the folder.")
    size = path.stat().st_size
    if size == 0:
        raise BadInput(faults=[Fault("the file is empty", file=path.name)])
    check_parquet(path)
    with reading_parquet(path.name):
        table = pl.scan_parquet(path, glob=False)
        columns = tuple(table.collect_schema())
        height = table.select(pl.len()).collect().item()

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        start, rows = 0, FIRST_SLICE
        while start < height:
            with reading_parquet(path.name):
                frame = table.select(list(requested)).slice(start, rows).collect()
            end = min(start + rows, height)
            yield RowBatch(path.name, frame, row_numbers(start + 1, frame.height), done=size * end // height)
            row_bytes = bytes_of(frame) // max(1, frame.height) + 1
            start, rows = end, max(1, min(SLICE, SLICE_BYTES // row_bytes))

    return Source(path.name, columns, size, batches)
