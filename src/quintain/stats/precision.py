"""How sharp a figure is that was measured in several sessions of several repeats each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quintain.stats.bootstrap import FloatArray

HALF_WIDTH = 1.96  # of a 95 % interval, in standard errors
NORMAL = 1.4826  # the deviation of a normal distribution is so many times its median absolute deviation
MEDIAN = 1.2533  # the error of a median is so many times that of a mean, for many normal values
FEW = 6  # values; of fewer, the median absolute deviation says little


def relative_error(sessions: Sequence[Sequence[float]]) -> float:
    """Give the standard error of the median of all values, as a share of it.

    It is what the values within the sessions say or what the sessions' medians say, whichever is more: a process may
    be slow from its start to its end. One value alone says nothing of its error, which is then taken for the whole.

    >>> relative_error([[100.0, 100.0, 100.0]]), relative_error([[100.0]])
    (0.0, 1.0)
    >>> round(relative_error([[99.0, 100.0, 101.0]]), 4)
    0.0072
    """
    values = np.concatenate([np.asarray(session, dtype=float) for session in sessions])
    middle = float(np.median(values))
    if len(values) < 2 or middle <= 0:
        return 1.0
    within = MEDIAN * _deviation(values) / np.sqrt(len(values))
    medians = np.array([np.median(np.asarray(session)) for session in sessions])
    between = float(medians.std(ddof=1)) / np.sqrt(len(medians)) if len(medians) > 1 else 0.0
    return float(min(max(within, between) / middle, 1.0))


def _deviation(values: FloatArray) -> float:
    """Give the standard deviation, from the median of deviations where there are enough: a repeat may be disturbed."""
    if len(values) < FEW:
        return float(values.std(ddof=1))
    return NORMAL * float(np.median(np.abs(values - np.median(values))))
