"""Splits of a pool under constraints, found by integer programming: what goes into dev and test, and what is left.

What matters of a unit is its *cell*: its class, what a model said of it, and the values of attributes that must not
give the class away. Units of one cell are alike, so the program counts units per cell and split, and a pool of any size
is a small program. Only where writers must not be in two splits does it also decide on every writer.

The constraints of each split, with K classes and n units of each:

- classes are balanced: every class has n units;
- the model is at chance: it is right on n / K units of every class, and says every class n times. Then the F1 of each
  class is 2 (n/K) / (n + n) = 1/K;
- an attribute is even: each of its values occurs as often in every class, so that it predicts nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import IntArray

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

LEFT = -1  # of a unit that is in none of the splits
SECONDS = 20.0  # that the program may take where it decides on writers; counting alone takes far less
BALANCE = "balance"
CHANCE = "chance"
WRITERS = "writers"
CLOSED = "closed"
EVEN = "even:"


@dataclass(frozen=True, slots=True)
class Pool:
    """Units that can be split, one entry of each array for each.

    *label* is the class, and *said* the class that the model gave (-1: none of them). *attributes* hold codes of values
    (-1: no value). *allowed* names what a unit must fulfil for a split, each with who does. *writer* is -1 for nobody.
    *closed* says, by the name of a split, which units may not be in it.
    """

    classes: int
    label: IntArray
    said: IntArray | None = None
    attributes: Mapping[str, IntArray] = field(default_factory=dict)
    allowed: Mapping[str, BoolArray] = field(default_factory=dict)
    writer: IntArray | None = None
    closed: Mapping[str, BoolArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.label)

    def fit(self) -> BoolArray:
        """Say which units fulfil everything, and have a class."""
        fit = (self.label >= 0) & (self.label < self.classes)
        for good in self.allowed.values():
            fit = fit & good
        return fit


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the splits must be: their *sizes* in units, and the constraints that hold in each.

    *cap* is how many units of one writer may be in the splits altogether; with *disjoint*, a writer is in one split
    only, and who is in a split has nothing in what is left over.
    """

    sizes: Mapping[str, int]
    balanced: bool = True
    at_chance: bool = False
    even: tuple[str, ...] = ()
    disjoint: bool = False
    cap: int | None = None

    def step(self, classes: int) -> int:
        """Say of what number every size is a multiple, so that all shares are whole.

        >>> Wanted({"dev": 720}, at_chance=True).step(3)
        9
        """
        if self.at_chance:
            return classes * classes
        return classes if self.balanced or self.even else 1


@dataclass(frozen=True, slots=True)
class Splits:
    """The split of each unit: its place in *names*, or `LEFT`.

    *sizes* are those reached; where they fall short of what was wanted, they are the largest that work. *is_proved*
    says whether nothing larger exists; it is not where the time for deciding on writers ran out.
    """

    names: tuple[str, ...]
    split: IntArray
    sizes: Mapping[str, int]
    is_proved: bool = True


@dataclass(frozen=True, slots=True)
class Clash:
    """A constraint without which larger splits exist, and their sizes then."""

    constraint: str
    sizes: Mapping[str, int]


def rounded_sizes(wanted: Wanted, classes: int) -> dict[str, int]:
    """Give the sizes rounded down so that all shares within them are whole.

    >>> rounded_sizes(Wanted({"dev": 100, "test": 50}, at_chance=True), 3)
    {'dev': 99, 'test': 45}
    """
    step = wanted.step(classes)
    return {name: size - size % step for name, size in wanted.sizes.items()}


def solve(pool: Pool, wanted: Wanted, seed: int, *, seconds: float = SECONDS) -> Splits:
    """Fill the splits up to their sizes, as far as the constraints allow; units of a cell are drawn by *seed*."""
    rng = np.random.default_rng(seed)
    fit = pool.fit()
    if wanted.cap is not None and pool.writer is not None:
        fit = fit & _within_cap(pool, pool.writer, fit, wanted.cap, rng)
    program = _Program(pool, wanted, np.flatnonzero(fit))
    counts, writers, is_proved = program.run(seconds)
    names = tuple(wanted.sizes)
    split = np.full(len(pool), LEFT, dtype=np.int64)
    for place in range(len(names)):
        program.draw(split, place, counts[place], writers[place], rng)
    sizes = {name: int((split == place).sum()) for place, name in enumerate(names)}
    return Splits(names, split, sizes, is_proved)


