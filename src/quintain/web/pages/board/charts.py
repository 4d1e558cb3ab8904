"""The charts of a board: a scatter of two axes with its Pareto front, progress over time, and over rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from quintain.reports.charts import SCHEMA
from quintain.reports.few import GROUND, count_tooltip, few_layers, few_text, few_title, mark_few
from quintain.reports.round_lines import RoundColumn, RoundPoint, RoundWords, round_lines, short_names
from quintain.reports.series import GREY, PEOPLE, SHAPES, Style
from quintain.services.board.parts import MatrixRound, rest_of
from quintain.services.board.ranking import Ranked

HEIGHT = 320
# What a row says itself of how its model is drawn.
COLOUR = {"field": "colour", "type": "nominal", "scale": None, "legend": None}
MARK = {"field": "mark", "type": "nominal", "scale": None, "legend": None}
MOST_POINTS = 200  # models in the chart of progress
MOST_NAMES = 6  # that can be read in it


def scatter_chart() -> dict[str, Any]:
    """Draw one point per model; the page fills in data and titles as the reader chooses axes.

    Each row has `ref`, `name`, `x`, `y`, `front` (such points are strong), `n` (the examples that the less sure of the
    two figures rests on), `few` (such points are hollow), `colour` and `mark` of its model, and its label either
    `before` or `after` the point. The model whose `ref` is the signal `lit` is ringed. Where no row is `few`, the page
    takes the title away.
    """
    tooltip = [
        {"field": "name", "type": "nominal", "title": "model"},
        {"field": "x", "type": "quantitative", "title": "x", "format": ".2f"},
        {"field": "y", "type": "quantitative", "title": "y", "format": ".2f"},
        count_tooltip(),
    ]
    scale = {"zero": False, "nice": True, "padding": 16}
    lit = "datum.ref === lit"
    x = {"field": "x", "type": "quantitative", "title": "x", "scale": scale, "axis": {"tickCount": 5}}
    y = {"field": "y", "type": "quantitative", "title": "y", "scale": scale, "axis": {"tickCount": 5}}
    return {
        "$schema": SCHEMA,
        "data": {"values": []},
        "params": [{"name": "lit", "value": ""}, GROUND],
        "title": few_title(few_text()),
        "width": "container",
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"x": x, "y": y},
        "layer": [
            {
                "transform": [{"filter": "datum.front"}],
                "mark": {"type": "line", "strokeDash": [4, 4], "opacity": 0.7, "color": GREY},
                "encoding": {"order": {"field": "x"}},
            },
            *few_layers(
                {
                    "mark": {"type": "point", "filled": True, "size": 90},
                    "encoding": {
                        "tooltip": tooltip,
                        "opacity": {"condition": {"test": f"datum.front || {lit}", "value": 1}, "value": 0.4},
                        "color": COLOUR,
                        "shape": MARK,
                        "stroke": {"condition": {"test": lit, "value": "currentColor"}, **COLOUR},
                        "strokeWidth": {"condition": {"test": lit, "value": 6}, "value": 2},
                    },
                }
            ),
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
    """Return each model's performance by date, and the best so far.

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
        date = model.created_at.isoformat()
        rows.append(
            {"date": date, "value": value, "best": best, "name": model.name, "n": ranked.examples(row, axis.name)}
        )
    if len(rows) <= MOST_POINTS:
        return rows
    leads = [place for place, row in enumerate(rows) if row["value"] == row["best"]][-MOST_POINTS:]
    others = [place for place, row in enumerate(rows) if row["value"] != row["best"]]
    shown = sorted([*leads, *others[len(others) - (MOST_POINTS - len(leads)) :]])
    return [rows[place] for place in shown]


