"""Any metric of several systems on the same examples: every pair of them, with interval, test and power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import Metric
from quintain.metrics.paired import paired_metric
from quintain.stats.bootstrap import MANY, FloatArray, interval
from quintain.stats.paired import Separation, separation_of
from quintain.stats.paired_draws import SystemsDrawn, permutation_p
from quintain.stats.posterior import is_constant, is_few

FEWER = 1000  # draws from the posterior, which goes through all examples


@dataclass(frozen=True, slots=True)
class PairOfSystems:
    """Two systems by their places: the difference, the p of the permutation test, and how many examples would tell."""

    first: int
    second: int
    difference: Estimate
    p: float | None
    separation: Separation


def compare_systems(
    metric: Metric, systems: Sequence[Aligned], *, seed: int = 0, draws: int = 10_000
) -> tuple[list[float | None], list[PairOfSystems]]:
    """Compute *metric* of each system, and compare every two of them on the same examples.

    Intervals are those of a paired bootstrap, of few examples those of the posterior; p is that of a permutation test
    in which the answers of two systems to an example (or to a whole group of them) change places.
    """
    systems = _in_same_classes(systems)
    tallies = [metric.tally(system) for system in systems]
    figures = [float(metric.value(tally.totals())) for tally in tallies]
    drawn = SystemsDrawn(tallies, metric.value, groups=systems[0].groups, seed=seed, draws=draws)
    pairs = []
    for first, second in combinations(range(len(systems)), 2):
        value = figures[first] - figures[second]
        if np.isnan(value):
            undefined = Estimate(None, reason=metric.undefined(systems[first]))
            pairs.append(PairOfSystems(first, second, undefined, None, Separation(0.0, None, None)))
            continue
        pair = drawn.pair(first, second)
        estimate = _difference(metric, systems[first], systems[second], value, pair.resampled, seed)
        error = float(np.nanstd(pair.resampled))
        separation = separation_of(value, error, len(systems[first]))
        pairs.append(PairOfSystems(first, second, estimate, permutation_p(pair.swapped, value), separation))
    return [None if np.isnan(figure) else figure for figure in figures], pairs


def _difference(
    metric: Metric, first: Aligned, second: Aligned, value: float, resampled: FloatArray, seed: int
) -> Estimate:
    """Return the difference with its interval; where resampling has too little to draw from, by the posterior."""
    units = len(first) if first.groups is None else len(np.unique(first.groups))
    if is_few(len(first), first.groups) or (is_constant(resampled) and units <= MANY):
        return paired_metric(metric, first, second, seed=seed, resamples=min(len(resampled), FEWER)).difference
    low, high = interval(resampled)
    if low is None or high is None:
        return Estimate(value)
    return Estimate(value, min(low, value), max(high, value))


def _in_same_classes(systems: Sequence[Aligned]) -> list[Aligned]:
    """Let all systems have the classes that any of them answered: so their totals can be held side by side."""
    classes = list(dict.fromkeys(name for system in systems for name in system.classes))
    return [system if list(system.classes) == classes else _in_classes(system, classes) for system in systems]


def _in_classes(system: Aligned, classes: Sequence[str]) -> Aligned:
    believed, people = (
        None if shares is None else _widened(shares, system.classes, classes)
        for shares in (system.probabilities, system.distributions)
    )
    return Aligned(
        system.answer_type,
        system.gold,
        system.predictions,
        tuple(classes),
        believed,
        people,
        system.groups,
        system.language,
    )


def _widened(shares: FloatArray, named: Sequence[str], classes: Sequence[str]) -> FloatArray:
    """Put the columns of *shares* where *classes* has them, with nothing in those that are new."""
    wide = np.zeros((len(shares), len(classes)))
    wide[:, [classes.index(name) for name in named]] = shares
    return wide
