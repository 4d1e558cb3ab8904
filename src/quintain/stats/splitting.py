"""Splits of a pool under constraints, found by integer programming: what goes into dev and test, and what is left.

What matters of a unit is its *cell*: its class, what a model said of it, and the values of attributes that must not
give the class away. Units of one cell are alike, so the program counts units per cell and split, and a pool of any size
is a small program. Only where writers must not be in two splits does it also decide on every writer. Units that belong
together, such as what was written from one prompt, are groups; those that offer the same cells are alike, too.

The constraints of each split, with K classes and n units of each:

- classes are balanced: every class has n units;
- the model is at chance: it is right on n / K units of every class, and says every class n times. Then the F1 of each
  class is 2 (n/K) / (n + n) = 1/K;
- an attribute is even: each of its values occurs as often in every class, so that it predicts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from quintain.stats.bootstrap import IntArray
from quintain.stats.split_groups import groups_of_units
from quintain.stats.split_pool import LEFT, BoolArray, Pool, SplitTargets
from quintain.stats.split_program import Solution, SplitProgram, limited_writers

SECONDS = 20.0  # that the program may take where it decides on writers; counting alone takes far less
MOST_LIMITED = 60  # writers above the cap of whom the program decides what to take; of more it is chosen beforehand
MOST_DECIDED = 600  # units up to which the program decides on writers and on which of a group is taken
BALANCE = "balance"
CHANCE = "chance"
WRITERS = "writers"
CLOSED = "closed"
EVEN = "even:"


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


def rounded_sizes(targets: SplitTargets, classes: int) -> dict[str, int]:
    """Return the sizes rounded down so that all shares within them are whole.

    >>> rounded_sizes(Wanted({"dev": 100, "test": 50}, at_chance=True), 3)
    {'dev': 99, 'test': 45}
    """
    step = targets.step(classes)
    return {name: size - size % step for name, size in targets.sizes.items()}


def solve(pool: Pool, targets: SplitTargets, seed: int, *, seconds: float = SECONDS) -> Splits:
    """Fill the splits up to their sizes, as far as the constraints allow; units of a cell are drawn by *seed*."""
    return solved(pool, targets, seed, seconds=seconds).drawn(seed)


def solved(pool: Pool, targets: SplitTargets, seed: int, *, seconds: float = SECONDS) -> Solved:
    """Find how many units of each cell go where, from which units are then drawn."""
    rng = np.random.default_rng(seed)
    fit = pool.fit()
    if targets.disjoint and pool.writer is not None and fit.sum() > MOST_DECIDED:
        fit = fit & _one_of_each(pool, fit, rng)  # the program has enough to decide with every writer
    limited = limited_writers(pool, targets, np.flatnonzero(fit))
    if targets.cap is not None and pool.writer is not None and len(np.unique(limited)) > MOST_LIMITED:
        fit = fit & _within_cap(pool, pool.writer, fit, targets.cap, rng)
    program = SplitProgram(pool, targets, np.flatnonzero(fit))
    return Solved(pool, targets, program, program.run(seconds))


@dataclass(frozen=True, slots=True)
class Solved:
    """A program that is solved: what is drawn from it has the same sizes, whatever the seed."""

    pool: Pool
    wanted: SplitTargets
    program: SplitProgram
    solution: Solution

    def drawn(self, seed: int) -> Splits:
        """Draw the units."""
        rng, names = np.random.default_rng(seed), tuple(self.wanted.sizes)
        split = np.full(len(self.pool), LEFT, dtype=np.int64)
        for number in range(len(names)):
            self.program.draw(split, number, self.solution, rng)
        sizes = {name: int((split == place).sum()) for place, name in enumerate(names)}
        return Splits(names, split, sizes, self.solution.is_proved)


def clashes(
    pool: Pool, targets: SplitTargets, reached: Mapping[str, int], seed: int, *, seconds: float = 5.0
) -> list[Clash]:
    """Name each constraint without which the splits could be larger than *reached*, the most telling first."""
    named = []
    for name, easier_pool, easier in _without_one(pool, targets):
        sizes = solve(easier_pool, easier, seed, seconds=seconds).sizes
        if sum(sizes.values()) >= sum(reached.values()) + easier.step(pool.classes):
            named.append(Clash(name, sizes))
    return sorted(named, key=lambda clash: -sum(clash.sizes.values()))


def _without_one(pool: Pool, targets: SplitTargets) -> list[tuple[str, Pool, SplitTargets]]:
    easier: list[tuple[str, Pool, SplitTargets]] = []
    if targets.at_chance:
        easier.append((CHANCE, pool, replace(targets, at_chance=False)))
    easier += [
        (f"{EVEN}{name}", pool, replace(targets, even=tuple(one for one in targets.even if one != name)))
        for name in targets.even
    ]
    if targets.disjoint or targets.cap is not None:
        easier.append((WRITERS, pool, replace(targets, disjoint=False, cap=None)))
    if targets.balanced and not targets.at_chance and not targets.even:
        easier.append((BALANCE, pool, replace(targets, balanced=False)))
    for name in pool.once:
        rest = {other: codes for other, codes in pool.once.items() if other != name}
        easier.append((name, replace(pool, once=rest), targets))
    for name in pool.apart:
        rest = {other: codes for other, codes in pool.apart.items() if other != name}
        easier.append((name, replace(pool, apart=rest), targets))
    if pool.closed:
        easier.append((CLOSED, replace(pool, closed={}), targets))
    for name in pool.allowed:
        others = {other: good for other, good in pool.allowed.items() if other != name}
        easier.append((name, replace(pool, allowed=others), targets))
    return easier


def _one_of_each(pool: Pool, fit: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Draw one unit of each group of which one is taken."""
    units = rng.permutation(np.flatnonzero(fit))
    _, first = np.unique(groups_of_units(pool, units).slots(), return_index=True)
    chosen = np.zeros(len(pool), dtype=bool)
    chosen[units[first]] = True
    return chosen


