"""Two samples without a shape assumed: medians with exact intervals, and how often one is above the other."""

from __future__ import annotations

import numpy as np
import scipy

from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray
from quintain.stats.workers import wilson


def median_interval(values: FloatArray, confidence: float = 0.95) -> Estimate:
    """Return the median with its interval by order statistics, which holds whatever the distribution is.

    >>> median_interval(np.arange(1.0, 102.0))
    Estimate(value=51.0, low=41.0, high=61.0, reason=None)
    """
    n = len(values)
    if not n:
        return Estimate(None, reason="there are no values")
    ordered = np.sort(values)
    below = int(np.ceil(scipy.special.bdtrik((1 - confidence) / 2, n, 0.5)))
    if below < 1:
        return Estimate(float(np.median(values)), reason="too few values for an interval")
    return Estimate(float(np.median(values)), float(ordered[below - 1]), float(ordered[n - below]))


def superiority(first: FloatArray, second: FloatArray, confidence: float = 0.95) -> Estimate:
    """Estimate how often a value of *first* is above one of *second*, ties counting half; 0.5 is no difference.

    The variance is that of Brunner and Munzel (2000), which does not take the spreads to be the same; the interval is
    found on the logit, so that it stays between 0 and 1. Where all pairs say the same, it is Wilson's for as many pairs
    as can be formed without using a value twice.

    >>> superiority(np.array([3.0, 4.0, 5.0]), np.array([1.0, 2.0, 4.0])).value
    0.8333333333333334
    """
    n, m = len(first), len(second)
    if n < 2 or m < 2:
        return Estimate(None, reason="fewer than two values on one side")
    both = _ranks(np.concatenate([first, second]))
    own_first, own_second = _ranks(first), _ranks(second)
    share = float((both[:n].mean() - (n + 1) / 2) / m)
    spread_first = (both[:n] - own_first).var(ddof=1) / m**2
    spread_second = (both[n:] - own_second).var(ddof=1) / n**2
    error = float(np.sqrt(spread_first / n + spread_second / m))
    if error == 0 or not 0 < share < 1:
        pairs = min(n, m)
        ends = wilson(np.array(round(share * pairs)), np.array(pairs), confidence)
        return Estimate(share, float(ends[0]), float(ends[1]))
    half = float(scipy.special.ndtri(0.5 + confidence / 2)) * error / (share * (1 - share))
    centre = float(scipy.special.logit(share))
    low, high = scipy.special.expit([centre - half, centre + half])
    return Estimate(share, float(low), float(high))


def _ranks(values: FloatArray) -> FloatArray:
    """Rank values from 1 on; those that are the same share their mean rank."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[codes], dtype=np.float64)


def standardised_difference(first: FloatArray, second: FloatArray, confidence: float = 0.95) -> Estimate:
    """Return the difference of two means in standard deviations of both (Hedges's g), with its interval.

    >>> round(standardised_difference(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])).value, 3)
    0.8
    """
    n, m = len(first), len(second)
    if n < 2 or m < 2:
        return Estimate(None, reason="fewer than two values on one side")
    pooled = ((n - 1) * first.var(ddof=1) + (m - 1) * second.var(ddof=1)) / (n + m - 2)
    if pooled <= 0:
        return Estimate(None, reason="all values of a side are the same")
    small = 1 - 3 / (4 * (n + m - 2) - 1)  # takes the bias of small samples out
    value = float((first.mean() - second.mean()) / np.sqrt(pooled) * small)
    error = float(np.sqrt((n + m) / (n * m) + value**2 / (2 * (n + m))))
    half = float(scipy.special.ndtri(0.5 + confidence / 2)) * error
    return Estimate(value, value - half, value + half)


def brunner_munzel(first: FloatArray, second: FloatArray) -> float | None:
    """Return the p of the test that neither side tends to larger values (Brunner, Munzel 2000); None for too few.

    >>> brunner_munzel(np.arange(20.0), np.arange(20.0)) == 1.0
    True
    """
    n, m = len(first), len(second)
    if n < 2 or m < 2:
        return None
    both = _ranks(np.concatenate([first, second]))
    apart = both[:n].mean() - both[n:].mean()
    spread_first = float((both[:n] - _ranks(first)).var(ddof=1)) * n
    spread_second = float((both[n:] - _ranks(second)).var(ddof=1)) * m
    if spread_first + spread_second <= 0:
        return 1.0 if apart == 0 else 0.0
    statistic = n * m * apart / ((n + m) * np.sqrt(spread_first + spread_second))
    freedom = (spread_first + spread_second) ** 2 / (spread_first**2 / (n - 1) + spread_second**2 / (m - 1))
    return float(2 * scipy.special.stdtr(freedom, -abs(statistic)))
