"""How sharp a figure is that was measured in several sessions of several repeats each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from quintain.stats.bootstrap import FloatArray

CONFIDENCE = 0.95
HALF_WIDTH = 1.96  # of that interval, in standard errors of many values
NORMAL = 1.4826  # the deviation of a normal distribution is so many times its median absolute deviation
MEDIAN = 1.2533  # the error of a median is so many times that of a mean, for many normal values
FEW = 6  # values; of fewer, the median absolute deviation says little


def relative_half(sessions: Sequence[Sequence[float]]) -> float:
    """Return half of the 95 % interval of the median of all values, as a share of it.

    It is what the values within the sessions say or what the sessions' medians say, whichever is more: a process may
    be slow from its start to its end, and a few of them say little of the next, which Student's t allows for. One
    value alone says nothing of its error, which is then taken for the whole.

    >>> relative_half([[100.0, 100.0, 100.0]]), relative_half([[100.0]])
    (0.0, 1.0)
    >>> round(relative_half([[99.0, 100.0, 101.0]]), 4)
    0.0142
    >>> round(relative_half([[99.0, 99.0], [100.0, 100.0], [101.0, 101.0]]), 4)
    0.0248
    """
    values = np.concatenate([np.asarray(session, dtype=float) for session in sessions])
    middle = float(np.median(values))
    if len(values) < 2 or middle <= 0:
        return 1.0
    within = HALF_WIDTH * MEDIAN * _deviation(values) / np.sqrt(len(values))
    medians = np.array([np.median(np.asarray(session)) for session in sessions])
    between = 0.0
    if len(medians) > 1:
        quantile = float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, len(medians) - 1))
        between = quantile * float(medians.std(ddof=1)) / np.sqrt(len(medians))
    return float(min(max(within, between) / middle, 1.0))


def _deviation(values: FloatArray) -> float:
    """Return the standard deviation; of enough values by the median, as a repeat may be disturbed."""
    if len(values) < FEW:
        return float(values.std(ddof=1))
    return NORMAL * float(np.median(np.abs(values - np.median(values))))