def clashes(pool: Pool, wanted: Wanted, reached: Mapping[str, int], seed: int, *, seconds: float = 5.0) -> list[Clash]:
    """Name each constraint without which the splits could be larger than *reached*, the most telling first."""
    found = []
    for name, easier_pool, easier in _without_one(pool, wanted):
        sizes = solve(easier_pool, easier, seed, seconds=seconds).sizes
        if sum(sizes.values()) >= sum(reached.values()) + easier.step(pool.classes):
            found.append(Clash(name, sizes))
    return sorted(found, key=lambda clash: -sum(clash.sizes.values()))


def _without_one(pool: Pool, wanted: Wanted) -> list[tuple[str, Pool, Wanted]]:
    easier: list[tuple[str, Pool, Wanted]] = []
    if wanted.at_chance:
        easier.append((CHANCE, pool, replace(wanted, at_chance=False)))
    easier += [
        (f"{EVEN}{name}", pool, replace(wanted, even=tuple(one for one in wanted.even if one != name)))
        for name in wanted.even
    ]
    if wanted.disjoint or wanted.cap is not None:
        easier.append((WRITERS, pool, replace(wanted, disjoint=False, cap=None)))
    if wanted.balanced and not wanted.at_chance and not wanted.even:
        easier.append((BALANCE, pool, replace(wanted, balanced=False)))
    if pool.closed:
        easier.append((CLOSED, replace(pool, closed={}), wanted))
    for name in pool.allowed:
        rest = {other: good for other, good in pool.allowed.items() if other != name}
        easier.append((name, replace(pool, allowed=rest), wanted))
    return easier


def _within_cap(pool: Pool, of: IntArray, fit: BoolArray, cap: int, rng: np.random.Generator) -> BoolArray:
    """Choose at most *cap* of each writer's units, those of rare classes first, so that every class keeps as many."""
    units = rng.permutation(np.flatnonzero(fit))
    many = np.bincount(pool.label[units], minlength=pool.classes)
    order = units[np.lexsort((many[pool.label[units]], of[units]))]
    writer = of[order]
    first = np.r_[True, writer[1:] != writer[:-1]] if len(writer) else np.zeros(0, dtype=bool)
    starts = np.flatnonzero(first)
    place = np.arange(len(writer)) - np.repeat(starts, np.diff(np.r_[starts, len(writer)]))
    kept = np.zeros(len(pool), dtype=bool)
    kept[order[(place < cap) | (writer < 0)]] = True
    return kept


