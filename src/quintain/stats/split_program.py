"""The integer program of a split: built from the cells of a pool, solved, and drawn from."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import IntArray
from quintain.stats.split_groups import ALONE, groups_of_units, patterns_of
from quintain.stats.split_pool import LEFT, BoolArray, Pool, SplitTargets

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Solution:
    """What a program found, by split: units of each cell, writers, and groups of each pattern that goes one way.

    *is_proved* says whether nothing better exists.
    """

    counts: IntArray
    writers: IntArray
    groups: IntArray
    is_proved: bool


def limited_writers(pool: Pool, targets: SplitTargets, units: IntArray) -> IntArray:
    """Name the writer of each unit that has more units than the cap; -1 for the others."""
    nobody = np.full(len(units), -1, dtype=np.int64)
    if targets.cap is None or pool.writer is None or not len(units):
        return nobody
    writer = pool.writer[units]
    many = np.bincount(writer[writer >= 0], minlength=1) > targets.cap
    return np.where((writer >= 0) & many[np.maximum(writer, 0)], writer, nobody)


class SplitProgram:
    """The integer program: how many units of each cell go into each split, and which writers with them.

    Its variables, in this order: for every split the number of units of each cell; for every split its size in steps;
    the smallest share of its size that any split reaches; where writers decide, for every split whether each writer is
    in it; and for every split how many groups of each pattern go into it, where a group goes one way as a whole.
    """

    def __init__(self, pool: Pool, targets: SplitTargets, units: IntArray) -> None:
        self.pool = pool
        self.step = targets.step(pool.classes)
        self.most = np.array([size // self.step for size in targets.sizes.values()], dtype=np.int64)
        self.wanted = targets
        columns = [pool.label[units]]
        if targets.at_chance:
            columns.append(pool.said[units] if pool.said is not None else np.full(len(units), -1))
        columns += [pool.attributes[name][units] for name in targets.even]
        limited = limited_writers(pool, targets, units)
        columns.append(limited)
        self.closed = [name for name in targets.sizes if name in pool.closed]
        columns += [pool.closed[name][units].astype(np.int64) for name in self.closed]
        _, base = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        by_writer = targets.disjoint and pool.writer is not None
        writer = pool.writer[units] if by_writer and pool.writer is not None else np.full(len(units), -1)
        groups = groups_of_units(pool, units)
        self.patterns = patterns_of(groups, base.reshape(-1), np.where(limited >= 0, limited, writer))
        offered = self.patterns.offered
        self.units, self.writer, self.group = units[offered], writer[offered], groups.of[offered]
        self.pattern = self.patterns.of[offered]
        stacked = np.stack([*columns, self.patterns.of], axis=1)[offered]
        cells, cell = np.unique(stacked, axis=0, return_inverse=True)
        self.cells, self.pattern_of_cell = cells[:, :-1], cells[:, -1]
        self.cell: IntArray = cell.reshape(-1).astype(np.int64)
        self.supply = np.bincount(self.cell, minlength=len(self.cells))
        self.limited = self.cells[:, -1 - len(self.closed)]  # by cell, whose it is where that is limited
        self.whole = np.flatnonzero(~self.patterns.once)  # patterns whose groups go one way
        self.writers = int(self.writer.max(initial=-1)) + 1
        self.rows: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.low: list[FloatArray] = []
        self.high: list[FloatArray] = []
        self.height = 0

    @property
    def splits(self) -> int:
        """How many splits there are."""
        return len(self.most)

    def run(self, seconds: float) -> Solution:
        """Solve it: units per split and cell, writers and groups per split, and whether nothing better exists."""
        shapes = (len(self.cells), self.writers, len(self.whole))
        if not len(self.units) or not self.most.any():
            return self._nothing(is_proved=True)
        self._demand()
        self._supply()
        self._share_groups()
        self._limit_writers()
        wide = self.splits * (sum(shapes) + 1) + 1
        matrix = scipy.sparse.csr_array(_stacked(self.rows, self.height, wide))
        bounds = self._bounds(wide)
        limits = scipy.optimize.LinearConstraint(matrix, np.concatenate(self.low), np.concatenate(self.high))
        whole = np.ones(wide)
        whole[self._share] = 0
        options = {"time_limit": seconds, "mip_rel_gap": 1e-4}
        answer = scipy.optimize.milp(
            self._cost(wide), constraints=limits, bounds=bounds, integrality=whole, options=options
        )
        if answer.x is None:  # infeasible: not even nothing fits, which cannot be; else no time
            return self._nothing(is_proved=answer.status == 2)
        x = np.rint(np.delete(answer.x, self._share)).astype(np.int64)
        before = self.splits * np.array([0, shapes[0] + 1, shapes[0] + 1 + shapes[1]])
        parts = [x[start:][: self.splits * width] for start, width in zip(before, shapes, strict=True)]
        counts, writers, groups = (part.reshape(self.splits, -1) for part in parts)
        return Solution(counts, writers, groups, is_proved=answer.status == 0)

    def _nothing(self, *, is_proved: bool) -> Solution:
        counts, writers, groups = (
            np.zeros((self.splits, width), dtype=np.int64) for width in (len(self.cells), self.writers, len(self.whole))
        )
        return Solution(counts, writers, groups, is_proved)

    @property
    def _share(self) -> int:
        return self.splits * (len(self.cells) + 1)

    def _at(self, split: int, cells: IntArray) -> IntArray:
        return split * len(self.cells) + cells

    def _size(self, split: int) -> int:
        return self.splits * len(self.cells) + split

    def _writer(self, split: int) -> IntArray:
        return self._share + 1 + split * self.writers + np.arange(self.writers)

    def _group(self, split: int) -> IntArray:
        return self._share + 1 + self.splits * self.writers + split * len(self.whole) + np.arange(len(self.whole))

    def _add(self, columns: Sequence[IntArray], values: Sequence[FloatArray], low: float, high: float) -> None:
        column, value = np.concatenate(columns), np.concatenate(values)
        self.rows.append((np.full(len(column), self.height), column, value))
        self.low.append(np.array([low]))
        self.high.append(np.array([high]))
        self.height += 1

    def _demand(self) -> None:
        """Write down what every split must be, by its size in steps."""
        classes = self.pool.classes
        for split in range(self.splits):
            for cells, per_step in self._parts(classes):
                size = np.array([self._size(split)])
                self._add([self._at(split, cells), size], [np.ones(len(cells)), np.array([-float(per_step)])], 0, 0)
            for cells, others in self._pairs(classes):
                columns = [self._at(split, cells), self._at(split, others)]
                self._add(columns, [np.ones(len(cells)), -np.ones(len(others))], 0, 0)
            if self.most[split]:
                columns = [np.array([self._size(split)]), np.array([self._share])]
                self._add(columns, [np.ones(1), np.array([-float(self.most[split])])], 0, np.inf)

    def _parts(self, classes: int) -> list[tuple[IntArray, int]]:
        """List the cells that together must have so many units for each step of a split's size."""
        label = self.cells[:, 0]
        if not self.wanted.balanced and not self.wanted.at_chance and not self.wanted.even:
            return [(np.arange(len(self.cells)), self.step)]
        parts = [(np.flatnonzero(label == one), self.step // classes) for one in range(classes)]
        if self.wanted.at_chance:
            answer = self.cells[:, 1]
            parts += [(np.flatnonzero((label == one) & (answer == one)), 1) for one in range(classes)]
            parts += [(np.flatnonzero(answer == one), self.step // classes) for one in range(classes)]
        return parts

    def _pairs(self, classes: int) -> list[tuple[IntArray, IntArray]]:
        """List the cells that must have as many units as others: each value of an attribute in each class."""
        first = 2 if self.wanted.at_chance else 1
        pairs = []
        for column in range(first, first + len(self.wanted.even)):
            for value in np.unique(self.cells[:, column]):
                of = [
                    np.flatnonzero((self.cells[:, 0] == one) & (self.cells[:, column] == value))
                    for one in range(classes)
                ]
                pairs += [(of[0], other) for other in of[1:]]
        return pairs

    def _supply(self) -> None:
        """Take no more of a cell than there is and, of writers, no more than those of the split have."""
        free = np.bincount(self.cell[self.writer < 0], minlength=len(self.cells))
        for cell in range(len(self.cells)):
            columns = [self._at(split, np.array([cell])) for split in range(self.splits)]
            self._add(columns, [np.ones(1)] * self.splits, 0, float(self.supply[cell]))
        if not self.writers:
            return
        owned = np.zeros((len(self.cells), self.writers))
        np.add.at(owned, (self.cell[self.writer >= 0], self.writer[self.writer >= 0]), 1)
        for cell in range(len(self.cells)):
            who = np.flatnonzero(owned[cell])
            # What is nobody's is there once: no group of splits takes more of it than there is.
            for some in _groups(self.splits):
                columns = [self._at(split, np.array([cell])) for split in some]
                columns += [self._writer(split)[who] for split in some]
                values = [np.ones(1)] * len(some) + [-owned[cell, who]] * len(some)
                self._add(columns, values, -np.inf, float(free[cell]))
        for writer in range(self.writers):
            columns = [self._writer(split)[[writer]] for split in range(self.splits)]
            self._add(columns, [np.ones(1)] * self.splits, 0, 1)

    def _share_groups(self) -> None:
        """Take one unit of a group at most, or let each go one way: no more of it than there are in its groups."""
        for code in np.flatnonzero(self.patterns.once):
            cells = np.flatnonzero(self.pattern_of_cell == code)
            columns = [self._at(split, cells) for split in range(self.splits)]
            self._add(columns, [np.ones(len(cells))] * self.splits, 0, float(self.patterns.groups[code]))
        for at, code in enumerate(self.whole):
            groups = float(self.patterns.groups[code])
            columns = [self._group(split)[[at]] for split in range(self.splits)]
            self._add(columns, [np.ones(1)] * self.splits, 0, groups)
            for cell in np.flatnonzero(self.pattern_of_cell == code):
                each = np.array([-self.supply[cell] / groups])
                for split in range(self.splits):
                    columns = [self._at(split, np.array([cell])), self._group(split)[[at]]]
                    self._add(columns, [np.ones(1), each], -np.inf, 0)

    def _limit_writers(self) -> None:
        """Take no more of a writer than the cap."""
        for code in np.unique(self.limited[self.limited >= 0]):
            cells = np.flatnonzero(self.limited == code)
            columns = [self._at(split, cells) for split in range(self.splits)]
            self._add(columns, [np.ones(len(cells))] * self.splits, 0, float(self.wanted.cap or 0))

    def _bounds(self, wide: int) -> Any:
        high = np.ones(wide)
        for split in range(self.splits):
            high[self._at(split, np.arange(len(self.cells)))] = np.where(self._shut(split), 0, self.supply)
            high[self._size(split)] = self.most[split]
            high[self._group(split)] = self.patterns.groups[self.whole]
        return scipy.optimize.Bounds(np.zeros(wide), high)

    def _shut(self, split: int) -> BoolArray:
        """Return which cells may not be in a split."""
        name = list(self.wanted.sizes)[split]
        if name not in self.closed:
            return np.zeros(len(self.cells), dtype=bool)
        return self.cells[:, self.cells.shape[1] - len(self.closed) + self.closed.index(name)] > 0

    def _cost(self, wide: int) -> FloatArray:
        """Prefer that every split gets its share, then size, then that few writers are used up."""
        cost = np.zeros(wide)
        total = float(self.most.sum())
        cost[self._share] = -10 * total
        for split in range(self.splits):
            cost[self._size(split)] = -1
            if self.writers:
                has = np.bincount(self.writer[self.writer >= 0], minlength=self.writers)
                cost[self._writer(split)] = 0.1 * has / max(1, has.sum())
        return cost

    def draw(self, split: IntArray, number: int, solution: Solution, rng: np.random.Generator) -> None:
        """Draw as many units of each cell as the *solution* has for split *number*, that are not drawn yet."""
        counts, writers = solution.counts[number], solution.writers[number] > 0
        open_to = (split[self.units] == LEFT) & (self.group == ALONE)
        if self.writers:
            open_to &= (self.writer < 0) | writers[np.maximum(self.writer, 0)]
        order = rng.permutation(np.flatnonzero(open_to))
        order = order[np.lexsort((self.writer[order] < 0, self.cell[order]))]  # nobody's last: others need them, too
        cells = self.cell[order]
        rank = np.arange(len(order)) - np.searchsorted(cells, cells)
        split[self.units[order[rank < counts[cells]]]] = number
        self._draw_groups(split, number, solution, rng)

    def _draw_groups(self, split: IntArray, number: int, solution: Solution, rng: np.random.Generator) -> None:
        """Draw from groups that nothing has been drawn from: one unit of each, or what is needed of some."""
        whole = {int(code): int(solution.groups[number, at]) for at, code in enumerate(self.whole)}
        members = np.flatnonzero(self.group != ALONE)
        touched = np.unique(self.group[members[split[self.units[members]] != LEFT]])
        members = rng.permutation(members[~np.isin(self.group[members], touched)])
        members = members[np.argsort(self.pattern[members], kind="stable")]
        for units in np.split(members, np.flatnonzero(np.diff(self.pattern[members])) + 1):
            if not len(units):
                continue
            code, cells = int(self.pattern[units[0]]), np.unique(self.cell[units])
            if code in whole:
                groups = _in_order(self.group[units])[: whole[code]]
                open_to = units[np.isin(self.group[units], groups)]
                chosen = [open_to[self.cell[open_to] == cell][: solution.counts[number, cell]] for cell in cells]
            else:
                chosen = self._one_of_each(units, cells, solution.counts[number])
            split[self.units[np.concatenate(chosen)]] = number

    def _one_of_each(self, units: IntArray, cells: IntArray, counts: IntArray) -> list[IntArray]:
        """Choose units of *cells* from as many groups: every group of a pattern has units in all of its cells."""
        groups = _in_order(self.group[units])
        ends = np.cumsum(counts[cells])
        chosen = []
        for cell, start, end in zip(cells, ends - counts[cells], ends, strict=True):
            own = units[(self.cell[units] == cell) & np.isin(self.group[units], groups[start:end])]
            _, first = np.unique(self.group[own], return_index=True)
            chosen.append(own[first])
        return chosen


def _in_order(values: IntArray) -> IntArray:
    """Return the values, each once, in the order of their first occurrence."""
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]


def _groups(number: int) -> list[tuple[int, ...]]:
    """List all groups of splits.

    >>> _groups(2)
    [(0,), (1,), (0, 1)]
    """
    return [some for size in range(1, number + 1) for some in itertools.combinations(range(number), size)]


def _stacked(rows: Sequence[tuple[IntArray, IntArray, FloatArray]], height: int, wide: int) -> Any:
    row = np.concatenate([row[0] for row in rows])
    column = np.concatenate([row[1] for row in rows])
    value = np.concatenate([row[2] for row in rows])
    return scipy.sparse.coo_array((value, (row, column)), shape=(height, wide))
