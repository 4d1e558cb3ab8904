"""Several systems on the same examples: how far any figure of two of them differs by resampling, and by swapping.

Nothing here goes through examples one by one where it need not. What two systems add on an example is one of a few
cells for most metrics: a resample is a multinomial draw of cells, and a permutation (each example's two answers change
places, or not, by a fair coin) is a binomial draw for each difference that occurs. Sums to which very many examples add
something come from their normal limit; a class of a few examples, or two systems that differ on a few, never do as long
as there are few cells. Otherwise the units are drawn by themselves, once for all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from quintain.stats.bootstrap import BLOCK, MANY, FloatArray, IntArray, Tally, resample_weights
from quintain.stats.joint import by_unit, units_of

CELLS = 512  # different outcomes of two systems that are drawn one by one
SOME = 64  # differences that cost nothing to draw, however often they occur
SUMMED = 4096  # and that are added up before anything is drawn
FREQUENT = 1000  # so many examples add to a sum that has its normal limit
_TIE = 1e-9

Value = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class PairDraws:
    """The differences of two systems' figures: *resampled*, and *swapped* as if there were none."""

    resampled: FloatArray
    swapped: FloatArray


@dataclass(frozen=True, slots=True)
class _Cells:
    """What two systems add, for each pair of outcomes that occurs, and how often it does."""

    counts: FloatArray
    left: Any
    right: Any


