"""Charts as Vega-Lite specifications: plain dictionaries, drawn by the browser, tested as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.records.figures import Estimate
from quintain.reports.few import count_tooltip, mark_few
from quintain.reports.series import Style, by_series

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ROW_HEIGHT = 30
RAMP = ["#eef2fb", "#1d3f94"]  # squares, from nothing to all; seen on light and dark, with words in ink or white
SERIES_HEIGHT = 18  # of one of several in a row: a name fits in


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


def value_chart(values: Mapping[str, float], *, category: str, value: str, form: str = ",.2f") -> dict[str, Any]:
    """Draw one horizontal bar per category for figures that are no counts, in the order given; *form* writes them."""
    rows = [{"name": name, "value": figure} for name, figure in values.items()]
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
                "axis": {"ticks": False, "domain": False},
            },
            "x": {"field": "value", "type": "quantitative", "title": value, "axis": {"format": form, "tickCount": 5}},
            "tooltip": [
                {"field": "name", "type": "nominal", "title": category},
                {"field": "value", "type": "quantitative", "title": value, "format": form},
            ],
        },
        "mark": {"type": "bar", "cornerRadiusEnd": 3, "height": {"band": 0.62}},
    }


def heat_map(
    labels: Sequence[str],
    counts: Sequence[Sequence[int]],
    *,
    row: str,
    column: str,
    columns: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Draw a table of counts as squares, the darker the larger their share of the row.

    *row* and *column* are what the sides stand for, such as gold answers and predictions; *columns* names the columns
    where they are not the same *labels*.
    """
    cells = [
        {"row": gold, "column": said, "count": number, "share": number / (sum(line) or 1)}
        for gold, line in zip(labels, counts, strict=True)
        for said, number in zip(columns or labels, line, strict=True)
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
                        "scale": {"domain": [0, 1], "range": RAMP},
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


def ranked_chart(
    values: Sequence[float], *, rank: str, value: str, form: str = ",", top: float | None = None
) -> dict[str, Any]:
    """Draw values from the largest to the smallest, one step for each, such as how much every worker did.

    *rank* and *value* are the titles of the axes; *top* is where the scale of values ends, if it has an end.
    """
    rows = [{"rank": place, "value": one} for place, one in enumerate(sorted(values, reverse=True), 1)]
    scale = {"scale": {"domain": [0, top]}} if top is not None else {}
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 200,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "mark": {"type": "area", "interpolate": "step", "line": True, "opacity": 0.5},
        "encoding": {
            "x": {
                "field": "rank",
                "type": "quantitative",
                "title": rank,
                "scale": {"zero": False, "nice": False},
                "axis": {"tickMinStep": 1, "format": ",", "grid": False},
            },
            "y": {"field": "value", "type": "quantitative", "title": value, "axis": {"format": form}, **scale},
            "tooltip": [
                {"field": "rank", "type": "quantitative", "title": rank, "format": ","},
                {"field": "value", "type": "quantitative", "title": value, "format": form},
            ],
        },
    }


def interval_chart(
    figures: Sequence[tuple[str, str, Estimate, int]],
    *,
    row: str,
    series: str,
    value: str,
    styles: Mapping[str, Style] | None = None,
) -> dict[str, Any]:
    """Draw shares with their intervals: a line for each first name, in it a point for each second name.

    The last of each is on how many examples it rests; those of few are drawn hollow. *row* and *series* say what the
    names stand for, *value* what the figures are. The names of series stand beside their first intervals; *styles*
    are those of models.
    """
    parts = list(dict.fromkeys(part for _, part, _, _ in figures))
    rows = _named_once(figures, several=len(parts) > 1)
    x = {"type": "quantitative", "title": value, "scale": {"domain": [0, 1]}, "axis": {"format": ".0%", "tickCount": 5}}
    told_apart = by_series("series", parts, "color", "shape")
    if styles:
        told_apart["color"]["scale"]["range"] = [styles[part].colour for part in parts]
        told_apart["shape"]["scale"]["range"] = [styles[part].shape for part in parts]
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": max(ROW_HEIGHT, SERIES_HEIGHT * len(parts)) * max(1, len({name for name, _, _, _ in figures})),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {
            "y": {
                "field": "row",
                "type": "nominal",
                "sort": None,
                "title": None,
                "axis": {"ticks": False, "domain": False, "labelPadding": 10},
            },
            "yOffset": {"field": "series", "type": "nominal", "sort": None},
            "tooltip": [
                {"field": "row", "type": "nominal", "title": row},
                {"field": "series", "type": "nominal", "title": series},
                {"field": "value", "type": "quantitative", "title": value, "format": ".1%"},
                {"field": "low", "type": "quantitative", "title": "≥", "format": ".1%"},
                {"field": "high", "type": "quantitative", "title": "≤", "format": ".1%"},
                count_tooltip(),
            ],
        },
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": told_apart["color"]},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {"x": {**x, "field": "value"}, **told_apart},
            },
            *(_beside(side, x) for side in ("after", "before") if any(side in row for row in rows)),
        ],
    }
    return mark_few(chart)


