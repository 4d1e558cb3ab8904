"""A contest of builders and breakers: a pair breaks a system that has exactly one of its two members right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from quintain.core.records.contest import BreakDirection, BrokenTogether, TagBreaks
from quintain.core.records.figures import Estimate
from quintain.stats.posterior import mean_estimate

BoolArray = npt.NDArray[np.bool_]


def broken(right: BoolArray) -> BoolArray:
    """Return which pairs break a system; *right* has a row for each pair: original, modified.

    >>> broken(np.array([[True, False], [True, True], [False, False]])).tolist()
    [True, False, False]
    """
    return np.asarray(right[:, 0] != right[:, 1], dtype=np.bool_)


def rate(values: BoolArray, *, seed: int = 0, resamples: int = 1000) -> Estimate:
    """Estimate a share, with its interval."""
    return mean_estimate(values.astype(np.float64), seed=seed, resamples=resamples)


def breaker_score(
    breaks: Mapping[str, BoolArray], accuracy: Mapping[str, float], *, seed: int = 0, resamples: int = 1000
) -> Estimate:
    """Average accuracy × broken / pairs over the systems in *accuracy* (equation 1 of the paper), with its interval.

    >>> breaks = {"a": np.array([True, False]), "b": np.array([True, True])}
    >>> breaker_score(breaks, {"a": 0.8, "b": 0.6}).value
    0.5
    """
    weighted = np.mean([accuracy[name] * breaks[name] for name in accuracy], axis=0)
    most = float(np.mean(list(accuracy.values())))
    if most == 0:
        return Estimate(0.0)
    return mean_estimate(weighted, bounds=(0.0, most), seed=seed, resamples=resamples)


def directions(right: Mapping[str, BoolArray]) -> dict[str, BreakDirection]:
    """Count on which side each broken system was right."""
    return {
        name: BreakDirection(int((own[:, 0] & ~own[:, 1]).sum()), int((own[:, 1] & ~own[:, 0]).sum()))
        for name, own in right.items()
    }


def broken_together(breaks: Mapping[str, BoolArray]) -> tuple[BrokenTogether, ...]:
    """Compare every two systems in where they break, those first that break together most."""
    pairs = [_two(first, second, breaks) for first, second in combinations(breaks, 2)]
    return tuple(sorted(pairs, key=lambda pair: -(pair.overlap or 0.0)))


def _two(first: str, second: str, breaks: Mapping[str, BoolArray]) -> BrokenTogether:
    first_breaks, second_breaks = breaks[first], breaks[second]
    both, either = int((first_breaks & second_breaks).sum()), int((first_breaks | second_breaks).sum())
    varied = bool(first_breaks.any() and second_breaks.any() and not first_breaks.all() and not second_breaks.all())
    correlation = float(np.corrcoef(first_breaks, second_breaks)[0, 1]) if varied else None
    return BrokenTogether((first, second), both, either, both / either if either else None, correlation)


def broken_systems(breaks: Mapping[str, BoolArray]) -> tuple[int, ...]:
    """Count the pairs that broke none, one, two … and all systems."""
    together = np.sum(list(breaks.values()), axis=0)
    return tuple(int(count) for count in np.bincount(together, minlength=len(breaks) + 1))


def by_tag(
    breaks: Mapping[str, BoolArray], tags: Sequence[Sequence[str]], *, seed: int = 0, resamples: int = 1000
) -> dict[str, TagBreaks]:
    """Estimate how often the pairs with each tag broke each system; a pair with several tags counts under each."""
    breaks_by_tag = {}
    for tag in sorted({tag for own in tags for tag in own}):
        here = np.array([tag in own for own in tags], dtype=np.bool_)
        rates = {name: rate(own[here], seed=seed, resamples=resamples) for name, own in breaks.items()}
        breaks_by_tag[tag] = TagBreaks(int(here.sum()), rates)
    return breaks_by_tag