def progress_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str,
    human: tuple[str, float | None],
    styles: Mapping[str, Style] | None = None,
) -> dict[str, Any]:
    """Draw models by date, the best so far as a step line and, where known, what people reach.

    Models are drawn in their *styles*; those that were the best when they came have their names.
    """
    people, reached = human
    unknown = Style(GREY, SHAPES[0])
    drawn = {name: (styles or {}).get(name, unknown) for name in {row["name"] for row in rows}}
    rows = [{**row, "colour": drawn[row["name"]].colour, "mark": drawn[row["name"]].shape} for row in rows]
    names = _leaders(rows)
    y = {"type": "quantitative", "title": title, "scale": {"zero": False, "nice": True, "padding": 12}}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "color": GREY},
            "encoding": {"y": {"field": "best", **y}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
            "encoding": {
                "y": {"field": "value", **y},
                "color": COLOUR,
                "shape": MARK,
                "tooltip": [
                    {"field": "name", "type": "nominal", "title": "model"},
                    {"field": "value", "type": "quantitative", "title": title, "format": ".2f"},
                    {"field": "date", "type": "temporal", "title": "date"},
                    count_tooltip(),
                ],
            },
        },
    ]
    layers += [
        {
            "data": {"values": [row for row in names if row["side"] == side]},
            "mark": {"type": "text", "align": align, "dx": away, "dy": -10, "fontSize": 12, "limit": 130},
            "encoding": {"y": {"field": "value", **y}, "text": {"field": "name"}},
        }
        for side, align, away in (("after", "left", 4), ("before", "right", -4))
        if any(row["side"] == side for row in names)
    ]
    if reached is not None:
        layers += [
            # One line across, and its name once: each row of the data would draw its own.
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "strokeDash": [6, 4], "strokeWidth": 2, "color": PEOPLE},
                "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": {"datum": reached}},
            },
            {
                "data": {"values": [{}]},
                "mark": {"type": "text", "align": "left", "dx": 4, "dy": -8},
                "encoding": {"x": {"value": 0}, "y": {"datum": reached}, "text": {"value": people}},
            },
        ]
    chart = {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": 240,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"x": {"field": "date", "type": "temporal", "title": None, "axis": _dates(rows)}},
        "layer": layers,
    }
    return mark_few(chart)


def _leaders(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the last models that were the best when they came, with the side of their points where there is room."""
    best = [row for place, row in enumerate(rows) if not place or row["best"] != rows[place - 1]["best"]]
    moments = [datetime.fromisoformat(row["date"]) for row in rows]
    middle = moments[0] + (moments[-1] - moments[0]) / 2
    return [
        {
            **{name: row[name] for name in ("date", "value", "name")},
            "side": "after" if datetime.fromisoformat(row["date"]) <= middle else "before",
        }
        for row in best[-MOST_NAMES:]
    ]


def _dates(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Letter days; hours where all models came within two days, and seconds where they came within minutes."""
    first, last = (datetime.fromisoformat(rows[place]["date"]) for place in (0, -1))
    steps = ((timedelta(minutes=10), "%H:%M:%S"), (timedelta(days=2), "%d %b %H:%M"))
    written = next((text for within, text in steps if last - first < within), "%d %b %Y")
    return {"format": written, "tickCount": 4, "labelOverlap": True}


def rounds_chart(
    rounds: Sequence[MatrixRound],
    opened: Mapping[str, bool],
    styles: Mapping[str, Style],
    words: RoundWords,
    notes: Mapping[str, str],
) -> dict[str, Any] | None:
    """Draw what the models of each round got right of what was collected there, and how far people agree.

    *opened* are all rounds of the task, also those that nothing was judged of, and whether each is still open; *notes*
    say so: `open`, `unjudged`. None where nothing was judged at all.
    """
    judged = {judged_round.ref.partition("/")[2]: judged_round for judged_round in rounds}
    names = short_names([rate.model for judged_round in rounds for rate in judged_round.models])
    columns = []
    for title in dict.fromkeys([*opened, *judged]):
        still_open = opened.get(title, False)
        column = RoundColumn(title, open=still_open, note=notes["open" if still_open else "unjudged"])
        if title in judged:
            judged_round = judged[title]
            points = {
                names[rate.model]: RoundPoint(rest_of(rate.vmer), rate.collected, target=True)
                for rate in judged_round.models
                if rate.vmer.value is not None
            }
            column = replace(column, models=points, people=judged_round.human, people_n=judged_round.validated)
        columns.append(column)
    return round_lines(columns, styles, words) if any(column.models for column in columns) else None
