"""The charts of a board: a scatter of two axes with its Pareto front, progress over time, and over rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from quintain.reports.charts import SCHEMA
from quintain.services.board.ranking import Ranked

HEIGHT = 320
MOST_POINTS = 200  # models in the chart of progress


def scatter_chart() -> dict[str, Any]:
    """Draw one point per model; the page fills in data and titles as the reader chooses axes.

    Each row has `ref`, `name`, `x`, `y`, `front` (such points are strong), and its label either `before` or `after` the
    point. The model whose `ref` is the signal `lit` is ringed.
    """
    tooltip = [
        {"field": "name", "type": "nominal", "title": "model"},
        {"field": "x", "type": "quantitative", "title": "x", "format": ".2f"},
        {"field": "y", "type": "quantitative", "title": "y", "format": ".2f"},
    ]
    scale = {"zero": False, "nice": True, "padding": 16}
    lit = "datum.ref === lit"
    x = {"field": "x", "type": "quantitative", "title": "x", "scale": scale, "axis": {"tickCount": 5}}
    y = {"field": "y", "type": "quantitative", "title": "y", "scale": scale, "axis": {"tickCount": 5}}
    return {
        "$schema": SCHEMA,
        "data": {"values": []},
        "params": [{"name": "lit", "value": ""}],
        "width": "container",
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"x": x, "y": y},
        "layer": [
            {
                "transform": [{"filter": "datum.front"}],
                "mark": {"type": "line", "strokeDash": [4, 4], "opacity": 0.7},
                "encoding": {"order": {"field": "x"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 90},
                "encoding": {
                    "tooltip": tooltip,
                    "opacity": {"condition": {"test": f"datum.front || {lit}", "value": 1}, "value": 0.4},
                    "stroke": {"value": "currentColor"},
                    "strokeWidth": {"condition": {"test": lit, "value": 6}, "value": 0},
                },
            },
            _labels("after", "left", 9),
            _labels("before", "right", -9),
        ],
    }


def _labels(field: str, align: str, by: int) -> dict[str, Any]:
    """Write the names beside the points, on the side where there is room."""
    return {
        "mark": {"type": "text", "align": align, "dx": by, "dy": -8, "fontSize": 12, "limit": 130, "aria": False},
        "encoding": {"text": {"field": field}},
    }


def progress_rows(ranked: Ranked) -> list[dict[str, Any]]:
    """Give each model's performance by date, and the best so far.

    Of many models those that were the best when they came, and the newest others: more points are a cloud.
    """
    rows = []
    axis = ranked.board.axes[0]
    best: float | None = None
    dated = sorted(range(len(ranked.board.models)), key=lambda row: ranked.board.models[row].created_at)
    for row in dated:
        figure = ranked.figure(row, axis.name)
        if figure is None or figure.value is None:
            continue
        value = figure.value
        best = value if best is None else (min if axis.lower else max)(best, value)
        model = ranked.board.models[row]
        rows.append({"date": model.created_at.isoformat(), "value": value, "best": best, "name": model.name})
    if len(rows) <= MOST_POINTS:
        return rows
    leads = [place for place, row in enumerate(rows) if row["value"] == row["best"]][-MOST_POINTS:]
    others = [place for place, row in enumerate(rows) if row["value"] != row["best"]]
    shown = sorted([*leads, *others[len(others) - (MOST_POINTS - len(leads)) :]])
    return [rows[place] for place in shown]


def progress_chart(rows: Sequence[Mapping[str, Any]], *, title: str, human: tuple[str, float | None]) -> dict[str, Any]:
    """Draw models by date, the best so far as a step line and, where known, what people reach."""
    people, reached = human
    y = {"type": "quantitative", "title": title, "scale": {"zero": False, "nice": True, "padding": 12}}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
            "encoding": {"y": {"field": "best", **y}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60},
            "encoding": {
                "y": {"field": "value", **y},
                "tooltip": [
                    {"field": "name", "type": "nominal", "title": "model"},
                    {"field": "value", "type": "quantitative", "title": title, "format": ".2f"},
                    {"field": "date", "type": "temporal", "title": "date"},
                ],
            },
        },
    ]
    if reached is not None:
        layers += [
            {"mark": {"type": "rule", "strokeDash": [6, 4]}, "encoding": {"y": {"datum": reached}}},
            {
                "mark": {"type": "text", "align": "left", "x": 4, "dy": -8},
                "encoding": {"y": {"datum": reached}, "text": {"value": people}},
            },
        ]
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 240,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"x": {"field": "date", "type": "temporal", "title": None, "axis": _dates(rows)}},
        "layer": layers,
    }


def _dates(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Letter days; hours where all models came within two days, and seconds where they came within minutes."""
    first, last = (datetime.fromisoformat(rows[place]["date"]) for place in (0, -1))
    steps = ((timedelta(minutes=10), "%H:%M:%S"), (timedelta(days=2), "%d %b %H:%M"))
    written = next((text for within, text in steps if last - first < within), "%d %b %Y")
    return {"format": written, "tickCount": 4, "labelOverlap": True}


