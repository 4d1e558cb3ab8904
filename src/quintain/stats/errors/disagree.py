"""What two models disagree on: who is right how often, whether that is chance, and in which slices one is better."""

from __future__ import annotations

import math

import numpy as np
import scipy

from quintain.core.records.figures import Estimate
from quintain.core.records.study import ModelPair
from quintain.stats.bootstrap import FloatArray
from quintain.stats.errors.slices import SliceCandidates, rows_of
from quintain.stats.multiplicity import step_up
from quintain.stats.workers import wilson_share

LEAST_PARTED = 6  # examples of a slice on which exactly one model is right


def pair_of(first: FloatArray, second: FloatArray, same: FloatArray) -> ModelPair:
    """Count who is right, and test whether one is better (McNemar, exact); *same* is where they say the same.

    >>> pair_of(np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 0, 1]), np.array([1.0, 0, 1, 0])).only_first
    1
    """
    first_right, second_right = first > 0, second > 0
    only_first, only_second = int((first_right & ~second_right).sum()), int((~first_right & second_right).sum())
    neither = ~first_right & ~second_right
    return ModelPair(
        len(first),
        int((first_right & second_right).sum()),
        only_first,
        only_second,
        int((neither & (same > 0)).sum()),
        int((neither & (same <= 0)).sum()),
        wilson_share(int((same > 0).sum()), len(same)),
        _difference(only_first, only_second, len(first)),
        mcnemar(only_first, only_second),
    )


def mcnemar(first: int, second: int) -> float:
    """Return the exact p of the test that two models are right alone equally often.

    >>> round(mcnemar(1, 9), 4)
    0.0215
    """
    total, fewer = first + second, min(first, second)
    if not total:
        return 1.0
    return float(min(1.0, 2 * scipy.special.bdtr(fewer, total, 0.5)))


def parted_slices(
    slices: SliceCandidates, first: FloatArray, second: FloatArray, *, rate: float = 0.05, most: int = 10
) -> list[tuple[str, str, int, int, int, float]]:
    """Return the slices in which one model is better than elsewhere: kind, name, size, each alone right, p."""
    if not slices.name:
        return []
    alone_first = np.asarray(((first > 0) & ~(second > 0)).astype(float) @ slices.rows).ravel()
    alone_second = np.asarray((~(first > 0) & (second > 0)).astype(float) @ slices.rows).ravel()
    looked = np.flatnonzero(alone_first + alone_second >= LEAST_PARTED)
    p = np.array([mcnemar(int(alone_first[at]), int(alone_second[at])) for at in looked.tolist()])
    stands = step_up(p, rate)
    order = [int(looked[at]) for at in np.argsort(p, kind="stable").tolist() if stands[at]]
    value = dict(zip(looked.tolist(), p.tolist(), strict=True))
    return [
        (
            slices.kind[at],
            slices.name[at],
            len(rows_of(slices, at)),
            int(alone_first[at]),
            int(alone_second[at]),
            value[at],
        )
        for at in order[:most]
    ]


def _difference(first: int, second: int, examples: int) -> Estimate:
    """Return the difference of two shares of the same *examples*, of which so many are right for one alone.

    The interval is that of Agresti and Min (2005): with half an example more of each outcome, so that two models that
    never differed, or always, may yet do otherwise.
    """
    if not examples:
        return Estimate(None, reason="there are no examples")
    value, more = (first - second) / examples, examples + 2
    middle = (first - second) / more
    half = float(scipy.special.ndtri(0.975)) * math.sqrt((first + second + 1) / more - middle**2) / math.sqrt(more)
    return Estimate(value, max(min(middle - half, value), -1.0), min(max(middle + half, value), 1.0))