class SystemsDrawn:
    """Draws over systems whose *tallies* are of the same examples; whole *groups* are drawn and swapped where given.

    *value* makes a figure of totals. The same seed draws the same for a pair whichever systems stand beside it.
    """

    def __init__(
        self,
        tallies: Sequence[Tally],
        value: Value,
        *,
        groups: IntArray | None = None,
        seed: int = 0,
        draws: int = 10_000,
    ) -> None:
        self._tallies, self._value, self._groups = tallies, value, groups
        self._seed, self._draws = seed, draws

    def pair(self, first: int, second: int) -> PairDraws:
        """Draw the differences between two systems, named by their places."""
        cells = None if self._groups is not None else _cells(self._tallies[first], self._tallies[second])
        if cells is None:
            left, right = self._units[first], self._units[second]
            cells = _Cells(np.ones(left.shape[0]), left, right)
        return PairDraws(self._resampled(first, second, cells), self._swapped(cells))

    def _resampled(self, first: int, second: int, cells: _Cells) -> FloatArray:
        number, few = int(cells.counts.sum()), len(cells.counts) <= CELLS
        frequent = min(_least(cells.left, cells.counts), _least(cells.right, cells.counts)) >= FREQUENT
        if number >= MANY and (frequent or not few):
            return self._resampled_sums(cells)
        if few:
            return self._resampled_cells(cells)
        return self._resampled_values[first] - self._resampled_values[second]

    def _swapped(self, cells: _Cells) -> FloatArray:
        apart = cells.left - cells.right
        some = np.flatnonzero(np.asarray(abs(apart).sum(axis=1)).ravel())
        apart, counts = apart[some], cells.counts[some]
        middle = (_total(cells.counts, cells.left) + _total(cells.counts, cells.right)) / 2
        if len(counts) <= SUMMED:
            apart, counts = _up_to_sign(_dense(apart), counts)
        if len(counts) <= SOME or (len(counts) <= CELLS and _least(apart, counts) < FREQUENT):
            drawn = self._generator(1).binomial(counts.astype(np.int64), 0.5, size=(self._draws, len(counts)))
            moved = np.asarray((drawn - counts / 2) @ apart, dtype=np.float64)
        elif _least(apart, counts) >= FREQUENT:
            moved = _normal(_products(apart, counts / 4), self._draws, self._generator(1))
        else:
            return self._swapped_units(middle, apart, counts)
        return self._apart(middle + moved, middle - moved)

    def _generator(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, purpose])

    def _apart(self, left: FloatArray, right: FloatArray) -> FloatArray:
        return np.asarray(self._value(left) - self._value(right), dtype=np.float64)

    def _resampled_cells(self, cells: _Cells) -> FloatArray:
        number = int(cells.counts.sum())
        drawn = self._generator(0).multinomial(number, cells.counts / number, size=self._draws).astype(np.float64)
        return self._apart(drawn @ cells.left, drawn @ cells.right)

    def _resampled_sums(self, cells: _Cells) -> FloatArray:
        number, rows = cells.counts.sum(), _beside(cells.left, cells.right)
        mean = _total(cells.counts, rows) / number
        spread = _products(rows, cells.counts) - number * np.outer(mean, mean)
        sums = number * mean + _normal(spread, self._draws, self._generator(0))
        # A count of so few that the limit falls below none is none.
        width = cells.left.shape[1]
        floor = [0.0 if part.min() >= 0 else -np.inf for part in (cells.left, cells.right) for _ in range(width)]
        sums = np.maximum(sums, floor)
        return self._apart(sums[:, :width], sums[:, width:])

    def _swapped_units(self, middle: FloatArray, apart: Any, counts: FloatArray) -> FloatArray:
        apart = apart[np.repeat(np.arange(len(counts)), counts.astype(np.int64))]
        parts = []
        for signs in self._signs(apart.shape[0]):
            moved = np.asarray(signs @ apart, dtype=np.float64)
            parts.append(self._apart(middle + moved, middle - moved))
        return np.concatenate(parts)

    def _signs(self, number: int) -> Iterator[FloatArray]:
        """Draw for each unit whether its answers change places: half on one side or the other."""
        rng, height = self._generator(1), max(1, BLOCK // number)
        for start in range(0, self._draws, height):
            rows = min(height, self._draws - start)
            drawn = rng.integers(0, 256, size=(rows, -(-number // 8)), dtype=np.uint8)
            yield np.unpackbits(drawn, axis=1, count=number).astype(np.float64) - 0.5

    @cached_property
    def _units(self) -> list[Any]:
        units, number = units_of(len(self._tallies[0]), self._groups)
        return [by_unit(tally, units, number) for tally in self._tallies]

    @cached_property
    def _resampled_values(self) -> list[FloatArray]:
        """The resampled figure of each system, all from the same units."""
        values: list[list[FloatArray]] = [[] for _ in self._units]
        for weights in resample_weights(self._units[0].shape[0], self._draws, self._generator(0)):
            for position, rows in enumerate(self._units):
                values[position].append(self._value(np.asarray(weights @ rows, dtype=np.float64)))
        return [np.concatenate(parts) for parts in values]


def _cells(first: Tally, second: Tally) -> _Cells | None:
    """Return the outcomes of two systems with their counts; None where there are too many of them."""
    sizes = first.table.shape[0], second.table.shape[0]
    if max(sizes) > SUMMED:
        return None
    codes = first.codes * sizes[1] + second.codes
    if sizes[0] * sizes[1] <= 4 * len(codes):
        counts = np.bincount(codes, minlength=sizes[0] * sizes[1])
        used = np.flatnonzero(counts)
        counts = counts[used]
    else:
        used, counts = np.unique(codes, return_counts=True)
    if len(used) > SUMMED:
        return None
    left, right = np.divmod(used, sizes[1])
    return _Cells(counts.astype(np.float64), _dense(first.table[left]), _dense(second.table[right]))


def _dense(table: Any) -> FloatArray:
    return np.asarray(table.toarray() if scipy.sparse.issparse(table) else table, dtype=np.float64)


def _up_to_sign(apart: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the differences that occur, up to their sign, and how often: changing places changes nothing else."""
    leading = apart[np.arange(len(apart)), (apart != 0).argmax(axis=1)]
    kinds, codes = np.unique(apart * np.where(leading < 0, -1.0, 1.0)[:, None], axis=0, return_inverse=True)
    return kinds, np.bincount(codes.ravel(), weights=counts, minlength=len(kinds)).astype(np.float64)


def _least(rows: Any, counts: FloatArray) -> float:
    """Return to which column the fewest add something, and how many do; of columns that nothing adds to none counts."""
    adding = _total(counts, rows != 0)
    return float(adding[adding > 0].min(initial=np.inf))


def _total(counts: FloatArray, rows: Any) -> FloatArray:
    return np.asarray(counts @ rows, dtype=np.float64).ravel()


def _products(rows: Any, counts: FloatArray) -> FloatArray:
    """Add up the products of the columns, each row so often."""
    if scipy.sparse.issparse(rows):
        return np.asarray((rows.T @ rows.multiply(counts[:, None])).toarray(), dtype=np.float64)
    return np.asarray(rows.T @ (rows * counts[:, None]), dtype=np.float64)


def _normal(spread: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw from the normal distribution around none with the covariance *spread*."""
    values, vectors = np.linalg.eigh(spread)
    scale = vectors * np.sqrt(np.clip(values, 0.0, None))
    return np.asarray(rng.standard_normal((draws, len(values))) @ scale.T, dtype=np.float64)


def _beside(left: Any, right: Any) -> Any:
    if scipy.sparse.issparse(left) or scipy.sparse.issparse(right):
        return scipy.sparse.hstack([left, right]).tocsr()
    return np.hstack([left, right])


def permutation_p(swapped: FloatArray, difference: float) -> float | None:
    """Return how often swapping comes at least as far from none as *difference*, which counts as a draw itself.

    >>> permutation_p(np.array([0.1, -0.2, 0.0]), 0.2)
    0.5
    """
    defined = np.abs(swapped[~np.isnan(swapped)])
    if not len(defined):
        return None
    as_far = np.sum(defined >= abs(difference) * (1 - _TIE) - _TIE * 1e-3)
    return float((1 + as_far) / (1 + len(defined)))
