"""Sees to it that every input, and every id that a file gives, is in a version once, but for members of contrast sets.

Most files repeat nothing, and then a look at all hashes at the end will do. A record of which row had which input,
which says where the first one was, is made only for files that do repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np
import polars as pl

from quintain.core.errors import Fault
from quintain.core.texts import Text
from quintain.data.identity import example_digests, hex_ids, repeated_digest
from quintain.data.mapping import Mapped

DUPLICATES = "the same input as an earlier row"
Key = TypeVar("Key", bytes, str)


class Seen(Protocol):
    """What knows which inputs came before."""

    def only_new(self, mapped: Mapped, inputs: Sequence[str]) -> tuple[pl.DataFrame, list[Fault]]:
        """Return the rows that are new, with their ids, and a fault for each of the others."""


class Hopeful:
    """Takes every row for new, and says at the end whether that was right."""

    def __init__(self) -> None:
        self._starts: list[np.ndarray[tuple[int], np.dtype[np.uint64]]] = []

    def only_new(self, mapped: Mapped, inputs: Sequence[str]) -> tuple[pl.DataFrame, list[Fault]]:
        """Return all rows, with their ids; whether some repeat is asked at the end."""
        digests = example_digests(mapped.table, inputs)
        # The first 8 of 32 bytes: should two of them agree by chance, the careful way finds no repeat and goes on.
        self._starts.append(np.frombuffer(b"".join(digests), dtype=np.uint64)[::4].copy())
        return mapped.table.with_columns(hex_ids(digests)), []

    def repeated(self) -> bool:
        """Whether any input may have come twice."""
        starts = np.concatenate(self._starts) if self._starts else np.empty(0, dtype=np.uint64)
        starts.sort()
        return bool((starts[1:] == starts[:-1]).any())


class Counted:
    """Takes every row; an input that is there again gets an id of its own."""

    def __init__(self) -> None:
        self._turns: Counter[bytes] = Counter()

    def only_new(self, mapped: Mapped, inputs: Sequence[str]) -> tuple[pl.DataFrame, list[Fault]]:
        """Return all rows, with ids that number the repeats."""
        return mapped.table.with_columns(member_ids(example_digests(mapped.table, inputs), self._turns)), []


def member_ids(digests: Sequence[bytes], turns: Counter[bytes]) -> pl.Series:
    """Return the ids of members of contrast sets, in order; *turns* counts how often an input was there."""
    names = []
    for digest in digests:
        turns[digest] += 1
        names.append(repeated_digest(digest, turns[digest]))
    return hex_ids(names)


class Recorded:
    """Remembers the row of every input and id; with *first* repeats are dropped, otherwise they are faults."""

    def __init__(self, *, first: bool) -> None:
        self._first = first
        self._inputs: dict[bytes, int] = {}
        self._ids: dict[str, int] = {}

    def only_new(self, mapped: Mapped, inputs: Sequence[str]) -> tuple[pl.DataFrame, list[Fault]]:
        """Return the rows that are new; see the class."""
        digests = example_digests(mapped.table, inputs)
        rows = mapped.rows.to_list()
        faults: list[Fault] = []
        old: set[int] = set()
        for at, before in _repeats(self._inputs, digests, rows):
            old.add(at)
            if self._first:
                mapped.dropped[DUPLICATES] += 1
            else:
                reason = Text("is the same input as row {before}", before=before)
                faults.append(Fault(reason, file=mapped.file, row=rows[at], field=inputs[0]))
        if mapped.own_ids is not None:
            own_ids = mapped.own_ids.to_list()
            places = [at for at, value in enumerate(own_ids) if value is not None and at not in old]
            keys, numbers = [own_ids[at] for at in places], [rows[at] for at in places]
            for index, before in _repeats(self._ids, keys, numbers):
                old.add(places[index])
                reason = Text("'{keys}' is the id of row {before} already", keys=keys[index], before=before)
                faults.append(Fault(reason, file=mapped.file, row=numbers[index], field="id"))
        table = mapped.table.with_columns(hex_ids(digests))
        if old:
            table = table.filter(~pl.int_range(table.height, eager=True).is_in(sorted(old)))
        return table, faults


def _repeats(seen: dict[Key, int], keys: Sequence[Key], rows: Sequence[int]) -> list[tuple[int, int]]:
    """Add *keys* to those *seen*; return the positions of those that are not new, each with its first row."""
    repeats: list[tuple[int, int]] = []
    for at, (key, row) in enumerate(zip(keys, rows, strict=True)):
        if key in seen:
            repeats.append((at, seen[key]))
        else:
            seen[key] = row
    return repeats
