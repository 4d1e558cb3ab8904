"""Which part of a file is imported: rows from one to another, or a sample.

Rows are counted from 1 as the file has them, a header aside and before anything is left out. A sample is drawn from the
examples that are left in the end: each has a number that follows from its id and the seed, and those with the smallest
numbers are taken. So it is the same sample in whatever order, format or pieces the examples come.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.data.readers.contract import RowBatch

PRIORITY = "__priority"
Numbers = npt.NDArray[np.uint64]
_RANGE = re.compile(r"([1-9][0-9]{0,11})?:([1-9][0-9]{0,11})?")


@dataclass(frozen=True, slots=True)
class RowRange:
    """The rows from *first* to *last*, both included; to the end where there is no *last*."""

    first: int = 1
    last: int | None = None

    @property
    def text(self) -> str:
        """The range as it is written."""
        return f"{self.first}:{self.last or ''}"


def parse_range(text: str) -> RowRange | None:
    """Read `A:B`, `A:` or `:B`; None where it is no range.

    >>> parse_range("11:20"), parse_range("20:11")
    (RowRange(first=11, last=20), None)
    """
    match = _RANGE.fullmatch(text)
    if match is None or text == ":":
        return None
    first, last = int(match[1] or 1), int(match[2]) if match[2] else None
    return None if last is not None and last < first else RowRange(first, last)


def rows_in(batches: Iterator[RowBatch], chosen: RowRange, *, file: str) -> Iterator[RowBatch]:
    """Yield what is in the range *chosen*, and read no further; raise BadInput where *file* ends before it does."""
    before = 0  # rows that were there until this batch
    end: tuple[str, int] | None = None
    for batch in batches:
        numbers = _numbers(batch)
        if not numbers.size:
            yield batch
            continue
        # A row that is several examples, as a tree is, may go on in the next batch.
        before -= end == (batch.file, int(numbers[0]))
        end = (batch.file, int(numbers[-1]))
        low = max(chosen.first - before, 1)
        high = numbers.size if chosen.last is None else min(chosen.last - before, numbers.size)
        before += numbers.size
        if low <= high:
            yield _between(batch, int(numbers[low - 1]), int(numbers[high - 1]))
        if chosen.last is not None and before > chosen.last:
            return
    if before < (chosen.last or chosen.first):
        raise BadInput(
            faults=[Fault("the rows {rows} are not there: it has {n}", rows=chosen.text, n=before, file=file)],
            first=chosen.first,
            remedy="Choose rows that it has; {first}: takes all from there to the end."
            if chosen.first <= before
            else "Choose rows that it has.",
        )


def _numbers(batch: RowBatch) -> npt.NDArray[np.int64]:
    """Return the numbers of a batch's rows, the bad ones too, each once and in order."""
    bad = [fault.row for fault in batch.faults if fault.row is not None]
    return np.unique(np.concatenate([batch.rows.to_numpy().astype(np.int64), np.array(bad, dtype=np.int64)]))


def _between(batch: RowBatch, low: int, high: int) -> RowBatch:
    inside = batch.rows.is_between(low, high)
    faults = tuple(fault for fault in batch.faults if fault.row is None or low <= fault.row <= high)
    return replace(batch, frame=batch.frame.filter(inside), rows=batch.rows.filter(inside), faults=faults)


def sampled(tables: Iterator[pl.DataFrame], size: int, seed: int) -> Iterator[pl.DataFrame]:
    """Yield a sample of *size* examples of *tables*, in their order; all of them where there are fewer.

    What may still be in the sample goes to files; in memory are eight bytes for each example that is chosen.
    """
    lowest = _Lowest(size, seed)
    with tempfile.TemporaryDirectory(prefix="quintain-sample-") as folder:
        paths: list[Path] = []
        for table in tables:
            hopeful = lowest.hopeful(table)
            if hopeful.height:
                # In a file and not in a list: a few rows of a table keep all of its texts in memory.
                paths.append(Path(folder) / f"{len(paths)}.arrow")
                hopeful.write_ipc(paths[-1])
        left = size
        for path in paths:
            chosen = pl.read_ipc(path.read_bytes()).filter(pl.col(PRIORITY) <= lowest.bar()).drop(PRIORITY)
            # Of two with the same number, at odds of one to 2 ** 64, the first is taken.
            yield chosen.head(left)
            left -= min(left, chosen.height)


class _Lowest:
    """Remembers the *size* lowest numbers so far."""

    def __init__(self, size: int, seed: int) -> None:
        self._size = size
        self._key = np.frombuffer(hashlib.sha256(f"quintain sample {seed}".encode()).digest()[:8], dtype="<u8")[0]
        self._numbers: Numbers = np.empty(0, dtype=np.uint64)

    def hopeful(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the examples that may be in the sample after all that came so far, with their numbers."""
        numbers = priorities(table["id"], self._key)
        low = numbers <= self.bar()
        together = np.concatenate([self._numbers, numbers[low]])
        if together.size > self._size:
            together = np.partition(together, self._size - 1)[: self._size]
        self._numbers = together
        return table.with_columns(pl.Series(PRIORITY, numbers, dtype=pl.UInt64())).filter(pl.Series(low))

    def bar(self) -> int:
        """Return the number above which nothing is in the sample any more."""
        full = self._numbers.size == self._size
        return int(self._numbers.max()) if full else int(np.iinfo(np.uint64).max)


def priorities(ids: pl.Series, key: np.uint64) -> Numbers:
    """Return a number for each id that looks random, and is the same for the same *key* everywhere.

    Ids are hashes already; SplitMix64's last step mixes them with the key.
    """
    start = bytes.fromhex(ids.str.head(16).str.join("").item() or "") if len(ids) else b""
    mixed: Numbers = np.frombuffer(start, dtype=">u8").astype(np.uint64) ^ key
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
