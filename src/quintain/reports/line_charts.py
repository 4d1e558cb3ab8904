"""Lines, curves and distributions as Vega-Lite specifications, each with its name at the line itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quintain.reports.charts import SCHEMA
from quintain.reports.few import count_tooltip, mark_few
from quintain.reports.series import by_series, end_layers, label_places

HEIGHT = 220
NAME_ROW = 16  # pixels between two names of distributions
NAME_ROOM = 0.12  # of the height above the highest step, for its name


def line_chart(
    rows: Sequence[Mapping[str, Any]], *, x: str, y: str, series: str, titles: tuple[str, str, str]
) -> dict[str, Any]:
    """Draw a line with points for each of the *series* over *x*, whose steps may be of very different size.

    The `n` of a row is the number of examples that its figure rests on, None where that is not known. *titles* are what
    readers see for the three. Lines differ in dash and shape as well as in colour.
    """
    across, up, by = titles
    tooltip = [
        {"field": series, "type": "nominal", "title": by},
        {"field": x, "type": "quantitative", "title": across, "format": ","},
        {"field": y, "type": "quantitative", "title": up, "format": ".3f"},
        *([count_tooltip()] if any(row["n"] is not None for row in rows) else []),
    ]
    ends = {str(row[series]): (row[x], row[y]) for row in sorted(rows, key=lambda row: row[x]) if row[y] is not None}
    names = list(dict.fromkeys(str(row[series]) for row in rows))
    axes = (
        {"field": x, "type": "quantitative", "title": across, "scale": {"type": "symlog"}},
        {"field": y, "type": "quantitative", "title": up, "scale": {"domain": [0, 1]}},
    )
    line = {
        "mark": {"type": "line", "point": {"filled": True, "size": 60}},
        "encoding": {
            "x": axes[0],
            "y": axes[1],
            **by_series(series, names, "color", "strokeDash"),
            "tooltip": tooltip,
        },
    }
    labels = end_layers({name: ends[name] for name in names if name in ends}, (0, 1), HEIGHT, axes)
    return mark_few({"$schema": SCHEMA, **_frame(rows), "layer": [line, *labels]})


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
    values = [value for curve in curves.values() for value in curve]
    domain = (0.0, top) if top is not None else (min([0.0, *values]), max(values, default=1.0) or 1.0)
    axes = (
        {"field": "x", "type": "quantitative", "title": x, "axis": {"grid": False}},
        {"field": "y", "type": "quantitative", "title": y, "scale": {"domain": list(domain)}},
    )
    line = {
        "mark": {"type": "line", "strokeWidth": 2, **({"point": True} if counts else {})},
        "encoding": {
            "x": axes[0],
            "y": axes[1],
            **by_series("series", list(curves), "color", "strokeDash"),
            "tooltip": [
                {"field": "series", "type": "nominal", "title": " "},
                {"field": "x", "type": "quantitative", "title": x, "format": ".2f"},
                {"field": "y", "type": "quantitative", "title": y, "format": ".3f"},
                *([count_tooltip()] if counts else []),
            ],
        },
    }
    ends = {name: (points[-1], curve[-1]) for name, curve in curves.items() if len(points)}
    labels = end_layers(ends, domain, HEIGHT, axes)
    return mark_few({"$schema": SCHEMA, **_frame(rows), "layer": [line, *labels]})


def distribution_chart(
    edges: Sequence[float], shares: Mapping[str, Sequence[float]], *, value: str, share: str, form: str = ",.0f"
) -> dict[str, Any]:
    """Draw how the values of one or several series are spread, as steps: what share of each lies between two *edges*.

    *value* and *share* are the titles of the axes, *form* is how a value is written. The name of a series stands above
    the step by which it is told best from the others.
    """
    rows = [
        {"series": name, "from": low, "to": high, "share": part}
        for name, parts in shares.items()
        # The last step is drawn out to its end.
        for low, high, part in zip(edges, [*edges[1:], edges[-1]], [*parts, parts[-1]], strict=True)
    ]
    highest = max((part for parts in shares.values() for part in parts), default=1.0) or 1.0
    domain = [0.0, highest * (1 + NAME_ROOM * (len(shares) > 1))]
    across = {"type": "quantitative", "title": value, "axis": {"format": form, "grid": False}}
    up = {
        "type": "quantitative",
        "title": share,
        "axis": {"format": ".0%", "tickCount": 5},
        "scale": {"domain": domain},
    }
    steps = {
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
        "encoding": {
            "x": {**across, "field": "from"},
            "y": {**up, "field": "share"},
            **by_series("series", list(shares), "color", "strokeDash"),
            "tooltip": [
                {"field": "series", "type": "nominal", "title": " "},
                {"field": "from", "type": "quantitative", "title": "≥", "format": form},
                {"field": "to", "type": "quantitative", "title": "<", "format": form},
                {"field": "share", "type": "quantitative", "title": share, "format": ".1%"},
            ],
        },
    }
    names = {
        "data": {"values": _names_at_steps(edges, shares, domain[1])},
        "mark": {"type": "text", "align": "left", "dx": 3, "dy": -8, "baseline": "middle", "fontSize": 12},
        "encoding": {
            "x": {**across, "field": "from"},
            "y": {**up, "field": "at"},
            "text": {"field": "series"},
        },
    }
    return {"$schema": SCHEMA, **_frame(rows), "layer": [steps, names] if len(shares) > 1 else [steps]}


def _names_at_steps(edges: Sequence[float], shares: Mapping[str, Sequence[float]], top: float) -> list[dict[str, Any]]:
    """Place the name of each series at the step where it is furthest above the others, no two at one height."""
    best: dict[str, int] = {}
    for name, parts in shares.items():
        others = [series for other, series in shares.items() if other != name]
        lead = [part - max((series[step] for series in others), default=0.0) for step, part in enumerate(parts)]
        best[name] = lead.index(max(lead))
    pixels = {name: HEIGHT * (1 - shares[name][step] / top) for name, step in best.items()}
    places = label_places(pixels, HEIGHT, NAME_ROW)
    return [
        {"series": name, "from": edges[step], "at": round(top * (1 - places[name] / HEIGHT), 5)}
        for name, step in best.items()
    ]


def _frame(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "data": {"values": [dict(row) for row in rows]},
        "width": "container",
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {},
    }
