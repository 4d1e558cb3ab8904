"""How much people agree, with intervals over resampled items.

Everything here is a function of sums over items, and what an item adds depends only on how many votes each class got.
Five votes on four classes fall in 56 patterns, so that a thousand resamples of any number of items are cheap.

- **Krippendorff's α** is over items with two judgements or more, each judgement weighing alike.
- **Fleiss' κ** and **Gwet's AC1** take unequal numbers of raters as Gwet (2014) does: agreement is the mean over items
  with two judgements or more, the classes' shares are means over all items.
- **Percent agreement** is that mean: the share of an item's pairs of judgements that agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray, IntArray, Prior, Tally, interval
from quintain.stats.judgements import Judgements
from quintain.stats.posterior import Draws

Level = Literal["nominal", "ordinal", "interval"]
MOST_RANKS = 60
STATISTICS = ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "percent_agreement", "unanimous", "four_fifths")

_NO_PAIRS = "no item has two judgements"
_ONE_LABEL = "all labels are equal, so that no disagreement could be expected"
_ONE_CLASS = "there is only one class"


@dataclass(frozen=True, slots=True)
class Agreement:
    """The statistics of one set of judgements, by name, and what they were computed from."""

    statistics: Mapping[str, Estimate]
    items: int
    workers: int
    judgements: int
    single: int
    never_disagree: int
    level: Level

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {
            **{name: estimate.as_dict() for name, estimate in self.statistics.items()},
            "items": self.items,
            "workers": self.workers,
            "judgements": self.judgements,
            "items_with_one_judgement": self.single,
            "workers_never_disagreeing": self.never_disagree,
            "level": self.level,
        }


@dataclass(frozen=True, slots=True)
class _Sums:
    """Where the totals are: per class paired votes and shares, then single figures, then coincidences if ordinal."""

    classes: int
    level: Level
    values: FloatArray

    def table(self, patterns: FloatArray) -> FloatArray:
        """Return what an item of each pattern of votes adds to the totals."""
        size = patterns.sum(axis=1)
        paired = size >= 2
        less = np.where(paired, size - 1, 1.0)
        same = (patterns * patterns).sum(axis=1)
        agreed = np.where(paired, (same - size) / np.maximum(size * less, 1.0), 0.0)
        top = patterns.max(axis=1, initial=0.0)
        votes = patterns * paired[:, None]
        single = np.column_stack(
            [
                (size > 0).astype(np.float64),
                paired.astype(np.float64),
                agreed,
                paired & (top == size),
                paired & (5 * top >= 4 * size),
                self._disagreement(patterns, less) * paired,
                votes @ self.values,
                votes @ (self.values * self.values),
            ]
        )
        shares = patterns / np.maximum(size, 1.0)[:, None]
        parts = [votes, shares, single]
        if self.level == "ordinal":
            parts.append(self._coincidences(patterns, less) * paired[:, None])
        return np.concatenate(parts, axis=1)

    def _disagreement(self, patterns: FloatArray, less: FloatArray) -> FloatArray:
        size = patterns.sum(axis=1)
        if self.level == "interval":
            mean, square = patterns @ self.values, patterns @ (self.values * self.values)
            return np.asarray(2 * (size * square - mean * mean) / less, dtype=np.float64)
        return np.asarray((size * size - (patterns * patterns).sum(axis=1)) / less, dtype=np.float64)

    def _coincidences(self, patterns: FloatArray, less: FloatArray) -> FloatArray:
        low, high = np.triu_indices(self.classes, 1)
        return np.asarray(2 * patterns[:, low] * patterns[:, high] / less[:, None], dtype=np.float64)

    def prior(self, counts: IntArray) -> Prior:
        """Return what one more item may add: all votes alike at best, at worst as unlike as chance has it.

        It has as many votes as items have on average, and the classes are as frequent as they are.
        """
        share = counts.sum(axis=0) / max(int(counts.sum()), 1)
        sizes = counts.sum(axis=1)
        several = sizes[sizes >= 2]
        same = self.table(2.0 * np.eye(self.classes))
        low, high = np.triu_indices(self.classes, 1)
        pairs = np.eye(self.classes)[low] + np.eye(self.classes)[high]
        unlike = share[low] * share[high]
        if not unlike.sum():  # only one class was used: any other may be next
            unlike = np.ones(len(low)) * (share[low] + share[high])
        best = share @ same
        worst = unlike / unlike.sum() @ self.table(pairs) if len(low) else self._without_another(best)
        scale = self._scale(float(several.mean()) if len(several) else 2.0, len(best))
        return Prior((best * scale)[None, :], (worst * scale)[None, :])

    def _without_another(self, alike: FloatArray) -> FloatArray:
        """Return what two unlike votes add where there is only one class: the other vote is of none in the table."""
        unlike = alike.copy()
        unlike[2 * self.classes + 2 : 2 * self.classes + 5] = 0.0  # agreed, unanimous, four fifths
        return unlike

    def _scale(self, votes: float, width: int) -> FloatArray:
        """Return how much more an item with so many *votes* adds than one with two, in what is counted by votes."""
        by_votes = np.ones(width, dtype=bool)
        by_votes[self.classes : 2 * self.classes + 5] = False
        return np.where(by_votes, votes / 2, 1.0)

    def statistics(self, totals: FloatArray) -> dict[str, FloatArray]:
        """Make the statistics from totals (last axis); NaN where one is undefined."""
        votes, shares = totals[..., : self.classes], totals[..., self.classes : 2 * self.classes]
        items, paired, agreed, unanimous, most = (totals[..., 2 * self.classes + place] for place in range(5))
        with np.errstate(invalid="ignore", divide="ignore"):
            share = shares / items[..., None]
            observed = agreed / paired
            by_chance = (share * share).sum(axis=-1)
            ac1_chance = (share * (1 - share)).sum(axis=-1) / (self.classes - 1) if self.classes > 1 else np.nan
            return {
                "krippendorff_alpha": self._alpha(totals, votes),
                "fleiss_kappa": _beyond(observed, by_chance),
                "gwet_ac1": _beyond(observed, ac1_chance + 0 * observed),
                "percent_agreement": observed,
                "unanimous": unanimous / paired,
                "four_fifths": most / paired,
            }

    def _alpha(self, totals: FloatArray, votes: FloatArray) -> FloatArray:
        n = votes.sum(axis=-1)
        observed = totals[..., 2 * self.classes + 5]
        if self.level == "nominal":
            expected = n * n - (votes * votes).sum(axis=-1)
        elif self.level == "interval":
            mean, square = totals[..., 2 * self.classes + 6], totals[..., 2 * self.classes + 7]
            expected = 2 * (n * square - mean * mean)
        else:
            # The distance of two ranks is that of their places in the order of all judgements.
            low, high = np.triu_indices(self.classes, 1)
            rank = np.cumsum(votes, axis=-1) - votes / 2
            apart = (rank[..., high] - rank[..., low]) ** 2
            observed = (totals[..., 2 * self.classes + 8 :] * apart).sum(axis=-1)
            expected = 2 * (votes[..., low] * votes[..., high] * apart).sum(axis=-1)
        # What is left of equal numbers after subtraction is rounding, not disagreement.
        expected = np.where(expected <= 1e-9 * np.maximum(n * n, 1.0) * _scale(self), np.nan, expected)
        return np.asarray(1 - (n - 1) * observed / expected, dtype=np.float64)


def _scale(sums: _Sums) -> float:
    return float(max(np.ptp(sums.values) ** 2, 1e-300)) if sums.level == "interval" and len(sums.values) else 1.0


def _beyond(observed: FloatArray, chance: FloatArray) -> FloatArray:
    room = np.where(1 - chance <= 1e-12, np.nan, 1 - chance)
    return np.asarray((observed - chance) / room, dtype=np.float64)


def patterns_of(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return each row's pattern of votes as a code, and the patterns."""
    if not counts.size:
        return np.zeros(len(counts), dtype=np.int64), counts[:1]
    radix = [int(top) + 1 for top in counts.max(axis=0)]
    if sum(np.log2(base) for base in radix) < 62:
        weights = np.cumprod([1, *radix[:-1]], dtype=np.int64)
        _, first, codes = np.unique(counts @ weights, return_index=True, return_inverse=True)
    else:
        _, first, codes = np.unique(counts, axis=0, return_index=True, return_inverse=True)
    return codes.ravel().astype(np.int64), counts[first]


