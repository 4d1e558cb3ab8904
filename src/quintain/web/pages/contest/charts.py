"""The charts of a contest: whose pairs broke which system, and which systems break together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quintain.core.records.contest import ContestScore
from quintain.reports.charts import RAMP, SCHEMA, interval_chart
from quintain.reports.few import count_tooltip, mark_few, square_texts

ROW = 30
HEAD = 80


def breaking_chart(score: ContestScore, words: Mapping[str, str]) -> dict[str, Any]:
    """Draw for every system and breaker the share of the pairs that broke it, with its interval.

    *words* are the texts that readers see: `system`, `breaker`, `rate`, `pairs`.
    """
    figures = [
        (system, breaker, rate, score.breakers[breaker].pairs)
        for system in score.systems
        for breaker, own in score.intervals.breakers.items()
        if (rate := own.break_rate.get(system)) is not None
    ]
    return interval_chart(figures, row=words["system"], series=words["breaker"], value=words["rate"])


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
                        "scale": {"domain": [0, 1], "range": RAMP},
                        "legend": None,
                    }
                },
            },
            *square_texts({"field": "overlap", "type": "quantitative", "format": ".0%"}, 0.5, rows),
        ],
    }
    return mark_few(chart)
