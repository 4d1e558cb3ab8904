"""Tests of two models on the same examples, and how many more examples would tell them apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from quintain.core.errors import BadInput
from quintain.core.records.evaluate import McNemar
from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray, IntArray

EVEN = 1e-9  # what two sums of the same numbers in another order may differ by


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean difference with its interval, and the two-sided bootstrap p-value of there being none."""

    difference: Estimate
    p_value: float


@dataclass(frozen=True, slots=True)
class Separation:
    """How many examples (or groups) tell two models apart: *needed* in all, *more* than there are.

    Both are None where the models do not differ on the examples at hand.
    """

    difference: float
    needed: int | None
    more: int | None


def _pair(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    left, right = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if left.shape != right.shape or left.ndim != 1 or len(left) == 0:
        raise BadInput("Two models are compared on the same examples, and at least on one.")
    return left, right


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike) -> McNemar:
    """Test whether two models are right equally often, from the examples on which one is right and the other not.

    >>> mcnemar([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]).p_value
    0.0625
    """
    first_right, second_right = (side > 0.5 for side in _pair(first, second))
    first_only, second_only = int((first_right & ~second_right).sum()), int((second_right & ~first_right).sum())
    apart = first_only + second_only
    # Under no difference, which of the two is right is a fair coin.
    p_value = min(1.0, 2 * float(scipy.special.bdtr(min(first_only, second_only), apart, 0.5))) if apart else 1.0
    return McNemar(first_only, second_only, p_value)


def examples_to_separate(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: IntArray | None = None,
    confidence: float = 0.95,
    power: float = 0.8,
) -> Separation:
    """Return how many examples would show the present difference, if it is the true one, by chance *power*.

    By the normal approximation to the paired difference. With *groups* the spread is that between groups, and the
    number is still of examples, in groups of the present mean size.
    """
    left, right = _pair(first, second)
    difference = float((left - right).mean())
    deviations = (left - right) - difference
    if groups is not None:
        _, codes = np.unique(groups, return_inverse=True)
        deviations = np.asarray(np.bincount(codes, weights=deviations), dtype=np.float64)
    # Variance of one example's share in the mean: sums over groups add up to what independent examples would.
    variance = float((deviations**2).sum()) / len(left)
    return separation_of(difference, math.sqrt(variance / len(left)), len(left), confidence=confidence, power=power)


def separation_of(
    difference: float, error: float, examples: int, *, confidence: float = 0.95, power: float = 0.8
) -> Separation:
    """Return how many examples would show a *difference* of any figure, whose standard error is *error* on *examples*.

    >>> separation_of(0.02, 0.01, 1000).needed
    1963
    """
    if abs(difference) < EVEN:
        return Separation(0.0, None, None)
    reach = float(scipy.special.ndtri(1 - (1 - confidence) / 2) + scipy.special.ndtri(power))
    needed = max(1, math.ceil(reach**2 * error**2 * examples / difference**2 - EVEN))
    return Separation(difference, needed, max(0, needed - examples))
