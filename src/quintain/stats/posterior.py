"""Estimates from few examples, where a bootstrap has too little to draw from.

Drawing anew from eight right answers gives eight right answers, every time. Here the weights of the examples are drawn
from the reference posterior instead: exponential weights (Rubin's Bayesian bootstrap) together with what is not known,
an example that is as likely right as wrong (Jeffreys' prior: half an example of each), and for figures by class one
more example of each class, right as often as the whole is. For the mean of right and wrong that is Jeffreys' interval;
a class that did not occur, or only once, leaves a macro average as uncertain as it is.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import BLOCK, MANY, FloatArray, IntArray, Tally, interval
from quintain.stats.joint import by_unit, units_of

# Below so many examples (or groups) the percentile bootstrap misses too often, with macro averages most of all.
FEW = 50
# How many examples stand for what is not known: of a figure by itself, and where figures are compared.
ALONE, COMPARED = 1.0, 2.0
_EDGE = 1e-9

Value = Callable[[FloatArray], FloatArray]
Values = Callable[[FloatArray], Mapping[str, FloatArray]]


def is_few(examples: int, groups: IntArray | None = None) -> bool:
    """Whether *examples*, or the groups that they come in, are too few for a bootstrap."""
    return (examples if groups is None else len(np.unique(groups))) < FEW


def _units_number(tally: Tally, groups: IntArray | None) -> int:
    """Count what is drawn: the different examples, or the groups."""
    return int(tally.table.shape[0]) if groups is None else len(np.unique(groups))


def is_constant(samples: FloatArray) -> bool:
    """Whether a resampling came to the same figure every time: it saw nothing vary, which is not certainty."""
    defined = samples[~np.isnan(samples)]
    return len(defined) == 0 or float(np.ptp(defined)) <= _EDGE * max(1.0, float(np.abs(defined).max()))


class Draws:
    """Resampled totals of one tally: by bootstrap and, where that has too little to draw from, by the posterior."""

    def __init__(self, tally: Tally, groups: IntArray | None = None, *, seed: int = 0, resamples: int = 1000) -> None:
        self._tally, self._groups, self._seed, self._resamples = tally, groups, seed, resamples
        self._by_posterior = tally.prior is not None and _units_number(tally, groups) <= MANY

    @cached_property
    def _bootstrap(self) -> FloatArray:
        return self._tally.resampled(self._resamples, np.random.default_rng(self._seed), self._groups)

    @cached_property
    def _posterior(self) -> FloatArray:
        return posterior_totals([self._tally], groups=self._groups, seed=self._seed, resamples=self._resamples)[0]

    def samples(self, value: Value) -> FloatArray:
        """Return the resampled figure that *value* makes from totals; none where nothing is known of its spread.

        With the same examples and seed those of two tallies meet the same resamples, so that they can be compared: what
        is not known of each, which the posterior draws apart, comes in only where a bootstrap has too little.
        """
        few = self._tally.prior is not None and is_few(len(self._tally), self._groups)
        return self._samples(lambda totals: {"": value(totals)}, by_posterior=few)[""]

    def estimate(self, value: Value, reason: str, confidence: float = 0.95) -> Estimate:
        """Estimate the figure; *reason* is said where it is undefined."""
        return self.estimates(lambda totals: {"": value(totals)}, lambda _: reason, confidence)[""]

    def estimates(self, values: Values, reason: Callable[[str], str], confidence: float = 0.95) -> dict[str, Estimate]:
        """Estimate several figures that are made from the same totals. An interval always holds its figure."""
        samples = self._samples(values, by_posterior=self._by_posterior)
        figures = {}
        for name, value in values(self._tally.totals()).items():
            figure = float(value)
            if np.isnan(figure):
                figures[name] = Estimate(None, reason=reason(name))
                continue
            low, high = interval(samples[name], confidence) if len(samples[name]) else (None, None)
            if low is not None and high is not None:
                low, high = min(low, figure), max(high, figure)
            figures[name] = Estimate(figure, low, high)
        return figures

    def _samples(self, values: Values, *, by_posterior: bool) -> dict[str, FloatArray]:
        if not self._resamples:
            return {name: np.zeros(0) for name in values(self._tally.totals())}
        if by_posterior:
            return dict(values(self._posterior))
        drawn = dict(values(self._bootstrap))
        still = [name for name, found in drawn.items() if is_constant(found)]
        if still:
            instead = {} if self._tally.prior is None else values(self._posterior)
            drawn |= {name: instead.get(name, np.zeros(0)) for name in still}
        return drawn


def posterior_totals(
    tallies: Sequence[Tally],
    *,
    groups: IntArray | None = None,
    seed: int = 0,
    resamples: int = 1000,
    apart: bool = False,
) -> list[FloatArray]:
    """Draw each tally's totals from the posterior: resamples × what it adds up.

    All tallies are of the same examples and meet the same weights. What is not known of one (how it would do on an
    example that it has not met) is drawn apart from the others, and alike for two whose examples add the same, unless
    *apart* (people and a model, who may have answered alike, are not one and the same). Where
    several are compared that is two examples rather than one, as Agresti and Caffo (2000) have it for differences:
    half of each would call the order of two models surer than their discordant examples do.
    """
    rng = np.random.default_rng([seed, len(tallies[0])])
    rows, shapes, size = _units(tallies, groups)
    # Side by side, so that one product adds up all of them.
    dense = all(isinstance(table, np.ndarray) for table in rows)
    wide = np.hstack(rows) if dense else scipy.sparse.hstack(rows).tocsr()
    sums = np.concatenate([np.asarray(weights @ wide) for weights in _weights(shapes, resamples, rng)])
    ends = np.cumsum([table.shape[1] for table in rows])
    classes = max((len(tally.prior.best) for tally in tallies if tally.prior), default=0)
    mass = ALONE if len(tallies) == 1 else COMPARED
    unknown = size * rng.standard_gamma([mass, *[1.0] * classes], size=(resamples, 1 + classes))
    pairs = zip(tallies, np.split(sums, ends[:-1], axis=1), strict=True)
    seeds = [[seed, at] if apart else [seed] for at in range(len(tallies))]
    return [_with_prior(*pair, unknown, mass, own) for pair, own in zip(pairs, seeds, strict=True)]


def _units(tallies: Sequence[Tally], groups: IntArray | None) -> tuple[list[Any], FloatArray, float]:
    """Return what each unit adds in each tally, how many alike it stands for, and how many examples make a unit."""
    first = tallies[0]
    if len(tallies) == 1 and groups is None:  # nobody asks which example it was: equal ones are drawn at once
        counts = np.bincount(first.codes, minlength=first.table.shape[0])
        used = np.flatnonzero(counts)
        return [first.table[used]], counts[used].astype(np.float64), 1.0
    units, number = units_of(len(first), groups)
    rows = [by_unit(tally, units, number) for tally in tallies]
    if len(tallies) == 1 and rows[0].shape[0] * rows[0].shape[1] <= BLOCK:
        whole = rows[0] if isinstance(rows[0], np.ndarray) else rows[0].toarray()
        kinds, counts = np.unique(whole, axis=0, return_counts=True)
        return [kinds], counts.astype(np.float64), len(units) / number
    return rows, np.ones(number), len(units) / number


def _weights(shapes: FloatArray, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    height = max(1, BLOCK // max(len(shapes), 1))
    unweighted = bool((shapes == 1).all())
    for start in range(0, resamples, height):
        size = (min(height, resamples - start), len(shapes))
        yield rng.standard_exponential(size) if unweighted else rng.standard_gamma(shapes, size=size)


def _with_prior(tally: Tally, totals: FloatArray, unknown: FloatArray, mass: float, seed: list[int]) -> FloatArray:
    """Add what is not known: an example half right and half wrong, then one of each class, right as the whole is."""
    prior = tally.prior
    if prior is None:
        return totals
    own = np.random.default_rng([*seed, zlib.crc32(tally.totals().tobytes()), zlib.crc32(tally.codes.tobytes())])
    right = own.beta(mass / 2, mass / 2, size=len(totals))[:, None]
    best, worst = prior.best.mean(axis=0), prior.worst.mean(axis=0)
    totals = totals + unknown[:, :1] * (right * best + (1 - right) * worst)
    if prior.share is None or len(prior.best) < 2:
        return totals
    share = np.clip(prior.share(totals), _EDGE, 1 - _EDGE)[:, None]
    split = own.beta(share, 1 - share, size=(len(totals), len(prior.best)))
    classes = unknown[:, 1 : 1 + len(prior.best)]
    return np.asarray(totals + (classes * split) @ prior.best + (classes * (1 - split)) @ prior.worst, np.float64)


def mean_estimate(
    scores: npt.ArrayLike,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    groups: IntArray | None = None,
    seed: int = 0,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate the mean of *scores* between *bounds* with its interval, over whole *groups* where given.

    >>> mean_estimate([1, 0, 1, 1], seed=1).value
    0.75
    """
    values = np.asarray(scores, dtype=np.float64)
    if len(values) == 0:
        return Estimate(None, reason="there are no examples")
    drawn = Draws(Tally.of_scores(values, bounds), groups, seed=seed, resamples=resamples)
    return drawn.estimate(lambda totals: np.asarray(totals[..., 0] / totals[..., 1]), "", confidence)


def ratio_totals(
    rows: FloatArray, ratios: Sequence[tuple[int, int]], rng: np.random.Generator, resamples: int, mass: float = ALONE
) -> FloatArray:
    """Draw the totals of *rows* (units × columns) of which *ratios* of two columns are wanted: hits and their number.

    What is not known is one more unit (*mass* of them) with as many as the others have on average, of which every
    column of hits gets its own share between none and all. So one unit gives no interval without width.
    """
    drawn = np.concatenate([weights @ rows for weights in _weights(np.ones(len(rows)), resamples, rng)])
    unknown = rng.standard_gamma(mass, size=resamples)
    size = rows.mean(axis=0)
    for number in {below for _, below in ratios}:
        drawn[:, number] += unknown * size[number]
    for hits, number in ratios:
        drawn[:, hits] += unknown * size[number] * rng.beta(mass / 2, mass / 2, size=resamples)
    return np.asarray(drawn, dtype=np.float64)


def around(value: float, samples: FloatArray, confidence: float = 0.95) -> Estimate:
    """Return *value* with the interval of *samples*, which always holds it."""
    low, high = interval(samples, confidence)
    if low is None or high is None:
        return Estimate(value)
    return Estimate(value, min(low, value), max(high, value))
