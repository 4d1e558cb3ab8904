"""What the judgements say about each worker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import Judgements
from quintain.stats.one_coin import fit_one_coin

# A pattern needs so many judgements before it is worth a look.
LEAST_JUDGEMENTS = 10
SAME_SHARE = 0.95
FAST_SHARE = 1 / 3
FAST_SECONDS = 1.0  # nobody reads an item and decides in less, however fast the others are


@dataclass(frozen=True, slots=True)
class WorkerTable:
    """One entry per worker, in the order of their codes; NaN where a figure is undefined.

    *agreement* is with the majority of the others on the same item, over *compared* judgements of which *agreed*
    agree; *accuracy* is that of the one-coin model, with the 95 % interval of its posterior.
    """

    judgements: IntArray
    compared: IntArray
    agreed: IntArray
    agreement: FloatArray
    agreement_low: FloatArray
    agreement_high: FloatArray
    accuracy: FloatArray
    accuracy_low: FloatArray
    accuracy_high: FloatArray
    top_share: FloatArray
    patterns: tuple[tuple[str, ...], ...]
    median_time: FloatArray | None = None


def wilson(
    hits: IntArray | FloatArray, total: IntArray | FloatArray, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's interval of *hits* in *total*; NaN where there is none.

    >>> [round(float(side), 3) for side in wilson(np.array(8), np.array(10))]
    [0.49, 0.943]
    """
    z = float(scipy.special.ndtri(0.5 + confidence / 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = hits / total
        centre = (share + z * z / (2 * total)) / (1 + z * z / total)
        half = z / (1 + z * z / total) * np.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
        # At no hits the lower end is 0, at all hits the upper end 1: rounding must not move them.
        low = np.where(hits == 0, 0.0, np.clip(centre - half, 0, 1))
        high = np.where(hits == total, 1.0, np.clip(centre + half, 0, 1))
    undefined = total == 0
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def wilson_share(hits: float, total: float) -> Estimate:
    """Return the share of *hits* in *total* with Wilson's interval; both may be means of counts.

    >>> wilson_share(8, 10).value
    0.8
    """
    if not total:
        return Estimate(None, reason="nothing was collected")
    low, high = wilson(np.array(hits), np.array(total))
    return Estimate(hits / total, float(low), float(high))


def validated_share(hits: int, validated: int, collected: int) -> Estimate:
    """Return the share of *hits* in all that was *collected*; none before anything is validated.

    >>> validated_share(0, 0, 40).reason
    'no item has a validated label yet'
    """
    if collected and not validated:
        return Estimate(None, reason="no item has a validated label yet")
    return wilson_share(hits, collected)


def agreement_with_others(judgements: Judgements) -> tuple[IntArray, IntArray]:
    """Count, for each worker, the judgements that meet a majority of the others, and those that agree with it.

    A majority is more than half of the *other* judgements of the item, so that nobody agrees with themselves.
    """
    counts = judgements.counts().astype(np.int32)  # half the memory where there are millions
    rows = np.arange(len(counts))
    first = counts.argmax(axis=1)
    top = counts[rows, first]
    rest = counts.copy()
    rest[rows, first] = -1
    second = rest.max(axis=1, initial=0)
    others = counts.sum(axis=1, dtype=np.int32)[judgements.item] - 1
    own = counts[judgements.item, judgements.label] - 1
    leads = first[judgements.item] == judgements.label
    rival = np.where(leads, second[judgements.item], top[judgements.item])
    agrees = (others > 0) & (2 * own > others)
    against = (others > 0) & (2 * rival > others)
    workers = len(judgements.workers)
    agreed = np.bincount(judgements.worker[agrees], minlength=workers)
    return agreed + np.bincount(judgements.worker[against], minlength=workers), agreed


def describe_workers(judgements: Judgements, seconds: FloatArray | None = None) -> WorkerTable:
    """Describe every worker; *seconds* is how long each judgement took, NaN where it is not known."""
    workers, classes = len(judgements.workers), len(judgements.classes)
    counts = np.bincount(judgements.worker, minlength=workers)
    compared, agreed = agreement_with_others(judgements)
    low, high = wilson(agreed, compared)
    fit = fit_one_coin(judgements)
    labels = np.bincount(judgements.worker * classes + judgements.label, minlength=workers * classes)
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = np.where(compared > 0, agreed / compared, np.nan)
        top_share = labels.reshape(workers, classes).max(axis=1) / counts
    times = None if seconds is None else median_by(judgements.worker, seconds, workers)
    patterns = _patterns(counts, top_share, judgements, high, times)
    return WorkerTable(
        judgements=counts,
        compared=compared,
        agreed=agreed,
        agreement=agreement,
        agreement_low=low,
        agreement_high=high,
        accuracy=fit.accuracy,
        accuracy_low=fit.accuracy_quantile(0.025),
        accuracy_high=fit.accuracy_quantile(0.975),
        top_share=top_share,
        patterns=patterns,
        median_time=times,
    )


def _patterns(
    counts: IntArray, top_share: FloatArray, judgements: Judgements, high: FloatArray, times: FloatArray | None
) -> tuple[tuple[str, ...], ...]:
    """Name what looks wrong: always the same label, no better than chance, much faster than the others."""
    enough = counts >= LEAST_JUDGEMENTS
    pool = np.bincount(judgements.label, minlength=len(judgements.classes)) / max(len(judgements), 1)
    chance = float(pool @ pool)
    flags = {
        # Where everybody says the same, saying the same is no sign.
        "same_label": enough & (top_share >= SAME_SHARE) & (pool.max(initial=0.0) < SAME_SHARE),
        "no_better_than_chance": enough & (np.nan_to_num(high, nan=1.0) <= chance),
    }
    if times is not None and not np.isnan(times).all():
        flags["too_fast"] = enough & too_fast(times)
    return tuple(tuple(name for name, flag in flags.items() if flag[worker]) for worker in range(len(counts)))


def too_fast(times: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whose median time is under a third of the workers' median, or under a second; NaN is no time.

    >>> too_fast(np.array([0.5, 0.5, np.nan])).tolist()
    [True, True, False]
    """
    known = np.isfinite(times)
    usual = float(np.median(times[known])) if known.any() else 0.0
    return np.asarray(np.nan_to_num(times, nan=np.inf) < max(FAST_SHARE * usual, FAST_SECONDS))


def median_by(codes: IntArray, values: FloatArray, groups: int) -> FloatArray:
    """Return the median of *values* in each group; NaN ones are left out, and an empty group has NaN.

    >>> median_by(np.array([0, 0, 1]), np.array([1.0, 3.0, 5.0]), 3).tolist()
    [2.0, 5.0, nan]
    """
    defined = ~np.isnan(values)
    codes, values = codes[defined], values[defined]
    ordered = values[np.lexsort((values, codes))]
    sizes = np.bincount(codes, minlength=groups)
    starts = np.cumsum(sizes) - sizes
    medians = np.full(groups, np.nan)
    filled = sizes > 0
    low, high = (starts + (sizes - 1) // 2)[filled], (starts + sizes // 2)[filled]
    medians[filled] = (ordered[low] + ordered[high]) / 2
    return medians
