"""Precision, recall and F1 of every class, from a table of right answers against given ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray, IntArray, interval
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
    """Score each class, and give the mean of their F1 over the classes that occur.

    Rows of *counts* are right answers, columns what was said; *unanswered* are those with no usable answer. Precision
    and recall have Wilson's interval, F1 that of resampled tables.
    """
    table = _with_unanswered(counts, unanswered)
    total = int(table.sum())
    size = len(labels)
    right, gold, said = np.diag(table[:, :size]), table.sum(axis=1), table[:, :size].sum(axis=0)
    f1 = _f1(table.astype(np.float64)[None])[0]
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(total, table.ravel() / max(total, 1), size=RESAMPLES) if total else np.zeros((0, 0))
    drawn = _f1(draws.reshape(-1, size, size + 1).astype(np.float64)) if total else np.zeros((0, size))
    scores = [
        ClassScores(
            name=name,
            gold=int(gold[at]),
            said=int(said[at]),
            precision=_share(int(right[at]), int(said[at])),
            recall=_share(int(right[at]), int(gold[at])),
            f1=_figure(f1[at], drawn[:, at]),
        )
        for at, name in enumerate(labels)
    ]
    return scores, _figure(_mean(f1[None])[0], _mean(drawn))


def macro_f1(counts: Sequence[Sequence[int]], unanswered: Sequence[int]) -> float | None:
    """Give the mean F1 of the classes that occur, as `scores_by_class` does, with no interval; None where none does."""
    value = float(_mean(_f1(_with_unanswered(counts, unanswered).astype(np.float64)[None]))[0])
    return None if np.isnan(value) else value


def _with_unanswered(counts: Sequence[Sequence[int]], unanswered: Sequence[int]) -> IntArray:
    return np.column_stack([np.asarray(counts, dtype=np.int64), np.asarray(unanswered, dtype=np.int64)])


def class_f1(classes: tuple[str, ...], label: IntArray, said: IntArray) -> dict[str, float]:
    """Give the model's F1 by class, over the items whose label is a class."""
    known = (label >= 0) & (label < len(classes))
    right, made, there = (
        np.bincount(one[one >= 0], minlength=len(classes))
        for one in (label[known & (label == said)], said[known], label[known])
    )
    return {
        name: float(2 * right[code] / (made[code] + there[code])) if made[code] + there[code] else 0.0
        for code, name in enumerate(classes)
    }


def _f1(tables: FloatArray) -> FloatArray:
    size = tables.shape[1]
    right = np.diagonal(tables[:, :, :size], axis1=1, axis2=2)
    there = tables.sum(axis=2) + tables[:, :, :size].sum(axis=1)
    scores: FloatArray = np.divide(2 * right, there, out=np.full(right.shape, np.nan), where=there > 0)
    return scores


def _mean(values: FloatArray) -> FloatArray:
    defined = ~np.isnan(values)
    there = defined.sum(axis=1)
    sums = np.where(defined, values, 0.0).sum(axis=1)
    means: FloatArray = np.divide(sums, there, out=np.full(len(values), np.nan), where=there > 0)
    return means


def _share(hits: int, total: int) -> Estimate:
    if not total:
        return Estimate(None, reason="it does not occur")
    low, high = wilson(np.array(hits), np.array(total))
    return Estimate(hits / total, float(low), float(high))


def _figure(value: float, drawn: FloatArray) -> Estimate:
    return Estimate(None, reason="it does not occur") if np.isnan(value) else Estimate(float(value), *interval(drawn))