def rounds_chart(*, title: str) -> dict[str, Any]:
    """Draw what the best model of each round gets right beside what people do, and every model faintly behind.

    The page fills in rows `{place, round, kind, series, name, right, low, high}`; the kinds are `model`, `best` and
    `people`.
    """
    domain = {"zero": False, "nice": True, "padding": 12}
    y = {"type": "quantitative", "title": title, "scale": domain, "axis": {"format": ".0%", "tickCount": 5}}
    tooltip = [
        {"field": "round", "type": "nominal", "title": "round"},
        {"field": "name", "type": "nominal", "title": "who"},
        {"field": "right", "type": "quantitative", "title": title, "format": ".1%"},
        {"field": "low", "type": "quantitative", "title": "from", "format": ".1%"},
        {"field": "high", "type": "quantitative", "title": "to", "format": ".1%"},
    ]
    faint = {
        "transform": [{"filter": "datum.kind === 'model'"}],
        "mark": {"type": "line", "opacity": 0.25, "strokeWidth": 1.5, "point": {"size": 20, "opacity": 0.25}},
        "encoding": {"y": {"field": "right", **y}, "detail": {"field": "series"}, "tooltip": tooltip},
    }
    return {
        "$schema": SCHEMA,
        "data": {"values": []},
        "width": "container",
        "height": 260,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {
            "x": {
                "field": "round",
                "type": "ordinal",
                "sort": {"field": "place"},
                "title": None,
                "axis": {"labelAngle": 0, "labelLimit": 120, "labelOverlap": True},
            }
        },
        "layer": [
            faint,
            *_series("people", "square", [6, 4], y, tooltip),
            *_series("best", "circle", [1, 0], y, tooltip),
        ],
    }


def _series(
    kind: str, shape: str, dash: list[int], y: dict[str, Any], tooltip: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Draw one line with points, intervals and its name; people's is dashed and square, not only of another colour."""
    colour = {"color": "#d98a1f"} if kind == "people" else {}
    chosen = [{"filter": f"datum.kind === '{kind}'"}]
    value = {"field": "right", **y}
    return [
        {
            "transform": chosen,
            "mark": {"type": "rule", "strokeWidth": 2.5, "color": "#8a94a6"},
            "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
        },
        {
            "transform": chosen,
            "mark": {"type": "line", "strokeDash": dash, "strokeWidth": 2.5, **colour},
            "encoding": {"y": value},
        },
        {
            "transform": chosen,
            "mark": {"type": "point", "filled": True, "opacity": 1, "size": 80, "shape": shape, **colour},
            "encoding": {"y": value, "tooltip": tooltip},
        },
        {
            "transform": chosen,
            "mark": {"type": "text", "dy": -14, "fontSize": 12, "limit": 140},
            "encoding": {"y": value, "text": {"field": "name"}},
        },
    ]