def agreement_of_counts(
    counts: IntArray,
    *,
    level: Level = "nominal",
    values: FloatArray | None = None,
    seed: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> dict[str, Estimate]:
    """Estimate all statistics from the votes (items × classes).

    Classes are in their order for *ordinal*; *values* are their numbers for *interval*.

    >>> round(agreement_of_counts(np.array([[2, 0], [0, 2], [1, 1]]), resamples=0)["krippendorff_alpha"].value, 3)
    0.444
    """
    classes = counts.shape[1]
    if level == "ordinal" and classes > MOST_RANKS:
        raise BadInput(
            "{classes} ranks are too many for an ordinal α (at most {most}).",
            classes=classes,
            most=MOST_RANKS,
            remedy="Group them, or use the interval level.",
        )
    if level == "interval" and values is None:
        raise BadInput("The interval level needs a number for each label.")
    numbers = np.zeros(classes) if values is None else np.asarray(values, dtype=np.float64)
    if level == "interval" and classes:
        numbers = numbers - numbers.mean()  # α does not change, and large numbers keep their digits
    sums = _Sums(classes, level, numbers)
    if level == "nominal":  # neither what classes are called nor the order of items decides what is drawn
        counts = counts[
            :, sorted(range(classes), key=lambda at: (counts[:, at].sum(), np.sort(counts[:, at]).tobytes()))
        ]
    codes, patterns = patterns_of(counts)
    paired = bool((patterns.sum(axis=1) >= 2).any())
    used = int((counts.sum(axis=0) > 0).sum())
    tally = Tally(np.sort(codes), sums.table(patterns.astype(np.float64)), sums.prior(counts) if paired else None)
    draws = Draws(tally, seed=seed, resamples=resamples if len(codes) else 0)
    return draws.estimates(sums.statistics, lambda name: _why(name, paired, used), confidence)


def _why(name: str, paired: bool, used: int) -> str:
    if not paired:
        return _NO_PAIRS
    return _ONE_CLASS if name == "gwet_ac1" and used <= 1 else _ONE_LABEL


def measure_agreement(
    judgements: Judgements,
    *,
    level: Level = "nominal",
    values: FloatArray | None = None,
    seed: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> Agreement:
    """Measure how much the workers agree.

    *values* has a number for each class of *judgements*: its size for the interval level, its rank for the ordinal one.
    """
    counts = judgements.counts()
    counts = counts[counts.any(axis=1)]
    numbers = values
    if level == "ordinal":
        if values is None:
            raise BadInput("The ordinal level needs the order of the labels.")
        order = np.argsort(values, kind="stable")
        counts, numbers = counts[:, order], None
    options: dict[str, Any] = {"seed": seed, "resamples": resamples, "confidence": confidence}
    statistics = agreement_of_counts(counts, level=level, values=numbers, **options)
    never, judged = never_disagreeing(judgements)
    workers = np.unique(judgements.worker)
    statistics["never_disagree"] = _share(int(never.sum()), int(judged.sum()), **options)
    sizes = judgements.sizes()
    return Agreement(
        statistics,
        items=int((sizes > 0).sum()),
        workers=len(workers),
        judgements=len(judgements),
        single=int((sizes == 1).sum()),
        never_disagree=int(never.sum()),
        level=level,
    )


def never_disagreeing(judgements: Judgements) -> tuple[Any, Any]:
    """Return of each worker whether they never voted against a majority, and whether they could have.

    A majority is more than half of an item's votes, of which there must be two or more.
    """
    counts = judgements.counts()
    size, top = counts.sum(axis=1), counts.max(axis=1, initial=0)
    decided = ((size >= 2) & (2 * top > size))[judgements.item]
    against = decided & (counts[judgements.item, judgements.label] < top[judgements.item])
    workers = len(judgements.workers)
    chances = np.bincount(judgements.worker[decided], minlength=workers)
    lapses = np.bincount(judgements.worker[against], minlength=workers)
    return (chances > 0) & (lapses == 0), chances > 0


def _share(hits: int, total: int, *, seed: int, resamples: int, confidence: float) -> Estimate:
    if not total:
        return Estimate(None, reason="no item has a majority to disagree with")
    if not resamples:
        return Estimate(hits / total)
    drawn = np.random.default_rng(seed).beta(hits + 0.5, total - hits + 0.5, size=resamples)
    low, high = interval(drawn, confidence)
    return Estimate(hits / total, min(low or 0.0, hits / total), max(high or 0.0, hits / total))
