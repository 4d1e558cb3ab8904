"""Charts as Vega-Lite specifications: plain dictionaries, drawn by the browser, tested as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ROW_HEIGHT = 30


def bar_chart(counts: Mapping[str, int], *, category: str, value: str) -> dict[str, Any]:
    """Draw one horizontal bar per category, in the order given, with its number at the end.

    *category* and *value* are the titles that readers see in tooltips.
    """
    total = sum(counts.values()) or 1
    rows = [{"name": name, "count": count, "share": count / total} for name, count in counts.items()]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"ticks": False, "domain": False}}
    x = {"field": "count", "type": "quantitative", "title": None, "axis": None}
    tooltip = [
        {"field": "name", "type": "nominal", "title": category},
        {"field": "count", "type": "quantitative", "title": value, "format": ","},
        {"field": "share", "type": "quantitative", "title": "%", "format": ".1%"},
    ]
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": ROW_HEIGHT * max(1, len(rows)),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"y": y, "x": x, "tooltip": tooltip},
        "layer": [
            {"mark": {"type": "bar", "cornerRadiusEnd": 3, "height": {"band": 0.62}}},
            {
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"text": {"field": "count", "type": "quantitative", "format": ","}},
            },
        ],
    }


def heat_map(labels: Sequence[str], counts: Sequence[Sequence[int]], *, row: str, column: str) -> dict[str, Any]:
    """Draw a table of counts as squares, the darker the larger their share of the row.

    *row* and *column* are what the sides stand for, such as gold answers and predictions.
    """
    cells = [
        {"row": gold, "column": said, "count": number, "share": number / (sum(line) or 1)}
        for gold, line in zip(labels, counts, strict=True)
        for said, number in zip(labels, line, strict=True)
    ]
    axis = {"ticks": False, "domain": False, "labelAngle": 0}
    dark = {"condition": {"test": "datum.share > 0.55", "value": "#ffffff"}, "value": "#18202e"}
    tooltip = [
        {"field": "row", "type": "nominal", "title": row},
        {"field": "column", "type": "nominal", "title": column},
        {"field": "count", "type": "quantitative", "title": "n", "format": ","},
        {"field": "share", "type": "quantitative", "title": "%", "format": ".1%"},
    ]
    return {
        "$schema": SCHEMA,
        "data": {"values": cells},
        "width": "container",
        "height": 48 * max(1, len(labels)),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {
            "y": {"field": "row", "type": "nominal", "sort": None, "title": row, "axis": axis},
            "x": {
                "field": "column",
                "type": "nominal",
                "sort": None,
                "title": column,
                "axis": {**axis, "orient": "top"},
            },
            "tooltip": tooltip,
        },
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 3},
                "encoding": {
                    "color": {
                        "field": "share",
                        "type": "quantitative",
                        "scale": {"domain": [0, 1], "range": ["#eef2fb", "#1d3f94"]},
                        "legend": None,
                    }
                },
            },
            {
                "mark": {"type": "text"},
                "encoding": {"text": {"field": "count", "type": "quantitative", "format": ","}, "color": dark},
            },
        ],
    }


def sparkline(values: Sequence[float], *, width: float = 88, height: float = 24) -> str:
    """Give the points of a line through *values* from left to right, for a small drawing without axes.

    >>> sparkline([1.0, 3.0, 2.0], width=88, height=24)
    '4.0,20.0 44.0,4.0 84.0,12.0'
    """
    low, high = min(values), max(values)
    step = (width - 8) / max(len(values) - 1, 1)
    scale = (height - 8) / (high - low) if high > low else 0.0
    return " ".join(
        f"{4 + step * place:.1f},{height - 4 - (value - low) * scale:.1f}" for place, value in enumerate(values)
    )
