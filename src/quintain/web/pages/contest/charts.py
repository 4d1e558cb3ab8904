"""The charts of a contest: whose pairs broke which system, and which systems break together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.records.contest import ContestScore
from quintain.reports.charts import SCHEMA

ROW = 30
HEAD = 80


def breaking_chart(score: ContestScore, words: Mapping[str, str]) -> dict[str, Any]:
    """Draw for every system and breaker the share of the pairs that broke it, with its interval.

    *words* are the texts that readers see: `system`, `breaker`, `rate`.
    """
    rows = [
        {"system": system, "breaker": breaker, "value": one.value, "low": one.low, "high": one.high}
        for breaker, own in score.intervals.breakers.items()
        for system, one in own.break_rate.items()
        if one.value is not None
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
        ],
    }
    bars = len(score.systems) * max(len(score.breakers), 1)
    return {
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


def together_chart(score: ContestScore, words: Mapping[str, str]) -> dict[str, Any]:
    """Draw how often every two systems break on the same pair, as a share of those that break either."""
    rows = [
        {"one": first, "other": second, "overlap": one.overlap or 0.0, "both": one.both, "either": one.either}
        for one in score.together
        for first, second in (one.systems, one.systems[::-1])
    ]
    side = {"type": "nominal", "title": None}
    return {
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
            {
                "mark": {"type": "text", "fontSize": 12},
                "encoding": {
                    "text": {"field": "overlap", "type": "quantitative", "format": ".0%"},
                    "color": {"condition": {"test": "datum.overlap > 0.5", "value": "white"}, "value": "black"},
                },
            },
        ],
    }
