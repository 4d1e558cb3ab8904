"""Many tests at once: which of them stand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from quintain.stats.bootstrap import FloatArray


def step_up(p: FloatArray, rate: float = 0.05, tests: int | None = None) -> npt.NDArray[np.bool_]:
    """Return which tests stand so that at most *rate* of them are false on average (Benjamini, Hochberg 1995).

    *tests* is how many were made, where *p* has only the smallest.

    >>> step_up(np.array([0.001, 0.02, 0.9, 0.03])).tolist()
    [True, True, False, True]
    """
    n = len(p)
    if not n:
        return np.zeros(0, dtype=bool)
    order = np.argsort(p, kind="stable")
    below = p[order] <= rate * np.arange(1, n + 1) / (tests or n)
    stands = np.zeros(n, dtype=bool)
    if below.any():
        stands[order[: int(np.flatnonzero(below)[-1]) + 1]] = True
    return stands