def _named_once(figures: Sequence[tuple[str, str, Estimate, int]], *, several: bool) -> list[dict[str, Any]]:
    """Return the rows of a chart of intervals; the first of each series has its name on the side with more room."""
    rows: list[dict[str, Any]] = []
    named: set[str] = set() if several else {part for _, part, _, _ in figures}
    for name, part, figure, n in figures:
        if figure.value is None:
            continue
        low, high = (figure.value if end is None else end for end in (figure.low, figure.high))
        sides = {} if part in named else {"after" if high <= 1 - low else "before": part}
        named.add(part)
        ends = {"value": figure.value, "low": figure.low, "high": figure.high}
        rows.append({"row": name, "series": part, **ends, "n": n, **sides})
    return rows


def _beside(side: str, x: Mapping[str, Any]) -> dict[str, Any]:
    """Write the names of series beside their intervals: *before* the lower end or *after* the upper one."""
    end, align, away = ("low", "right", -8) if side == "before" else ("high", "left", 8)
    return {
        "transform": [{"filter": f"datum.{side}"}],
        "mark": {"type": "text", "align": align, "dx": away, "baseline": "middle", "fontSize": 12, "limit": 150},
        "encoding": {"x": {**x, "field": end}, "text": {"field": side}},
    }


def place_chart(figures: Sequence[tuple[str, Estimate, int]], *, row: str, value: str) -> dict[str, Any]:
    """Draw figures of any size with their intervals, a line for each name; *row* and *value* say what they are.

    The last of each is on how many examples it rests; those of few are drawn hollow.
    """
    rows = [
        {"row": name, "value": figure.value, "low": figure.low, "high": figure.high, "n": n}
        for name, figure, n in figures
    ]
    x = {"type": "quantitative", "title": value, "scale": {"zero": False}}
    axis = {"ticks": False, "domain": False, "labelPadding": 10}
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 22 * max(1, len(rows)),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {
            "y": {"field": "row", "type": "nominal", "sort": None, "title": None, "axis": axis},
            "tooltip": [
                {"field": "row", "type": "nominal", "title": row},
                {"field": "value", "type": "quantitative", "title": value, "format": ".3f"},
                {"field": "low", "type": "quantitative", "title": "≥", "format": ".3f"},
                {"field": "high", "type": "quantitative", "title": "≤", "format": ".3f"},
                count_tooltip(),
            ],
        },
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60},
                "encoding": {"x": {**x, "field": "value"}},
            },
        ],
    }
    return mark_few(chart)


def sparkline(values: Sequence[float], *, width: float = 88, height: float = 24) -> str:
    """Return the points of a line through *values* from left to right, for a small drawing without axes.

    >>> sparkline([1.0, 3.0, 2.0], width=88, height=24)
    '4.0,20.0 44.0,4.0 84.0,12.0'
    """
    low, high = min(values), max(values)
    step = (width - 8) / max(len(values) - 1, 1)
    scale = (height - 8) / (high - low) if high > low else 0.0
    return " ".join(
        f"{4 + step * place:.1f},{height - 4 - (value - low) * scale:.1f}" for place, value in enumerate(values)
    )
