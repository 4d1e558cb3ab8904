"""Charts of a round: how often the model is fooled, by what, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from quintain.core.records.collect import Counters, RoundCount
from quintain.reports.charts import ROW_HEIGHT, SCHEMA
from quintain.reports.few import count_tooltip, mark_few
from quintain.reports.series import GREY, PEOPLE

MOST_BARS = 150
MONTH_CHARACTERS = len("2026-11")  # at the front of a day


@dataclass(frozen=True, slots=True)
class _Span:
    """How long a bar's time is, and how it is written at the axis and at the bar."""

    unit: str
    axis: str
    tooltip: str


HOUR = _Span("utcyearmonthdatehours", "%d %b %H:%M", "%Y-%m-%d %H:00")
DAY = _Span("utcyearmonthdate", "%d %b %Y", "%Y-%m-%d")
MONTH = _Span("utcyearmonth", "%b %Y", "%Y-%m")


def rate_chart(counts: Sequence[RoundCount], *, category: str, attempts: str, rate: str) -> dict[str, Any]:
    """Draw the fooling rate of each heading as a point on its interval; *category*, *attempts*, *rate* name them."""
    rows = [
        {
            "name": count.name or "–",
            "rate": count.rate,
            "low": count.low,
            "high": count.high,
            "n": count.attempts,
        }
        for count in counts
        if count.rate is not None
    ]
    x = {
        "field": "rate",
        "type": "quantitative",
        "title": rate,
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "tickCount": 5},
    }
    tooltip = [
        {"field": "name", "type": "nominal", "title": category},
        count_tooltip(attempts),
        {"field": "rate", "type": "quantitative", "title": rate, "format": ".1%"},
    ]
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": ROW_HEIGHT * max(1, len(rows)),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {
            "y": {
                "field": "name",
                "type": "nominal",
                "sort": None,
                "title": None,
                "axis": {"ticks": False, "domain": False, "labelPadding": 10},
            },
            "tooltip": tooltip,
        },
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2, "color": GREY},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {"mark": {"type": "point", "filled": True, "size": 80, "color": PEOPLE}, "encoding": {"x": x}},
        ],
    }
    return mark_few(chart)


def time_chart(counters: Counters, *, moment: str, attempts: str, fooled: str, other: str) -> dict[str, Any]:
    """Draw attempts over time, those that fooled the model and the *other* ones on top of each other.

    There is a bar for each hour; for each day, or each month, where those would be too many to tell apart.
    """
    span, counts = _spans(counters)
    rows = []
    for count in counts:
        at = count.name.replace(" ", "T")
        rows.append({"at": at, "kind": fooled, "order": 0, "count": count.fooled})
        rows.append({"at": at, "kind": other, "order": 1, "count": count.attempts - count.fooled})
    colours = {"domain": [fooled, other], "range": [PEOPLE, GREY]}
    time = {"field": "at", "type": "temporal", "timeUnit": span.unit}
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 180,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "mark": {"type": "bar", "width": {"band": 0.9}},
        "encoding": {
            "x": {**time, "title": None, "axis": {"format": span.axis, "labelOverlap": True, "tickCount": 6}},
            "y": {
                "field": "count",
                "type": "quantitative",
                "stack": "zero",
                "title": attempts,
                "axis": {"tickMinStep": 1},
            },
            "color": {"field": "kind", "type": "nominal", "scale": colours, "legend": {"orient": "top", "title": None}},
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [
                {**time, "title": moment, "format": span.tooltip},
                {"field": "kind", "type": "nominal", "title": fooled},
                {"field": "count", "type": "quantitative", "title": attempts},
            ],
        },
    }


def _spans(counters: Counters) -> tuple[_Span, Sequence[RoundCount]]:
    """Choose the shortest span of time whose bars can be told apart."""
    if sum(count.attempts for count in counters.by_hour) == counters.attempts and len(counters.by_hour) <= MOST_BARS:
        return HOUR, counters.by_hour
    if len(counters.by_day) <= MOST_BARS:
        return DAY, counters.by_day
    months = groupby(counters.by_day, key=lambda count: count.name[:MONTH_CHARACTERS])
    return MONTH, [_added(month, list(days)) for month, days in months]


def _added(month: str, days: Sequence[RoundCount]) -> RoundCount:
    written, fooled = sum(day.attempts for day in days), sum(day.fooled for day in days)
    return RoundCount(f"{month}-01", written, fooled, None, None, None)
