"""Estimates with intervals, by resampling what the examples add up to.

Most metrics are a function of sums over examples: of a confusion matrix, of scores and their count, of n-gram
matches. A `Tally` keeps those sums apart by example, so that one resampling serves every metric made from them, and a
hundred thousand examples that fall into nine cells cost nine numbers per resample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

# From so many different rows on, sums are drawn from their normal limit: the intervals are the same, in no time.
MANY = 20_000
# Numbers held at once while resampling example by example: 16 MB of weights.
BLOCK = 2_000_000


@dataclass(frozen=True, slots=True)
class Prior:
    """What one example adds at its *best* and at its *worst*, a row for each class; for figures from few examples.

    *share* gives from totals how often examples are at their best, where there are several classes.
    """

    best: FloatArray
    worst: FloatArray
    share: Callable[[FloatArray], FloatArray] | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """What each example adds: example i adds row *codes[i]* of *table* (dense or sparse)."""

    codes: IntArray
    table: Any
    prior: Prior | None = None

    @classmethod
    def of_rows(cls, table: Any, prior: Prior | None = None) -> Tally:
        """Make the tally in which example i adds row i."""
        return cls(np.arange(table.shape[0]), table, prior)

    @classmethod
    def of_scores(cls, scores: FloatArray, bounds: tuple[float, float] | None = None) -> Tally:
        """Make the tally of a mean: each example adds its score, and 1 to the count; *bounds* are of the scores."""
        values, codes = np.unique(scores, return_inverse=True)
        ends = None if bounds is None else Prior(np.array([[bounds[1], 1.0]]), np.array([[bounds[0], 1.0]]))
        return cls(codes.astype(np.int64), np.column_stack([values, np.ones(len(values))]), ends)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: IntArray) -> Tally:
        """Keep the examples at *rows*."""
        return Tally(self.codes[rows], self.table, self.prior)

    def totals(self) -> FloatArray:
        """Add up all examples."""
        counts = np.bincount(self.codes, minlength=self.table.shape[0]).astype(np.float64)
        return np.asarray(counts @ self.table, dtype=np.float64)

    def resampled(self, resamples: int, rng: np.random.Generator, groups: IntArray | None = None) -> FloatArray:
        """Add up *resamples* samples with replacement, one row each; whole *groups* are drawn where given."""
        if groups is not None:
            return _resample_rows(_group_totals(self, groups), resamples, rng)
        counts = np.bincount(self.codes, minlength=self.table.shape[0])
        used = np.flatnonzero(counts)
        if len(used) > len(self.codes) / 4:
            return _resample_rows(self.table, resamples, rng, self.codes)
        drawn = rng.multinomial(len(self.codes), counts[used] / len(self.codes), size=resamples)
        return np.asarray(drawn.astype(np.float64) @ self.table[used], dtype=np.float64)


def _group_totals(tally: Tally, groups: IntArray) -> Any:
    _, codes = np.unique(groups, return_inverse=True)
    shape = (int(codes.max()) + 1, tally.table.shape[0])
    cells = scipy.sparse.coo_array((np.ones(len(codes)), (codes, tally.codes)), shape=shape).tocsr()
    return cells @ tally.table


def _resample_rows(table: Any, resamples: int, rng: np.random.Generator, codes: IntArray | None = None) -> FloatArray:
    rows = table if codes is None else table[codes]
    if rows.shape[0] >= MANY:
        return _normal_sums(rows, resamples, rng)
    blocks = [weights @ rows for weights in resample_weights(rows.shape[0], resamples, rng)]
    return np.concatenate([np.asarray(block, dtype=np.float64) for block in blocks])


def _normal_sums(rows: Any, resamples: int, rng: np.random.Generator) -> FloatArray:
    """Draw sums of resampled rows from the normal distribution with their mean and covariance."""
    n = rows.shape[0]
    mean = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    product = rows.T @ rows
    second = np.asarray(product.toarray() if scipy.sparse.issparse(product) else product, dtype=np.float64) / n
    values, vectors = np.linalg.eigh(second - np.outer(mean, mean))
    spread = vectors * np.sqrt(np.clip(values, 0.0, None) * n)
    return np.asarray(n * mean + rng.standard_normal((resamples, len(mean))) @ spread.T, dtype=np.float64)


def resample_weights(n: int, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Draw how often each of *n* examples is in each resample: blocks of a (resamples × n) matrix."""
    height = max(1, BLOCK // max(n, 1))
    for start in range(0, resamples, height):
        rows = min(height, resamples - start)
        drawn = rng.integers(0, n, size=(rows, n))
        drawn += np.arange(rows)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def interval(samples: FloatArray, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Return the percentile interval of *samples* without undefined ones; past one half there is none."""
    defined = samples[~np.isnan(samples)]
    if len(defined) == 0 or len(defined) < len(samples) / 2:
        return None, None
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)
