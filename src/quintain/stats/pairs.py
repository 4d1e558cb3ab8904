"""Cohen's κ for each pair of workers, over the items that both judged; weighted where labels have an order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray, IntArray, interval
from quintain.stats.judgements import Judgements


@dataclass(frozen=True, slots=True)
class WorkerPair:
    """Two workers (codes), how many items both judged, and how much they agree beyond chance.

    *weighted* is κ with quadratic weights, where the labels have values.
    """

    first: int
    second: int
    items: int
    kappa: Estimate
    weighted: Estimate | None = None


def cohen_kappa(tables: FloatArray) -> FloatArray:
    """Return Cohen's κ of square tables of counts (last two axes); NaN where no disagreement could be expected.

    >>> round(float(cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))), 3)
    0.4
    """
    total = tables.sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(tables, axis1=-2, axis2=-1) / total
        chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / (total * total)
        room = np.where(1 - chance <= 1e-12, np.nan, 1 - chance)
        return np.asarray((observed - chance) / room, dtype=np.float64)


def weighted_kappa(tables: FloatArray, values: FloatArray) -> FloatArray:
    """Return κ with quadratic weights: labels whose *values* are twice as far apart disagree four times as much.

    >>> table = np.array([[8.0, 2.0, 0.0], [1.0, 6.0, 2.0], [1.0, 1.0, 9.0]])
    >>> round(float(weighted_kappa(table, np.array([0.0, 1.0, 2.0]))), 3)
    0.762
    """
    apart = (values[:, None] - values[None, :]) ** 2
    total = tables.sum(axis=(-2, -1))
    observed = (tables * apart).sum(axis=(-2, -1)) * total
    by_chance = tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :]
    expected = (by_chance * apart).sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - observed / np.where(expected > 0, expected, np.nan), dtype=np.float64)


def pair_kappas(
    judgements: Judgements,
    *,
    values: FloatArray | None = None,
    most: int | None = None,
    least_items: int = 2,
    seed: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> list[WorkerPair]:
    """Return Cohen's κ of the pairs of workers with the most items in common: *most* of them, or all.

    Its interval is from the reference posterior of the pair's table. With *values* of the classes (ranks, or numbers)
    each pair has its weighted κ, too.
    """
    left, right = judgement_pairs(judgements)
    workers, classes = len(judgements.workers), len(judgements.classes)
    key = judgements.worker[left] * workers + judgements.worker[right]
    keys, codes, shared = np.unique(key, return_inverse=True, return_counts=True)
    ranked = np.lexsort((keys, -shared))
    chosen = ranked[shared[ranked] >= least_items][:most]
    position = np.full(len(keys), -1, dtype=np.int64)
    position[chosen] = np.arange(len(chosen))
    spot = position[codes]
    in_chosen = spot >= 0
    cell = (spot[in_chosen] * classes + judgements.label[left[in_chosen]]) * classes + judgements.label[
        right[in_chosen]
    ]
    tables = np.bincount(cell, minlength=len(chosen) * classes * classes).reshape(-1, classes, classes)
    rng = np.random.default_rng(seed)
    return [
        WorkerPair(
            int(keys[row]) // workers,
            int(keys[row]) % workers,
            int(shared[row]),
            *_estimates(tables[spot_], values, rng, resamples, confidence),
        )
        for spot_, row in enumerate(chosen.tolist())
    ]


def _estimates(
    table: IntArray, values: FloatArray | None, rng: np.random.Generator, resamples: int, confidence: float
) -> tuple[Estimate, Estimate | None]:
    """Estimate κ and, where the classes have *values*, the weighted κ, both from the same draws."""
    used = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
    counts = table[np.ix_(used, used)].astype(np.float64)
    figure = float(cohen_kappa(counts))
    drawn = None if np.isnan(figure) or not resamples else _drawn_tables(table, used, rng, resamples)
    plain = _estimate(figure, None if drawn is None else cohen_kappa(drawn), confidence)
    if values is None:
        return plain, None
    by_distance = None if drawn is None else weighted_kappa(drawn, values[used])
    return plain, _estimate(float(weighted_kappa(counts, values[used])), by_distance, confidence)


def _drawn_tables(table: IntArray, used: IntArray, rng: np.random.Generator, resamples: int) -> FloatArray:
    share = (table.sum(axis=0) + table.sum(axis=1))[used] / (2 * table.sum())
    # One more item that is as likely agreed upon as not, by labels as frequent as they are (see `stats.posterior`).
    right = rng.beta(0.5, 0.5, size=resamples)[:, None, None]
    apart = share[:, None] * share[None, :] * (1 - np.eye(len(used)))
    apart = apart / apart.sum() if apart.sum() else apart
    more = rng.standard_exponential(resamples)[:, None, None] * (right * np.diag(share) + (1 - right) * apart)
    return np.asarray(rng.standard_gamma(table[np.ix_(used, used)], size=(resamples, len(used), len(used))) + more)


def _estimate(value: float, drawn: FloatArray | None, confidence: float) -> Estimate:
    if np.isnan(value):
        return Estimate(None, reason="both gave every item the same label")
    if drawn is None:
        return Estimate(value)
    low, high = interval(drawn, confidence)
    return Estimate(value, min(value if low is None else low, value), max(value if high is None else high, value))


def judgement_pairs(judgements: Judgements) -> tuple[IntArray, IntArray]:
    """Return all pairs of judgements of one item, as two arrays of positions; the left one comes first."""
    sizes = judgements.sizes()
    ends = np.cumsum(sizes)
    position = np.arange(len(judgements))
    after = np.repeat(ends, sizes) - position - 1
    left = np.repeat(position, after)
    begin = np.cumsum(after) - after
    right = left + 1 + np.arange(len(left)) - np.repeat(begin, after)
    return left, right
