"""CSV and TSV. Rows are counted as a spreadsheet counts them: the header is row 1."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal, TextIO

import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.cells import separator_of, unguard
from quintain.data.readers.contract import (
    MAX_LINE,
    READERS,
    Options,
    RequestedColumns,
    RowBatch,
    Source,
    no_rows,
    parted,
)
from quintain.data.text import gzip_faults, open_utf8, position

BATCH = 20_000
_Rows = Iterator[tuple[int, list[str] | Fault]]

# The csv module's own limit, 128 KiB to a cell, is too small for passages.
csv.field_size_limit(MAX_LINE)


@READERS.register("csv")
def open_csv(path: Path, options: Options) -> Source:
    """Open a file of comma-separated values."""
    return _open(path, options, options.separator or _separator(path, options, ","))


@READERS.register("tsv")
def open_tsv(path: Path, options: Options) -> Source:
    """Open a file of tab-separated values."""
    return _open(path, options, options.separator or _separator(path, options, "\t"))


def _separator(path: Path, options: Options, usual: str) -> str:
    """Find what parts the columns, by the first line: some programs write CSV with semicolons or tabs."""
    with gzip_faults(path.name), open_utf8(path, options.encoding) as stream:
        return separator_of(stream.readline(MAX_LINE).decode(errors="replace"), usual)


def _open(path: Path, options: Options, separator: str) -> Source:
    columns = options.names or _header(path, options, separator)
    twice = [name for name in dict.fromkeys(columns) if columns.count(name) > 1]
    if twice:
        raise BadInput(
            faults=[Fault("the column '{name}' is there twice", name=name, file=path.name, row=1) for name in twice]
        )

    def batches(requested: RequestedColumns) -> Iterator[RowBatch]:
        with open_utf8(path, options.encoding) as stream:
            text = _decoded(stream)  # held here: the wrapper closes the stream when it goes
            rows = _rows(path, text, options, separator)
            if not options.names:
                next(rows, None)
            for chunk in parted(rows, BATCH, _weight):
                yield _batch(path.name, chunk, columns, requested, position(stream))

    return Source(path.name, columns, path.stat().st_size, batches)


def _weight(row: tuple[int, list[str] | Fault]) -> int:
    cells = row[1]
    return 0 if isinstance(cells, Fault) else sum(map(len, cells))


def _decoded(stream: BinaryIO) -> io.TextIOWrapper:
    # Bad bytes come through as lone surrogates, so that their row can be named.
    return io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")


def _header(path: Path, options: Options, separator: str) -> tuple[str, ...]:
    with open_utf8(path, options.encoding) as stream:
        first = next(_rows(path, _decoded(stream), options, separator), None)
    if first is None:
        raise BadInput(faults=[Fault("the file is empty", file=path.name)])
    cells = first[1]
    if isinstance(cells, Fault):
        raise BadInput(faults=[cells])
    if fault := _encoding_fault(path.name, first[0], cells):
        raise BadInput(faults=[fault])
    return tuple(unguard(cell.strip()) for cell in cells)


def _rows(path: Path, stream: TextIO, options: Options, separator: str) -> _Rows:
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if options.quotes else csv.QUOTE_NONE
    reader = csv.reader(stream, delimiter=separator, quoting=quoting, strict=options.quotes)
    number = 0
    while True:
        number += 1
        try:
            with gzip_faults(path.name):
                cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = (
                Text("broken quoting ({error})", error=error)
                if "limit" not in str(error)
                else Text("a cell has more than {most} MB", most=MAX_LINE >> 20)
            )
            yield number, Fault(reason, file=path.name, row=number)
            continue
        if cells:
            yield number, cells


def _batch(
    name: str,
    chunk: list[tuple[int, list[str] | Fault]],
    columns: tuple[str, ...],
    requested: RequestedColumns,
    done: int,
) -> RowBatch:
    faults: list[Fault] = []
    numbers: list[int] = []
    good: list[list[str]] = []
    width = len(columns)
    for number, cells in chunk:
        fault = cells if isinstance(cells, Fault) else _row_fault(name, number, cells, width)
        if fault is None and not isinstance(cells, Fault):
            numbers.append(number)
            good.append([unguard(cell) if "'" in cell else cell for cell in cells])
        elif fault is not None:
            faults.append(fault)
    frame = _frame(good, columns, requested)
    return RowBatch(name, frame, pl.Series("row", numbers, dtype=pl.UInt32()), tuple(faults), done)


def _row_fault(name: str, number: int, cells: list[str], width: int) -> Fault | None:
    if len(cells) != width:
        reason = Text.plural(
            "{n} column where there should be {width}",
            "{n} columns where there should be {width}",
            n=len(cells),
            width=width,
        )
        return Fault(reason, file=name, row=number)
    return _encoding_fault(name, number, cells)


def _encoding_fault(name: str, number: int, cells: list[str]) -> Fault | None:
    """Name the first byte that the encoding does not know; none of them gets any further."""
    if not all(map(str.isascii, cells)):
        try:
            "".join(cells).encode()
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) - 0xDC00
            return Fault("not UTF-8: byte 0x{byte:02x}", byte=byte, file=name, row=number)
    return None


def _frame(rows: list[list[str]], columns: tuple[str, ...], requested: RequestedColumns) -> pl.DataFrame:
    if not rows:
        return no_rows(list(requested))
    cells = dict(zip(columns, zip(*rows, strict=True), strict=True))
    return pl.DataFrame({name: pl.Series(cells[name], dtype=pl.String()) for name in requested})
