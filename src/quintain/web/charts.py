"""Charts as Vega-Lite specifications: plain dictionaries, drawn by the browser, tested as data."""

from __future__ import annotations

from collections.abc import Mapping
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
