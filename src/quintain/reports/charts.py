"""Charts as Vega-Lite specifications: plain dictionaries, drawn by the browser, tested as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.records.figures import Estimate
from quintain.reports.few import count_tooltip, mark_few

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ROW_HEIGHT = 30
# For several series at once; told apart by dashes or shapes, too, and seen on light and on dark ground.
COLOURS = ["#4a76d4", "#d98a1f", "#2f9e77", "#b0558f", "#7d8797", "#c04a3f"]


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


def distribution_chart(
    edges: Sequence[float], shares: Mapping[str, Sequence[float]], *, value: str, share: str, form: str = ",.0f"
) -> dict[str, Any]:
    """Draw how the values of one or several series are spread, as steps: what share of each lies between two *edges*.

    *value* and *share* are the titles of the axes, *form* is how a value is written.
    """
    rows = [
        {"series": name, "from": low, "to": high, "share": part}
        for name, parts in shares.items()
        # The last step is drawn out to its end.
        for low, high, part in zip(edges, [*edges[1:], edges[-1]], [*parts, parts[-1]], strict=True)
    ]
    legend = {"orient": "top", "title": None} if len(shares) > 1 else None
    one_by_one = {"field": "series", "type": "nominal", "sort": None, "legend": legend}
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 220,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "from", "type": "quantitative", "title": value, "axis": {"format": form, "grid": False}},
            "y": {"field": "share", "type": "quantitative", "title": share, "axis": {"format": ".0%", "tickCount": 5}},
            "color": {**one_by_one, "scale": {"range": COLOURS}},
            "strokeDash": one_by_one,
            "tooltip": [
                {"field": "series", "type": "nominal", "title": " "},
                {"field": "from", "type": "quantitative", "title": "≥", "format": form},
                {"field": "to", "type": "quantitative", "title": "<", "format": form},
                {"field": "share", "type": "quantitative", "title": share, "format": ".1%"},
            ],
        },
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
    figures: Sequence[tuple[str, str, Estimate, int]], *, row: str, series: str, value: str
) -> dict[str, Any]:
    """Draw shares with their intervals: a line for each first name, in it a point for each second name.

    The last of each is on how many examples it rests; those of few are drawn hollow. *row* and *series* say what the
    names stand for, *value* what the figures are.
    """
    rows = [
        {"row": name, "series": part, "value": figure.value, "low": figure.low, "high": figure.high, "n": n}
        for name, part, figure, n in figures
        if figure.value is not None
    ]
    parts = len({part for _, part, _, _ in figures})
    x = {"type": "quantitative", "title": value, "scale": {"domain": [0, 1]}, "axis": {"format": ".0%", "tickCount": 5}}
    legend = {"orient": "top", "title": None} if parts > 1 else None
    one_by_one = {"field": "series", "type": "nominal", "sort": None}
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": max(ROW_HEIGHT, 14 * parts) * max(1, len({name for name, _, _, _ in figures})),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {
            "y": {
                "field": "row",
                "type": "nominal",
                "sort": None,
                "title": None,
                "axis": {"ticks": False, "domain": False, "labelPadding": 10},
            },
            "yOffset": one_by_one,
            "color": {**one_by_one, "scale": {"range": COLOURS}, "legend": legend},
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
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": {"x": {**x, "field": "value"}, "shape": {**one_by_one, "legend": legend}},
            },
        ],
    }
    return mark_few(chart)


def line_chart(
    rows: Sequence[Mapping[str, Any]], *, x: str, y: str, series: str, titles: tuple[str, str, str]
) -> dict[str, Any]:
    """Draw a line with points for each of the *series* over *x*, whose steps may be of very different size.

    The `n` of a row is the number of examples that its figure rests on, None where that is not known. *titles* are what
    readers see for the three. Lines differ in dash as well as in colour.
    """
    across, up, by = titles
    tooltip = [
        {"field": series, "type": "nominal", "title": by},
        {"field": x, "type": "quantitative", "title": across, "format": ","},
        {"field": y, "type": "quantitative", "title": up, "format": ".3f"},
        *([count_tooltip()] if any(row["n"] is not None for row in rows) else []),
    ]
    chart = {
        "$schema": SCHEMA,
        "data": {"values": [dict(row) for row in rows]},
        "width": "container",
        "height": 220,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": x, "type": "quantitative", "title": across, "scale": {"type": "symlog"}},
            "y": {"field": y, "type": "quantitative", "title": up, "scale": {"domain": [0, 1]}},
            "color": {"field": series, "type": "nominal", "title": by},
            "strokeDash": {"field": series, "type": "nominal", "title": by},
            "tooltip": tooltip,
        },
    }
    return mark_few(chart)


def curve_chart(
    points: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    x: str,
    y: str,
    top: float | None = None,
    counts: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Any]:
    """Draw curves over the same points; *x* and *y* are the titles of the axes, *top* is where the upper one ends.

    A curve of estimates has points, and *counts* says on how many examples each rests.
    """
    nothing: Sequence[None] = [None] * len(points)
    rows = [
        {"series": name, "x": at, "y": value, "n": n}
        for name, values in curves.items()
        for at, value, n in zip(points, values, (counts or {}).get(name, nothing), strict=True)
    ]
    legend = {"orient": "top", "title": None, "columns": 2} if len(curves) > 1 else None
    one_by_one = {"field": "series", "type": "nominal", "sort": None, "legend": legend}
    scale = {"scale": {"domain": [0, top]}} if top is not None else {}
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 220,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "mark": {"type": "line", "strokeWidth": 2, **({"point": True} if counts else {})},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": x, "axis": {"grid": False}},
            "y": {"field": "y", "type": "quantitative", "title": y, **scale},
            "color": {**one_by_one, "scale": {"range": COLOURS}},
            "strokeDash": one_by_one,
            "tooltip": [
                {"field": "series", "type": "nominal", "title": " "},
                {"field": "x", "type": "quantitative", "title": x, "format": ".2f"},
                {"field": "y", "type": "quantitative", "title": y, "format": ".3f"},
                *([count_tooltip()] if counts else []),
            ],
        },
    }
    return mark_few(chart)


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
