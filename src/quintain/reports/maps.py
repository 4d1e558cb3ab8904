"""Shares by row and column as squares, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quintain.core.records.figures import Estimate
from quintain.reports.charts import RAMP, SCHEMA
from quintain.reports.few import count_tooltip, mark_few, square_texts


def share_map(cells: Sequence[tuple[str, str, Estimate, int]], *, row: str, column: str, value: str) -> dict[str, Any]:
    """Draw shares by row and column as squares, the darker the larger; those of few examples are hollow.

    The last of each cell is on how many examples it rests; the others say what each side stands for.
    """
    rows = [
        {"row": across, "column": down, "value": figure.value, "low": figure.low, "high": figure.high, "n": n}
        for across, down, figure, n in cells
        if figure.value is not None
    ]
    axis = {"ticks": False, "domain": False, "labelAngle": 0}
    side = {"type": "nominal", "sort": None}
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 48 * max(1, len({across for across, _, _, _ in cells})),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {
            "y": {**side, "field": "row", "title": row, "axis": axis},
            "x": {**side, "field": "column", "title": column, "axis": {**axis, "orient": "top"}},
            "tooltip": [
                {"field": "row", "type": "nominal", "title": row},
                {"field": "column", "type": "nominal", "title": column},
                {"field": "value", "type": "quantitative", "title": value, "format": ".1%"},
                {"field": "low", "type": "quantitative", "title": "≥", "format": ".1%"},
                {"field": "high", "type": "quantitative", "title": "≤", "format": ".1%"},
                count_tooltip(),
            ],
        },
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 3},
                "encoding": {
                    "color": {
                        "field": "value",
                        "type": "quantitative",
                        "scale": {"domain": [0, 1], "range": RAMP},
                        "legend": None,
                    }
                },
            },
            *square_texts({"field": "value", "type": "quantitative", "format": ".1%"}, 0.55, rows),
        ],
    }
    return mark_few(chart)