class _Program:
    """The integer program: how many units of each cell go into each split, and which writers with them.

    Its variables, in this order: for every split the number of units of each cell; for every split its size in steps;
    the smallest share of its size that any split reaches; and, where writers decide, for every split whether each
    writer is in it.
    """

    def __init__(self, pool: Pool, wanted: Wanted, units: IntArray) -> None:
        self.pool = pool
        self.units = units
        self.step = wanted.step(pool.classes)
        self.most = np.array([size // self.step for size in wanted.sizes.values()], dtype=np.int64)
        self.wanted = wanted
        columns = [pool.label[units]]
        if wanted.at_chance:
            columns.append(pool.said[units] if pool.said is not None else np.full(len(units), -1))
        columns += [pool.attributes[name][units] for name in wanted.even]
        self.closed = [name for name in wanted.sizes if name in pool.closed]
        columns += [pool.closed[name][units].astype(np.int64) for name in self.closed]
        self.cells, cell = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        self.cell: IntArray = cell.reshape(-1).astype(np.int64)
        self.supply = np.bincount(self.cell, minlength=len(self.cells))
        by_writer = wanted.disjoint and pool.writer is not None
        self.writer = pool.writer[units] if by_writer and pool.writer is not None else np.full(len(units), -1)
        self.writers = int(self.writer.max(initial=-1)) + 1
        self.rows: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.low: list[FloatArray] = []
        self.high: list[FloatArray] = []
        self.height = 0

    @property
    def splits(self) -> int:
        return len(self.most)

    def run(self, seconds: float) -> tuple[IntArray, BoolArray, bool]:
        """Solve it: units per split and cell, writers per split, and whether nothing better exists."""
        nothing = np.zeros((self.splits, len(self.cells)), dtype=np.int64), np.zeros((self.splits, self.writers), bool)
        if not len(self.units) or not self.most.any():
            return *nothing, True
        self._demand()
        self._supply()
        wide = self.splits * (len(self.cells) + 1 + self.writers) + 1
        matrix = scipy.sparse.csr_array(_stacked(self.rows, self.height, wide))
        bounds = self._bounds(wide)
        limits = scipy.optimize.LinearConstraint(matrix, np.concatenate(self.low), np.concatenate(self.high))
        whole = np.ones(wide)
        whole[self._share] = 0
        options = {"time_limit": seconds, "mip_rel_gap": 1e-4}
        found = scipy.optimize.milp(
            self._cost(wide), constraints=limits, bounds=bounds, integrality=whole, options=options
        )
        if found.x is None:
            return *nothing, found.status == 2  # infeasible: not even nothing fits, which cannot be; else no time
        x = np.rint(np.delete(found.x, self._share)).astype(np.int64)
        counts = x[: self.splits * len(self.cells)].reshape(self.splits, -1)
        chosen = x[self.splits * (len(self.cells) + 1) :].reshape(self.splits, -1) > 0
        return counts, chosen, found.status == 0

    @property
    def _share(self) -> int:
        return self.splits * (len(self.cells) + 1)

    def _at(self, split: int, cells: IntArray) -> IntArray:
        return split * len(self.cells) + cells

    def _size(self, split: int) -> int:
        return self.splits * len(self.cells) + split

    def _writer(self, split: int) -> IntArray:
        return self._share + 1 + split * self.writers + np.arange(self.writers)

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
            said = self.cells[:, 1]
            parts += [(np.flatnonzero((label == one) & (said == one)), 1) for one in range(classes)]
            parts += [(np.flatnonzero(said == one), self.step // classes) for one in range(classes)]
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
        for one in range(self.writers):
            columns = [self._writer(split)[[one]] for split in range(self.splits)]
            self._add(columns, [np.ones(1)] * self.splits, 0, 1)

    def _bounds(self, wide: int) -> Any:
        high = np.ones(wide)
        for split in range(self.splits):
            high[self._at(split, np.arange(len(self.cells)))] = np.where(self._shut(split), 0, self.supply)
            high[self._size(split)] = self.most[split]
        return scipy.optimize.Bounds(np.zeros(wide), high)

    def _shut(self, split: int) -> BoolArray:
        """Say which cells may not be in a split."""
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

    def draw(self, split: IntArray, place: int, counts: IntArray, writers: BoolArray, rng: np.random.Generator) -> None:
        """Draw as many units of each cell as *counts* says, of *writers* and of nobody, that are not drawn yet."""
        open_to = split[self.units] == LEFT
        if self.writers:
            open_to &= (self.writer < 0) | writers[np.maximum(self.writer, 0)]
        order = rng.permutation(np.flatnonzero(open_to))
        order = order[np.lexsort((self.writer[order] < 0, self.cell[order]))]  # nobody's last: others need them, too
        cells = self.cell[order]
        rank = np.arange(len(order)) - np.searchsorted(cells, cells)
        split[self.units[order[rank < counts[cells]]]] = place


def _groups(number: int) -> list[tuple[int, ...]]:
    """List all groups of splits.

    >>> _groups(2)
    [(0,), (1,), (0, 1)]
    """
    return [some for size in range(1, number + 1) for some in itertools.combinations(range(number), size)]


def _stacked(rows: Sequence[tuple[IntArray, IntArray, FloatArray]], height: int, wide: int) -> Any:
    row = np.concatenate([one[0] for one in rows])
    column = np.concatenate([one[1] for one in rows])
    value = np.concatenate([one[2] for one in rows])
    return scipy.sparse.coo_array((value, (row, column)), shape=(height, wide))
