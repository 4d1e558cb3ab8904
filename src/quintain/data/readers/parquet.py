"""Parquet, read a slice at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from quintain.core.errors import BadInput, Fault, NotFound
from quintain.data.parquet import check_parquet, reading_parquet
from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source, row_numbers

SLICE = 50_000


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
        for start in range(0, height, SLICE):
            with reading_parquet(path.name):
                frame = table.select(list(requested)).slice(start, SLICE).collect()
            done = size * min(start + SLICE, height) // height
            yield RowBatch(path.name, frame, row_numbers(start + 1, frame.height), done=done)

    return Source(path.name, columns, size, batches)
