"""What simulated trials forecast is what they show."""

from __future__ import annotations

import pytest

from quintain.protocols.crowd.forecast import forecast_power, run_trial
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
