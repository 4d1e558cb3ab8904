"""What simulated trials come to: cost, time, yield, and how often they would show that arms differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from quintain.core.records.figures import Estimate
from quintain.core.records.trial import ArmForecast, Power
from quintain.protocols.crowd.judging import MODEL, judge
from quintain.protocols.crowd.people import CrowdModel, draw_crowd
from quintain.protocols.crowd.running import ArmRun, finalists, run_arm
from quintain.protocols.spec import Protocol
from quintain.stats.arms import EVERYTHING, LEVEL, ArmItems, ArmSums, compare, gap_of, sum_arm
from quintain.stats.bootstrap import FloatArray
from quintain.stats.workers import wilson_share

SLICE = "all"
DRAWS = 5
DEALS = 400


@dataclass(frozen=True, slots=True)
class TrialRun:
    """One simulated trial: an arm's run, its judged items and their sums, by protocol in their order."""

    runs: Sequence[ArmRun]
    items: Sequence[ArmItems]
    sums: Sequence[ArmSums]


def run_trial(protocols: Sequence[Protocol], workers: int, seed: int, model: CrowdModel | None = None) -> TrialRun:
    """Simulate one trial with so many workers in each arm."""
    model = model or CrowdModel()
    runs, items, sums = [], [], []
    for arm, protocol in enumerate(protocols):
        crowd = draw_crowd(workers, model, np.random.default_rng((seed, arm)))
        runs.append(run_arm(protocol, crowd, model, seed * 1000 + arm))
        items.append(judge(runs[-1], seed * 1000 + arm))
        if len(items[-1].judgements):
            sums.append(sum_arm(items[-1], sample=protocol.validation.setting, seeds=DRAWS, seed=seed))
    return TrialRun(runs, items, sums)


def forecast_arms(trials: Sequence[TrialRun]) -> list[ArmForecast]:
    """Sum up each arm over the trials."""
    return [
        _arm([trial.runs[place] for trial in trials], [trial.sums[place] for trial in trials])
        for place in _arms(trials)
    ]


def forecast_power(trials: Sequence[TrialRun], workers: int, gap: float) -> list[Power]:
    """Return how far each two arms differ, how often a trial shows it, and how often it would show a *gap*.

    A difference is shown where the test between the arms gives p below 0.05.
    """
    powers = []
    for first, second in combinations(_arms(trials), 2):
        between = [
            compare(one.sums[first], one.sums[second], SLICE, MODEL, seed=place, resamples=1, deals=DEALS)
            for place, one in enumerate(trials)
        ]
        known = [one for one in between if one.difference.value is not None and one.edge is not None]
        values = np.array([one.difference.value for one in known], dtype=np.float64)
        edges = np.array([one.edge for one in known], dtype=np.float64)
        seen = sum(one.p is not None and one.p < LEVEL for one in between)
        names = [trials[0].runs[place].protocol.name for place in (first, second)]
        shown = wilson_share(seen, len(between))
        powers.append(Power(names[0], names[1], workers, _range(values), shown, gap, _power(values, edges, gap)))
    return powers


def _power(values: FloatArray, edges: FloatArray, gap: float) -> float | None:
    """Return how often a difference of *gap* is shown: how often it passes what the test of a trial asks for.

    Differences spread from trial to trial as *values* do, and from *edges* on a trial's test shows one. The test deals
    out whole writers: where few are left in an arm, it asks for more than the spread alone would say.
    """
    if len(values) < 5:
        return None
    error = max(float(values.std(ddof=1)), np.finfo(np.float64).tiny)
    shown = scipy.special.ndtr((gap - edges) / error) + scipy.special.ndtr((-gap - edges) / error)
    return float(np.mean(shown))


def _arms(trials: Sequence[TrialRun]) -> range:
    return range(len(trials[0].sums))


def _arm(runs: Sequence[ArmRun], sums: Sequence[ArmSums]) -> ArmForecast:
    protocol = runs[0].protocol
    paid = np.array([sum(run.paid.values()) for run in runs], dtype=np.float64)
    final = np.array([run.paid.get(protocol.final.name, 0) for run in runs], dtype=np.float64)
    written = np.array([max(len(run.names), 1) for run in runs], dtype=np.float64)
    expert = np.array([run.expert_cost for run in runs])
    return ArmForecast(
        protocol.name,
        _mean(runs, lambda run: len(run.crowd)),
        _mean(runs, finalists),
        float(written.mean()),
        float(np.mean([one.items[EVERYTHING].sum() for one in sums])),
        float(paid.mean()),
        _range(paid / written),
        float((final / written).mean()),
        _range((paid + expert) / written),
        _mean(runs, lambda run: run.expert_minutes / 60),
        _mean(runs, lambda run: run.days),
        _range(np.array([_share(one.human[SLICE], one.items[SLICE]) for one in sums])),
        _range(np.array([_share(one.models[SLICE][MODEL], one.asked[SLICE][MODEL]) for one in sums])),
        _range(np.array([float(gap_of(_totals(one))) for one in sums])),
        {name: float(np.mean([run.came.get(name, 0) for run in runs])) for name in runs[0].came},
    )


def _share(hits: FloatArray, number: FloatArray) -> float:
    """Return the share of all *hits*; NaN where a trial has no such item."""
    return float(hits.sum() / number.sum()) if number.sum() > 0 else float("nan")


def _totals(sums: ArmSums) -> FloatArray:
    parts = (sums.items[SLICE], sums.human[SLICE], sums.models[SLICE][MODEL], sums.asked[SLICE][MODEL])
    return np.array([part.sum() for part in parts])


def _mean(runs: Sequence[ArmRun], figure: Callable[[ArmRun], float]) -> float:
    return float(np.mean([figure(run) for run in runs]))


def _range(values: FloatArray) -> Estimate:
    """Return the mean over trials and where 95 % of them lie."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Estimate(None, reason="no trial gave a figure")
    if len(known) < 5:
        return Estimate(float(known.mean()))
    low, high = np.quantile(known, [0.025, 0.975])
    return Estimate(float(known.mean()), float(low), float(high))
