"""What simulated trials forecast is what they show."""

from __future__ import annotations

import pytest

from quintain.protocols.crowd.forecast import forecast_arms, forecast_power, run_trial
from quintain.protocols.reading import shipped


def test_the_forecast_of_a_gap_is_how_often_trials_with_that_gap_show_it() -> None:
    """Writers are few where many were sorted out; a forecast by the spread of trials alone promised twice as much."""
    trials = [run_trial([shipped()["baseline"], shipped()["crowd"]], 60, seed) for seed in range(10)]
    (first,) = forecast_power(trials, 60, 0.05)
    assert first.difference.value is not None
    assert first.difference.value < 0
    (again,) = forecast_power(trials, 60, -first.difference.value)
    assert again.seen.low is not None
    assert again.seen.high is not None
    assert again.gap_seen is not None
    assert again.seen.low < again.gap_seen < again.seen.high
    (sure,) = forecast_power(trials, 60, 0.5)
    assert sure.gap_seen == pytest.approx(1.0)
    (never,) = forecast_power(trials, 60, 0.0)
    assert never.gap_seen is not None
    assert never.gap_seen < 0.2


def test_forecasts_of_few_workers_are_figures_or_nothing() -> None:
    """Two writers to an arm leave some deals of the test without items: no figure is "not a number"."""
    trials = [run_trial([shipped()["baseline"], shipped()["crowd"]], 2, seed) for seed in range(12)]
    trials = [one for one in trials if len(one.sums) == 2]
    (found,) = forecast_power(trials, 2, 0.05)
    assert found.gap_seen is None or 0 <= found.gap_seen <= 1
    for arm in forecast_arms(trials):
        for figure in (arm.human, arm.model, arm.gap):
            assert figure.value is None or -1 <= figure.value <= 1
