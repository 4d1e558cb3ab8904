"""Samples of a stream in flat memory: of each cell the sentences whose keyed hashes are smallest.

A hash depends on the words of a sentence and on the seed, and on nothing else. So the same sentences are chosen however
the corpus is cut, repeats of a sentence meet each other without a list of all that was seen, and the largest hash
that was kept tells how many different sentences there are (Bar-Yossef et al., 2002).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.text_form import IGNORABLE
from quintain.data.identity import letters_forms

KEPT_AT_LEAST = 64
PENDING = 20_000
_SPACE = 2.0**64
_ORDER = ("cell", "priority", "file", "row", "sentence")


def normal_forms(texts: pl.Series) -> pl.Series:
    """Leave of each text what counts when two are compared: words in lower case, one blank between them.

    What cannot be seen does not count, nor does the form of Unicode, nor letters that only look like Latin ones.
    """
    texts = letters_forms(texts.str.normalize("NFC").str.replace_all(f"[{IGNORABLE}]+", ""))
    return texts.str.to_lowercase().str.replace_all(r"[^\p{L}\p{M}\p{N}]+", " ").str.strip_chars(" ")


def priorities(forms: Sequence[str], seed: int) -> npt.NDArray[np.uint64]:
    """Return a number for each text by which it is drawn: a hash with the seed as its key, alike on every machine."""
    key = str(seed).encode()
    digests = b"".join([blake2b(form.encode(), digest_size=8, key=key).digest() for form in forms])
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)


class Reservoir:
    """Of each cell the *size* sentences with the smallest priorities, each once, and how often it occurred.

    Rows are tables with `cell`, `priority`, `file`, `row` and `sentence`; of equal priorities within a cell the one
    that stands first in the corpus is kept.
    """

    def __init__(self, size: int) -> None:
        # Some more than are wanted, to make up for near duplicates.
        self.size = size + max(KEPT_AT_LEAST, size // 4)
        self._kept: list[pl.DataFrame] = []
        self._pending = 0
        self._thresholds = pl.DataFrame(schema={"cell": pl.String(), "threshold": pl.UInt64()})

    def restore(self, table: pl.DataFrame) -> None:
        """Take up what `rows` gave of the same stream before, in place of what was added."""
        self._kept, self._pending = [_own(table)] if table.height else [], table.height
        self._compact()

    def possible(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of *table* that may still be among the smallest of their cells."""
        if self._thresholds.is_empty():
            return table
        limits = table.select("cell").join(self._thresholds, on="cell", how="left", maintain_order="left")["threshold"]
        return table.filter(limits.is_null() | (table["priority"] <= limits))

    def add(self, table: pl.DataFrame) -> None:
        """Add rows that are `possible`."""
        if table.is_empty():
            return
        self._kept.append(_own(table.with_columns(pl.lit(1, dtype=pl.UInt32()).alias("occurrences"))))
        self._pending += table.height
        if self._pending > PENDING:
            self._compact()

    def rows(self) -> pl.DataFrame:
        """Return what was kept, by cell and priority."""
        self._compact()
        return self._kept[0] if self._kept else pl.DataFrame()

    def distinct(self) -> dict[str, tuple[int, bool]]:
        """Return of each cell how many different sentences it has, and whether that was counted or estimated."""
        table = self.rows()
        if table.is_empty():
            return {}
        cells = table.group_by("cell").agg(pl.len().alias("kept"), pl.col("priority").max().alias("last"))
        return {
            cell: (kept, True) if kept < self.size else (round((kept - 1) / ((last + 1) / _SPACE)), False)
            for cell, kept, last in cells.iter_rows()
        }

    def _compact(self) -> None:
        if not self._kept or (len(self._kept) == 1 and not self._pending):
            return
        table = pl.concat(self._kept).sort(_ORDER)
        others = [name for name in table.columns if name not in {"cell", "priority", "occurrences"}]
        merged = table.group_by("cell", "priority", maintain_order=True).agg(
            pl.col(others).first(), pl.col("occurrences").sum()
        )
        smallest = merged.select(table.columns).filter(pl.int_range(pl.len()).over("cell") < self.size)
        full = smallest.group_by("cell").agg(pl.len().alias("kept"), pl.col("priority").max().alias("threshold"))
        self._thresholds = full.filter(pl.col("kept") >= self.size).select("cell", "threshold")
        self._kept, self._pending = [_own(smallest)], 0


def _own(table: pl.DataFrame) -> pl.DataFrame:
    """Copy the texts of *table*: filtered ones still hold on to all the text that they were chosen from."""
    return table.with_columns(
        pl.Series(name, table[name].to_list(), dtype=pl.String())
        for name, dtype in table.schema.items()
        if dtype == pl.String()
    )
