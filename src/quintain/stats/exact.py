"""Exact tests of counts, where the normal limit finds what is not there: among rare things, counts are one or two."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import FloatArray


def at_least(hits: npt.ArrayLike, size: npt.ArrayLike, marked: npt.ArrayLike, whole: npt.ArrayLike) -> FloatArray:
    """Return how probable *hits* or more are in a part of this *size*, of a *whole* with so many *marked*.

    It is Fisher's exact test, one-sided.

    >>> float(at_least(2, 10, 4, 100).round(4))
    0.0488
    """
    counts = (np.asarray(count, dtype=np.float64) for count in (hits, whole, marked, size))
    hits, whole, marked, size = counts
    return np.asarray(scipy.stats.hypergeom.sf(hits - 1, whole, marked, size), dtype=np.float64)


def at_most(hits: npt.ArrayLike, size: npt.ArrayLike, marked: npt.ArrayLike, whole: npt.ArrayLike) -> FloatArray:
    """Return how probable *hits* or fewer are; see `at_least`."""
    counts = (np.asarray(count, dtype=np.float64) for count in (hits, whole, marked, size))
    hits, whole, marked, size = counts
    return np.asarray(scipy.stats.hypergeom.cdf(hits, whole, marked, size), dtype=np.float64)


def share_interval(hits: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of *hits* in *total*, which holds at any count; 0 to 1 of nothing.

    >>> [round(end, 4) for end in share_interval(0, 412)], share_interval(0, 0)
    ([0.0, 0.0089], (0.0, 1.0))
    """
    tail = (1 - confidence) / 2
    low = float(scipy.stats.beta.ppf(tail, hits, total - hits + 1)) if hits else 0.0
    high = float(scipy.stats.beta.isf(tail, hits + 1, total - hits)) if hits < total else 1.0
    return low, high
