"""The chart of a round over time: a bar for each hour, day or month, so that there are never too many."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from quintain.core.records.collect import Counters, RoundCount
from quintain.web.pages.collect.round_charts import MOST_BARS, time_chart

START = datetime(2026, 1, 1)


def _count(name: str, attempts: int) -> RoundCount:
    return RoundCount(name, attempts, attempts // 2, 0.5, 0.4, 0.6)


def _written(hours: int, latest: int = 1_000) -> Counters:
    """A round with four attempts in each of *hours*, of which the *latest* are kept one by one."""
    moments = [START + timedelta(hours=hour) for hour in range(hours)]
    days = [f"{moment:%Y-%m-%d}" for moment in moments]
    return Counters(
        round="mood/1",
        state="open",
        attempts=4 * hours,
        fooled=2 * hours,
        rate=0.5,
        low=0.4,
        high=0.6,
        retracted=0,
        workers=1,
        flags=0,
        sessions={},
        prompts={},
        by_worker=[],
        by_prompt=[],
        by_label=[],
        by_condition=[],
        by_number=[],
        by_hour=[_count(f"{moment:%Y-%m-%d %H:00}", 4) for moment in moments[-latest:]],
        by_day=[_count(day, 4 * days.count(day)) for day in dict.fromkeys(days)],
    )


@pytest.mark.parametrize(
    ("hours", "latest", "unit", "first"),
    [
        (MOST_BARS, 1_000, "utcyearmonthdatehours", "2026-01-01T00:00"),
        (MOST_BARS + 1, 1_000, "utcyearmonthdate", "2026-01-01"),
        (MOST_BARS, 100, "utcyearmonthdate", "2026-01-01"),
        (24 * (MOST_BARS + 1), 1_000, "utcyearmonth", "2026-01-01"),
    ],
)
def test_bars_stay_few_and_hold_every_attempt(hours: int, latest: int, unit: str, first: str) -> None:
    """However long people write, the chart has few bars, and none of the attempts is left out."""
    words = {"moment": "time", "attempts": "attempts", "fooled": "fooled", "other": "not fooled"}
    chart = time_chart(_written(hours, latest), **words)
    rows = chart["data"]["values"]
    assert chart["encoding"]["x"]["timeUnit"] == unit
    assert rows[0]["at"] == first
    assert len(rows) <= 2 * MOST_BARS
    assert sum(one["count"] for one in rows) == 4 * hours
    assert sum(one["count"] for one in rows if one["kind"] == "fooled") == 2 * hours
