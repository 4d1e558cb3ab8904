"""Precision, recall and F1 of every class, from a table of right answers against given ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray, IntArray, Prior, Tally
from quintain.stats.posterior import Draws
from quintain.stats.workers import wilson

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class ClassScores:
    """How well one class is told: *gold* examples are of it, and it was *said* so often."""

    name: str
    gold: int
    said: int
    precision: Estimate
    recall: Estimate
    f1: Estimate


def scores_by_class(
    labels: Sequence[str], counts: Sequence[Sequence[int]], unanswered: Sequence[int], *, seed: int = 0
) -> tuple[list[ClassScores], Estimate]:
    """Score each class, and return with them the mean of their F1 over the classes that occur.

    Rows of *counts* are right answers, columns what was said; *unanswered* are those with no usable answer. Precision
    and recall have Wilson's interval, F1 that of the reference posterior, as the metrics have it (`stats.posterior`).
    """
    table = _with_unanswered(counts, unanswered)
    size = len(labels)
    right, gold, predicted = np.diag(table[:, :size]), table.sum(axis=1), table[:, :size].sum(axis=0)
    draws = Draws(_tally(table), seed=seed, resamples=RESAMPLES)
    f1 = draws.estimates(_f1_by_class, lambda _: "it does not occur")
    scores = [
        ClassScores(
            name=name,
            gold=int(gold[at]),
            said=int(predicted[at]),
            precision=_share(int(right[at]), int(predicted[at])),
            recall=_share(int(right[at]), int(gold[at])),
            f1=f1[str(at)],
        )
        for at, name in enumerate(labels)
    ]
    return scores, f1["mean"]


def class_prior(size: int) -> Prior:
    """Return what an example of each class adds, answered rightly, and answered by any of the other classes alike.

    What is added up is right answers, right labels and given answers, of each class.
    """
    own = np.eye(size)
    others = (1 - own) / max(size - 1, 1)
    best, worst = np.hstack([own, own, own]), np.hstack([np.zeros_like(own), own, others])
    return Prior(best, worst, lambda totals: _accuracy(totals, size))


def _accuracy(totals: FloatArray, size: int) -> FloatArray:
    right, gold = totals[..., :size].sum(axis=-1), totals[..., size : 2 * size].sum(axis=-1)
    shares: FloatArray = np.divide(right, gold, out=np.full(np.shape(gold), np.nan), where=gold > 0)
    return shares


def _tally(table: IntArray) -> Tally:
    """Return the tally of a confusion matrix (its last column: unanswered): right, gold and said of each class."""
    size = len(table)
    rows, columns = np.nonzero(table)
    cells = np.zeros((len(rows), 3 * size))
    number, answered = np.arange(len(rows)), columns < size
    cells[number, rows] = rows == columns
    cells[number, size + rows] = 1.0
    cells[number[answered], 2 * size + columns[answered]] = 1.0
    return Tally(np.repeat(number, table[rows, columns]), cells, class_prior(size))


def _f1_by_class(totals: FloatArray) -> dict[str, FloatArray]:
    """Return the F1 of each class by its number, and their mean, from totals of right, gold and said (last axis)."""
    right, gold, predicted = np.split(totals, 3, axis=-1)
    f1 = _f1_of(right, gold + predicted)
    return {**{str(at): f1[..., at] for at in range(f1.shape[-1])}, "mean": _mean(f1)}


def macro_f1(counts: Sequence[Sequence[int]], unanswered: Sequence[int]) -> float | None:
    """Return the mean F1 of the classes that occur, as in `scores_by_class`; None where none does."""
    table = _with_unanswered(counts, unanswered)
    size = len(table)
    value = float(_mean(_f1_of(np.diag(table[:, :size]), table.sum(axis=1) + table[:, :size].sum(axis=0))))
    return None if np.isnan(value) else value


def _with_unanswered(counts: Sequence[Sequence[int]], unanswered: Sequence[int]) -> IntArray:
    return np.column_stack([np.asarray(counts, dtype=np.int64), np.asarray(unanswered, dtype=np.int64)])


def class_f1(classes: tuple[str, ...], label: IntArray, predicted: IntArray) -> dict[str, float]:
    """Return the model's F1 by class, over the items whose label is a class."""
    known = (label >= 0) & (label < len(classes))
    right, answered, gold = (
        np.bincount(one[one >= 0], minlength=len(classes))
        for one in (label[known & (label == predicted)], predicted[known], label[known])
    )
    return {
        name: float(2 * right[code] / (answered[code] + gold[code])) if answered[code] + gold[code] else 0.0
        for code, name in enumerate(classes)
    }


def _f1_of(right: IntArray | FloatArray, occurrences: IntArray | FloatArray) -> FloatArray:
    """Return F1; *occurrences* counts a class as label and as answer. NaN for a class that does not occur."""
    scores: FloatArray = np.divide(
        2.0 * right, occurrences, out=np.full(np.shape(right), np.nan), where=occurrences > 0
    )
    return scores


def _mean(values: FloatArray) -> FloatArray:
    defined = ~np.isnan(values)
    number = defined.sum(axis=-1)
    sums = np.where(defined, values, 0.0).sum(axis=-1)
    means: FloatArray = np.divide(sums, number, out=np.full(np.shape(number), np.nan), where=number > 0)
    return means


def _share(hits: int, total: int) -> Estimate:
    if not total:
        return Estimate(None, reason="it does not occur")
    low, high = wilson(np.array(hits), np.array(total))
    return Estimate(hits / total, float(low), float(high))