def _within_cap(pool: Pool, of: IntArray, fit: BoolArray, cap: int, rng: np.random.Generator) -> BoolArray:
    """Choose units of which at most *cap* of each writer can be taken: as many of each class and answer, rare first.

    A group of which one is taken counts as one.
    """
    units = rng.permutation(np.flatnonzero(fit))
    answer = pool.label[units] if pool.said is None else pool.label[units] * (pool.classes + 1) + pool.said[units] + 1
    many = np.bincount(answer, minlength=1)[answer]
    slot = groups_of_units(pool, units).slots()
    order = np.lexsort((answer, many, slot, of[units]))
    leads = order[_changes(of[units][order], slot[order])]  # of each writer's slots, the unit in the rarest cell
    rank = np.zeros(len(units), dtype=np.int64)
    turn = leads[np.lexsort((answer[leads], of[units][leads]))]
    rank[turn] = _places(_changes(of[units][turn], answer[turn]))
    turn = leads[np.lexsort((many[leads], rank[leads], of[units][leads]))]
    rank[turn] = _places(_changes(of[units][turn]))
    rank[order] = rank[leads][np.cumsum(_changes(of[units][order], slot[order])) - 1]
    chosen = np.zeros(len(pool), dtype=bool)
    chosen[units[(rank < cap) | (of[units] < 0)]] = True
    return chosen


def _changes(*columns: IntArray) -> BoolArray:
    """Return at which rows any of the columns has another value than in the row before."""
    if not len(columns[0]):
        return np.zeros(0, dtype=bool)
    changed: BoolArray = np.r_[True, np.any([values[1:] != values[:-1] for values in columns], axis=0)]
    return changed


def _places(first: BoolArray) -> IntArray:
    """Count the rows from each of the *first* ones on."""
    starts = np.flatnonzero(first)
    return np.asarray(np.arange(len(first)) - np.repeat(starts, np.diff(np.r_[starts, len(first)])))
