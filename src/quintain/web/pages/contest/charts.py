"""The charts of a contest: whose pairs broke which system, and which systems break together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.records.contest import ContestScore
from quintain.reports.charts import SCHEMA
from quintain.reports.few import count_tooltip, mark_few, square_texts

ROW = 30
HEAD = 80


def breaking_chart(score: ContestScore, words: Mapping[str, str]) -> dict[str, Any]:
    """Draw for every system and breaker the share of the pairs that broke it, with its interval.

    *words* are the texts that readers see: `system`, `breaker`, `rate`, `pairs`.
    """
    rows = [
        {
            "system": system,
            "breaker": breaker,
            "value": rate.value,
            "low": rate.low,
            "high": rate.high,
            "n": score.breakers[breaker].pairs,
        }
        for breaker, own in score.intervals.breakers.items()
        for system, rate in own.break_rate.items()
        if rate.value is not None
    ]
    x = {"field": "value", "type": "quantitative", "title": words["rate"], "scale": {"domain": [0, 1]}}
    x["axis"] = {"format": "%"}
    shared = {
        "y": {"field": "system", "type": "nominal", "title": None},
        "yOffset": {"field": "breaker", "type": "nominal"},
        "color": {
            "field": "breaker",
            "type": "nominal",
            "title": words["breaker"],
            "legend": {"orient": "top", "columns": 3},
        },
        "tooltip": [
            {"field": "system", "type": "nominal", "title": words["system"]},
            {"field": "breaker", "type": "nominal", "title": words["breaker"]},
            {"field": "value", "type": "quantitative", "title": words["rate"], "format": ".1%"},
            {"field": "low", "type": "quantitative", "title": "2.5 %", "format": ".1%"},
            {"field": "high", "type": "quantitative", "title": "97.5 %", "format": ".1%"},
            count_tooltip(words["pairs"]),
        ],
    }
    bars = len(score.systems) * max(len(score.breakers), 1)
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": HEAD + ROW * bars * 2 // 3,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": shared,
        "layer": [
            {"mark": {"type": "bar", "opacity": 0.75}, "encoding": {"x": x}},
            {
                "mark": {"type": "rule"},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": {"value": "#777"}},
            },
        ],
    }
    return mark_few(chart)


def together_chart(score: ContestScore, words: Mapping[str, str]) -> dict[str, Any]:
    """Draw how often every two systems break on the same pair, as a share of those that break either."""
    rows = [
        {"one": first, "other": second, "overlap": both.overlap or 0.0, "n": both.either}
        for both in score.together
        for first, second in (both.systems, both.systems[::-1])
    ]
    side = {"type": "nominal", "title": None}
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": HEAD + ROW * len(score.systems),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {
            "x": {**side, "field": "one", "axis": {"labelAngle": 0}},
            "y": {**side, "field": "other"},
            "tooltip": [
                {"field": "one", "type": "nominal", "title": words["system"]},
                {"field": "other", "type": "nominal", "title": words["and"]},
                {"field": "overlap", "type": "quantitative", "title": words["overlap"], "format": ".0%"},
                count_tooltip(words["either"]),
            ],
        },
        "layer": [
            {
                "mark": {"type": "rect"},
                "encoding": {
                    "color": {
                        "field": "overlap",
                        "type": "quantitative",
                        "title": words["overlap"],
                        "scale": {"domain": [0, 1], "scheme": "blues"},
                        "legend": {"orient": "top", "format": "%"},
                    }
                },
            },
            *square_texts({"field": "overlap", "type": "quantitative", "format": ".0%"}, 0.5, rows),
        ],
    }
    return mark_few(chart)
