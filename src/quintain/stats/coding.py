"""Shares of hand-coded categories with intervals, how far coders agree, and how arms differ.

Every item weighs alike, however many people coded it: what an item adds to a share is the part of its coders who said
so. Intervals are Wilson's over items. They hold for items that are either in a category or not; between the two an item
varies less, so that the intervals are, if anything, too wide. The interval of a difference is Newcombe's (1998).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from quintain.core.records.figures import Estimate
from quintain.stats.agreement import agreement_of_counts
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.workers import wilson

MOST_PAIRED_ARMS = 6  # beyond these, pairs of arms are too many to read
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Codes:
    """What was said: a row of *said* (codes × categories) for each code, the *item* it is of; items have *arms*."""

    said: BoolArray
    item: IntArray
    arms: IntArray

    @property
    def votes(self) -> IntArray:
        """How many said each category of each item (items × categories)."""
        counts = np.zeros((len(self.arms), self.said.shape[1]), dtype=np.int64)
        np.add.at(counts, self.item, self.said.astype(np.int64))
        return counts

    @property
    def sizes(self) -> IntArray:
        """How many coded each item."""
        return np.bincount(self.item, minlength=len(self.arms)).astype(np.int64)


def share_of(parts: FloatArray) -> Estimate:
    """Return the mean of *parts*, one per item between 0 and 1, with Wilson's interval over items.

    >>> share_of(np.array([1.0, 0.5, 0.0, 0.0])).value
    0.375
    """
    if not len(parts):
        return Estimate(None, reason="nothing was coded")
    low, high = wilson(parts.sum(), np.array(len(parts)))
    return Estimate(float(parts.mean()), float(low), float(high))


def difference_of(first: Estimate, second: Estimate) -> Estimate:
    """Return how much larger *first* is than *second*, with Newcombe's interval from theirs.

    >>> round(difference_of(share_of(np.ones(20)), share_of(np.zeros(20))).low or 0.0, 2)
    0.77
    """
    if None in (first.value, first.low, first.high, second.value, second.low, second.high):
        return Estimate(None, reason="one of the two has no items")
    left, right = np.array([first.value, first.low, first.high]), np.array([second.value, second.low, second.high])
    value = left[0] - right[0]
    down = np.hypot(left[0] - left[1], right[2] - right[0])
    up = np.hypot(left[2] - left[0], right[0] - right[1])
    return Estimate(float(value), float(max(value - down, -1.0)), float(min(value + up, 1.0)))


def agreement_on(codes: Codes, category: int, *, seed: int = 0) -> Estimate:
    """Estimate Krippendorff's α of one category: said, or not."""
    votes = codes.votes[:, category]
    return agreement_of_counts(np.column_stack([codes.sizes - votes, votes]), seed=seed)["krippendorff_alpha"]


def agreement_on_all(codes: Codes, *, seed: int = 0) -> tuple[Estimate, Estimate]:
    """Estimate Krippendorff's α and the share of pairs that agree, of all that is said of an item at once."""
    weights = 1 << np.arange(codes.said.shape[1], dtype=np.int64)
    _, kinds = np.unique(codes.said.astype(np.int64) @ weights, return_inverse=True)
    counts = np.zeros((len(codes.arms), int(kinds.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(counts, (codes.item, kinds), 1)
    statistics = agreement_of_counts(counts, seed=seed)
    return statistics["krippendorff_alpha"], statistics["percent_agreement"]


def arm_shares(codes: Codes, arms: int) -> list[list[Estimate]]:
    """Return the share of every category in each of the *arms*."""
    parts = codes.votes / np.maximum(codes.sizes, 1)[:, None]
    return [[share_of(parts[codes.arms == arm, category]) for category in range(parts.shape[1])] for arm in range(arms)]


def arm_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """List the pairs of arms that are set against each other: all, where they are few."""
    return list(combinations(range(len(names)), 2)) if len(names) <= MOST_PAIRED_ARMS else []
