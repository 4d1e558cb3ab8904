"""L-BFGS for many weights and no bounds: two loops over the last few steps, and a step length that is halved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quintain.stats.bootstrap import FloatArray

KEPT = 6
HALVINGS = 12
ENOUGH = 1e-4  # of what the slope promises


def descend(
    loss: Callable[[FloatArray], tuple[float, FloatArray]],
    start: FloatArray,
    *,
    turns: int = 40,
    tolerance: float = 1e-6,
) -> FloatArray:
    """Go down a convex *loss*, which gives its value and slope, until a turn gains next to nothing.

    >>> descend(lambda x: (float((x - 3) @ (x - 3)), 2 * (x - 3)), np.zeros(2)).round(3).tolist()
    [3.0, 3.0]
    """
    point, (value, slope) = start, loss(start)
    steps: list[tuple[FloatArray, FloatArray, float]] = []
    for turn in range(turns):
        way = _direction(slope, steps)
        promised = _dot(way, slope)
        length = 1.0 if turn else min(1.0, 1.0 / max(float(np.abs(slope).sum()), 1e-12))
        for _ in range(HALVINGS):
            after, after_slope = loss(point + length * way)
            if after <= value + ENOUGH * length * promised:
                break
            length /= 2
        else:
            return point
        moved, turned = length * way, after_slope - slope
        curve = _dot(moved, turned)
        if curve > 1e-14:
            steps = [*steps[-KEPT + 1 :], (moved, turned, curve)]
        gained = value - after
        point, value, slope = point + moved, after, after_slope
        if turn > 2 and gained <= tolerance * max(abs(value), 1.0):
            break
    return point


def _direction(slope: FloatArray, steps: list[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    way, shares = -slope, []
    for moved, turned, curve in reversed(steps):
        share = _dot(moved, way) / curve
        shares.append(share)
        way = way - share * turned
    if steps:
        _, turned, curve = steps[-1]
        way = way * (curve / _dot(turned, turned))
    for (moved, turned, curve), share in zip(steps, reversed(shares), strict=True):
        way = way + (share - _dot(turned, way) / curve) * moved
    return way


def _dot(left: FloatArray, right: FloatArray) -> float:
    """Multiply two vectors in this thread: waking others for it takes longer where the processors are busy."""
    return float(np.einsum("i,i->", left, right))
