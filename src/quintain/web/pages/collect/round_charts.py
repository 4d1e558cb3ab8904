"""Charts of a round: how often the model is fooled, by what, and over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quintain.core.records.collect import RoundCount
from quintain.reports.charts import ROW_HEIGHT, SCHEMA

HOURS = {"format": "%d %b %H:%M", "labelOverlap": True, "tickCount": 6}


def rate_chart(counts: Sequence[RoundCount], *, category: str, attempts: str, rate: str) -> dict[str, Any]:
    """Draw the fooling rate of each heading as a point on its interval; *category*, *attempts*, *rate* name them."""
    rows = [
        {
            "name": one.name or "–",
            "rate": one.rate,
            "low": one.low,
            "high": one.high,
            "attempts": one.attempts,
        }
        for one in counts
        if one.rate is not None
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
        {"field": "attempts", "type": "quantitative", "title": attempts, "format": ","},
        {"field": "rate", "type": "quantitative", "title": rate, "format": ".1%"},
    ]
    return {
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
                "mark": {"type": "rule", "strokeWidth": 2, "color": "#8a94a6"},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {"mark": {"type": "point", "filled": True, "size": 80, "color": "#d98a1f"}, "encoding": {"x": x}},
        ],
    }


def time_chart(counts: Sequence[RoundCount], *, moment: str, attempts: str, fooled: str, other: str) -> dict[str, Any]:
    """Draw attempts per hour, those that fooled the model and the *other* ones on top of each other."""
    rows = []
    for one in counts:
        at = one.name.replace(" ", "T")
        rows.append({"at": at, "kind": fooled, "order": 0, "count": one.fooled})
        rows.append({"at": at, "kind": other, "order": 1, "count": one.attempts - one.fooled})
    colours = {"domain": [fooled, other], "range": ["#d98a1f", "#8a94a6"]}
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 180,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "mark": {"type": "bar", "width": {"band": 0.9}},
        "encoding": {
            "x": {"field": "at", "type": "temporal", "timeUnit": "utcyearmonthdatehours", "title": None, "axis": HOURS},
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
                {"field": "at", "type": "temporal", "title": moment, "format": "%Y-%m-%d %H:00"},
                {"field": "kind", "type": "nominal", "title": fooled},
                {"field": "count", "type": "quantitative", "title": attempts},
            ],
        },
    }
