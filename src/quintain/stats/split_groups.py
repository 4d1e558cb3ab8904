"""What belongs together among the units of a pool: of some groups one unit is taken, of others all go the same way.

Groups that offer the same are alike, so a program counts them by their *pattern*: which cells their units are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from quintain.stats.bootstrap import IntArray
from quintain.stats.split_pool import BoolArray, Pool

ALONE = -1
MOST_CELLS = 4  # that a group may offer: it keeps the rarest, so that there are not too many patterns


@dataclass(frozen=True, slots=True)
class Groups:
    """The group of each unit (`ALONE` where it belongs to no other), and whether one of a group is taken at most."""

    of: IntArray
    once: BoolArray

    def slots(self) -> IntArray:
        """Return what counts as one unit at most: a group of which one is taken, else the unit itself."""
        own = np.arange(len(self.of)) + self.of.max(initial=ALONE) + 1
        return np.where((self.of != ALONE) & self.once, self.of, own)


def groups_of_units(pool: Pool, units: IntArray) -> Groups:
    """Join the *units* that belong together in any way; of a group of which any two exclude each other one is taken."""
    once = [codes[units] for codes in pool.once.values()]
    ways = [*once, *(codes[units] for codes in pool.apart.values())]
    if not len(units) or not ways:
        return Groups(np.full(len(units), ALONE, dtype=np.int64), np.zeros(len(units), dtype=bool))
    _, of = scipy.sparse.csgraph.connected_components(_links(ways, len(units)), directed=False)
    size = np.bincount(of)
    of = np.where(size[of] == 1, ALONE, of).astype(np.int64)
    excluding = np.zeros(len(size), dtype=bool)
    for codes in once:
        excluding[of[_shared(codes) & (of != ALONE)]] = True
    return Groups(of, np.where(of == ALONE, False, excluding[np.maximum(of, 0)]))


def _shared(codes: IntArray) -> BoolArray:
    """Return which units have a code that another one has, too."""
    often = np.bincount(codes[codes >= 0], minlength=int(codes.max(initial=0)) + 1)
    return (codes >= 0) & (often[np.maximum(codes, 0)] > 1)


def _links(ways: Sequence[IntArray], units: int) -> scipy.sparse.coo_array:
    """Link each unit with the first one that has the same code."""
    starts, ends = [], []
    for codes in ways:
        coded = np.flatnonzero(codes >= 0)
        _, first, code = np.unique(codes[coded], return_index=True, return_inverse=True)
        starts.append(coded)
        ends.append(coded[first[code.reshape(-1)]])
    start, end = np.concatenate(starts), np.concatenate(ends)
    return scipy.sparse.coo_array((np.ones(len(start)), (start, end)), shape=(units, units))


@dataclass(frozen=True, slots=True)
class Patterns:
    """Groups by what they offer: *of* is the pattern of each unit (`ALONE` for those of no group).

    *groups* counts the groups of each pattern, and *once* says of which one unit is taken. *offered* are the units that
    are in a group's way or alone: a group of several writers keeps those of one, and one of many cells the rarest.
    """

    of: IntArray
    groups: IntArray
    once: BoolArray
    offered: BoolArray


def patterns_of(groups: Groups, cell: IntArray, writer: IntArray) -> Patterns:
    """Find the patterns of *groups* whose units are in cells *cell*; *writer* decides, too, where it is not -1."""
    offered = _offered(groups, cell, writer)
    units = np.flatnonzero((groups.of != ALONE) & offered)
    of = np.full(len(cell), ALONE, dtype=np.int64)
    order = units[np.lexsort((cell[units], groups.of[units]))]
    starts = np.flatnonzero(np.r_[True, groups.of[order][1:] != groups.of[order][:-1]]) if len(order) else order
    known: dict[tuple[bool, int, tuple[int, ...]], int] = {}
    counts: list[int] = []
    for members in np.split(order, starts[1:]) if len(order) else []:
        once, cells = bool(groups.once[members[0]]), cell[members].tolist()
        offer = tuple(sorted(set(cells))) if once else tuple(cells)
        code = known.setdefault((once, int(writer[members[0]]), offer), len(known))
        if code == len(counts):
            counts.append(0)
        counts[code] += 1
        of[members] = code
    return Patterns(of, np.array(counts, dtype=np.int64), np.array([once for once, _, _ in known], bool), offered)


def _offered(groups: Groups, cell: IntArray, writer: IntArray) -> BoolArray:
    """Leave each group the units of one writer, and those in its rarest cells."""
    offered = np.ones(len(cell), dtype=bool)
    member = np.flatnonzero(groups.of != ALONE)
    of = groups.of[member]
    least = np.full(int(groups.of.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(least, of, writer[member])
    offered[member] = writer[member] == least[of]
    member = member[offered[member] & groups.once[member]]
    supply = np.bincount(cell, minlength=1)
    order = member[np.lexsort((cell[member], supply[cell[member]], groups.of[member]))]
    changes = np.r_[True, (groups.of[order][1:] != groups.of[order][:-1])] if len(order) else np.zeros(0, dtype=bool)
    fresh = changes | np.r_[True, cell[order][1:] != cell[order][:-1]] if len(order) else changes
    rank = np.cumsum(fresh)
    start = np.maximum.accumulate(np.where(changes, rank, 0))
    offered[order[rank - start >= MOST_CELLS]] = False
    return offered
