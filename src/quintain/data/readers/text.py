"""Plain text: one text to a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from quintain.data.readers.contract import READERS, Options, RequestedColumns, RowBatch, Source
from quintain.data.readers.lines import read_blocks

COLUMN = "text"


@READERS.register("text")
def open_text(path: Path, options: Options) -> Source:
    """Open a file of plain text, one text to a line; blank lines are passed over."""

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        for block in read_blocks(path, encoding=options.encoding):
            lines = block.texts()
            texts = pl.Series(COLUMN, [line for _, line in lines], dtype=pl.String())
            rows = pl.Series("row", [number for number, _ in lines], dtype=pl.UInt32())
            yield RowBatch(path.name, pl.DataFrame([texts]).select(list(requested)), rows, block.faults, block.done)

    return Source(path.name, (COLUMN,), path.stat().st_size if path.exists() else 0, batches)
