"""Models and people over the rounds of a task: one line for each model, a band for people, names at the ends of lines.

Where names stand is computed here, so that none is written over another: lines end where they end, and each name has a
row of its own in a column beside them, to which a thin line leads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from quintain.core.records.figures import Estimate
from quintain.reports.charts import SCHEMA
from quintain.reports.series import (
    COLOURS,
    LABEL_ROW,
    LONGEST_LABEL,
    PEOPLE,
    SHAPES,
    Style,
    labels_at_ends,
)
from quintain.stats.fitness import LEAST_EXAMPLES

HEIGHT = 300
REACH = 0.3  # of the way to the next round: as far are models of one round drawn apart
ALONE = 0.1  # the same where each round has one model


@dataclass(frozen=True, slots=True)
class RoundPoint:
    """What one model reached in a round, from *n* examples; *target* where the round was aimed at it."""

    figure: Estimate
    n: int
    target: bool = False


@dataclass(frozen=True, slots=True)
class RoundColumn:
    """A round as the chart has it: what stands below it, and a *note* that stands where it has no figure.

    Texts are still coming into one that is *open*, so that its figures are not settled.
    """

    title: str
    models: Mapping[str, RoundPoint] = field(default_factory=dict)
    people: Estimate | None = None
    people_n: int = 0
    open: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class RoundWords:
    """The texts that readers see: of axes, of people's line, and in what appears under the pointer."""

    round: str
    value: str
    who: str
    people: str
    examples: str
    form: str = ".3f"


def is_hollow(n: int, *, still_open: bool) -> bool:
    """Whether a figure is drawn hollow: from too few examples to rank on, or from a round that goes on."""
    return still_open or n < LEAST_EXAMPLES


def round_lines(columns: Sequence[RoundColumn], styles: Mapping[str, Style], words: RoundWords) -> dict[str, Any]:
    """Draw a line for each model over the rounds that it was run on, people as a band, and a ring around targets.

    Every round has its place, also one without figures. No line joins two models. *styles* go by the name of a model
    without its version.
    """
    names = list(dict.fromkeys(name for column in columns for name in sorted(column.models)))
    styles = {name: styles[bare] for name in names if (bare := name.partition("@")[0]) in styles}
    labelled = len(names) + any(column.people for column in columns)
    height = max(HEIGHT, LABEL_ROW * (labelled + 1))
    domain = _domain(columns)
    asides = _asides(columns, names)
    points, segments = _points(columns, asides, words), _segments(columns, asides)
    people = [row for row in points if row["kind"] == "people"]
    labels = _labels(points, domain, height)
    y = {
        "type": "quantitative",
        "title": words.value,
        "scale": {"domain": list(domain), "nice": False, "zero": False},
        "axis": {"format": ".0%" if words.form.endswith("%") else ".2f", "tickCount": 5},
    }
    colour = _colour(names, styles, words)
    layers = [
        *_people_layers(people, y),
        _segment_layer(segments, y, colour),
        *_point_layers([row for row in points if row["kind"] == "model"], y, colour, names, styles, words),
        *_people_points(people, y, words),
        *_label_layers(labels, y, colour),
        *_note_layers(columns, domain, y),
    ]
    return {
        "$schema": SCHEMA,
        "params": [{"name": "ground", "value": "transparent"}],  # pages give the colour of their ground
        "width": "container",
        "height": height,
        "padding": {"left": 5, "top": 8, "right": 5, "bottom": 5},
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"x": _across(columns, words)},
        "layer": [layer for layer in layers if layer["data"]["values"]],
    }


def _domain(columns: Sequence[RoundColumn]) -> tuple[float, float]:
    """Return the range of the scale: all intervals and a little more, never beyond what a share can be."""
    figures = [point.figure for column in columns for point in column.models.values()]
    figures += [column.people for column in columns if column.people]
    ends = [end for figure in figures for end in (figure.value, figure.low, figure.high) if end is not None]
    if not ends:
        return 0.0, 1.0
    low, high = min(ends), max(ends)
    room = max(0.05, 0.08 * (high - low))
    return round(max(0.0, low - room), 3), round(min(1.0, high + room), 3)


def _row(x: float, column: RoundColumn, who: str, figure: Estimate, n: int) -> dict[str, Any]:
    return {
        "x": round(x, 3),
        "round": column.title,
        "who": who,
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": n,
        "hollow": is_hollow(n, still_open=column.open),
    }


def _points(columns: Sequence[RoundColumn], asides: Mapping[str, float], words: RoundWords) -> list[dict[str, Any]]:
    rows = []
    for position, column in enumerate(columns):
        for name, point in column.models.items():
            if point.figure.value is not None:
                row = _row(position + asides[name], column, name, point.figure, point.n)
                rows.append({**row, "kind": "model", "target": point.target})
        if column.people is not None and column.people.value is not None:
            row = _row(position, column, words.people, column.people, column.people_n)
            rows.append({**row, "kind": "people", "target": False})
    return rows


def _asides(columns: Sequence[RoundColumn], names: Sequence[str]) -> dict[str, float]:
    """Draw the models of one round a little apart, so that their intervals can be told from each other and people's."""
    if all(len(column.models) < 2 for column in columns):
        return dict.fromkeys(names, ALONE)
    return {name: REACH * (2 * place / (len(names) - 1) - 1) for place, name in enumerate(names)}


def _segments(columns: Sequence[RoundColumn], asides: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the two ends of each stretch of a model's line, dashed where an end of it may still change."""
    rows = []
    for name in asides:
        run = [
            (place, column, column.models[name])
            for place, column in enumerate(columns)
            if name in column.models and column.models[name].figure.value is not None
        ]
        for number, stretch in enumerate(pairwise(run)):
            dashed = any(is_hollow(point.n, still_open=column.open) for _, column, point in stretch)
            for position, _, point in stretch:
                at = {"x": round(position + asides[name], 3), "value": point.figure.value}
                rows.append({"who": name, "stretch": f"{name} {number}", "dashed": dashed, **at})
    return rows


def _labels(points: Sequence[Mapping[str, Any]], domain: tuple[float, float], height: float) -> list[dict[str, Any]]:
    """Return each line's end and where its name stands, in units of the scale."""
    ends = {row["who"]: row for row in points}  # the last round that each has
    places = labels_at_ends({who: row["value"] for who, row in ends.items()}, domain, height)
    return [
        {"who": who, "kind": row["kind"], "x": row["x"], "value": row["value"], "label": places[who]}
        for who, row in ends.items()
    ]


def _across(columns: Sequence[RoundColumn], words: RoundWords) -> dict[str, Any]:
    """Letter the rounds; those with long titles are turned, so that all can be read."""
    titles = [column.title for column in columns]
    turned = sum(len(title) + 2 for title in titles) > 22
    axis = {
        "values": list(range(len(titles))),
        "labelExpr": f"[{', '.join(_quoted(title) for title in titles)}][datum.value]",
        "labelAngle": -40 if turned else 0,
        "labelLimit": 90,
        "labelOverlap": False,
        "grid": False,
        "ticks": False,
    }
    scale = {"domain": [-0.5, len(titles) - 0.5], "nice": False, "zero": False}
    return {"field": "x", "type": "quantitative", "title": words.round, "axis": axis, "scale": scale}


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", " ") + "'"


def _colour(names: Sequence[str], styles: Mapping[str, Style], words: RoundWords) -> dict[str, Any]:
    shown = [styles[name].colour if name in styles else COLOURS[-1] for name in names]
    scale = {"domain": [*names, words.people], "range": [*shown, PEOPLE]}
    return {"field": "who", "type": "nominal", "scale": scale, "legend": None}


def _tooltip(words: RoundWords) -> list[dict[str, Any]]:
    figure = {"type": "quantitative", "format": words.form}
    return [
        {"field": "round", "type": "nominal", "title": words.round},
        {"field": "who", "type": "nominal", "title": words.who},
        {"field": "value", **figure, "title": words.value},
        {"field": "low", **figure, "title": "2.5 %"},
        {"field": "high", **figure, "title": "97.5 %"},
        {"field": "n", "type": "quantitative", "title": words.examples, "format": ","},
    ]


def _people_layers(people: list[dict[str, Any]], y: dict[str, Any]) -> list[dict[str, Any]]:
    """Draw people's agreement as a band with a dashed line in it; a single round has a bar of the band's width."""
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    return [
        {"data": {"values": people}, "mark": {"type": "area", "color": PEOPLE, "opacity": 0.16}, "encoding": ends},
        {
            "data": {"values": people},
            "mark": {"type": "rule", "color": PEOPLE, "strokeWidth": 9, "opacity": 0.3},
            "encoding": ends,
        },
        {
            "data": {"values": people},
            "mark": {"type": "line", "color": PEOPLE, "strokeWidth": 2, "strokeDash": [6, 4]},
            "encoding": {"y": {**y, "field": "value"}},
        },
    ]


def _people_points(people: list[dict[str, Any]], y: dict[str, Any], words: RoundWords) -> list[dict[str, Any]]:
    where = {"y": {**y, "field": "value"}, "tooltip": _tooltip(words)}
    mark = {"type": "point", "shape": "square", "stroke": PEOPLE, "strokeWidth": 2, "opacity": 1, "size": 70}
    return [
        {
            "data": {"values": [row for row in people if row["hollow"] is hollow]},
            "mark": {**mark, **fill},
            "encoding": where,
        }
        for hollow, fill in ((False, {"fill": PEOPLE}), (True, {"fill": {"expr": "ground"}}))
    ]


def _segment_layer(segments: list[dict[str, Any]], y: dict[str, Any], colour: dict[str, Any]) -> dict[str, Any]:
    return {
        "data": {"values": segments},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "y": {**y, "field": "value"},
            "detail": {"field": "stretch"},
            "color": colour,
            "strokeDash": {"condition": {"test": "datum.dashed", "value": [3, 4]}, "value": [1, 0]},
        },
    }


def _point_layers(
    rows: list[dict[str, Any]],
    y: dict[str, Any],
    colour: dict[str, Any],
    names: Sequence[str],
    styles: Mapping[str, Style],
    words: RoundWords,
) -> list[dict[str, Any]]:
    """Draw intervals, points (hollow where they are not settled) and a ring around the target of each round."""
    shapes = [styles[name].shape if name in styles else SHAPES[0] for name in names]
    scale = {"domain": [*names, words.people], "range": [*shapes, "square"]}  # the domain of the colours
    shape = {"field": "who", "type": "nominal", "scale": scale, "legend": None}
    where = {"y": {**y, "field": "value"}, "color": colour}
    mark = {"type": "point", "size": 60, "strokeWidth": 2, "opacity": 1}
    seen = {**where, "shape": shape, "tooltip": _tooltip(words)}
    return [
        {
            "data": {"values": [row for row in rows if row["low"] is not None]},
            "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.45},
            "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
        },
        {
            "data": {"values": [row for row in rows if row["target"]]},
            "mark": {"type": "point", "filled": False, "size": 320, "strokeWidth": 2.5, "opacity": 1},
            "encoding": where,
        },
        {
            "data": {"values": [row for row in rows if not row["hollow"]]},
            "mark": {**mark, "filled": True},
            "encoding": seen,
        },
        {
            "data": {"values": [row for row in rows if row["hollow"]]},
            "mark": {**mark, "filled": False, "fill": {"expr": "ground"}},
            "encoding": seen,
        },
    ]


def _label_layers(labels: list[dict[str, Any]], y: dict[str, Any], colour: dict[str, Any]) -> list[dict[str, Any]]:
    """Write the names in a column at the right, each led to from the end of its line."""
    return [
        {
            "data": {"values": labels},
            "mark": {"type": "rule", "strokeWidth": 1, "strokeDash": [1, 3], "opacity": 0.8},
            "encoding": {
                "x2": {"value": "width"},
                "y": {**y, "field": "value"},
                "y2": {"field": "label"},
                "color": colour,
            },
        },
        {
            "data": {"values": labels},
            "mark": {
                "type": "text",
                "align": "left",
                "dx": 5,
                "baseline": "middle",
                "limit": LONGEST_LABEL,
                "clip": False,
            },
            "encoding": {"x": {"value": "width"}, "y": {**y, "field": "label"}, "text": {"field": "who"}},
        },
    ]


def _note_layers(
    columns: Sequence[RoundColumn], domain: tuple[float, float], y: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the words in rounds without figures that say why; what is behind the words is covered."""
    rows = [
        {"x": place, "y": sum(domain) / 2, "note": column.note}
        for place, column in enumerate(columns)
        if not column.models and column.people is None and column.note
    ]
    mark = {"type": "text", "angle": 270, "limit": HEIGHT - 20, "fontSize": 12}
    covered = {"stroke": {"expr": "ground"}, "strokeWidth": 5, "strokeJoin": "round"}
    return [
        {
            "data": {"values": rows},
            "mark": {**mark, **more},
            "encoding": {"y": {**y, "field": "y"}, "text": {"field": "note"}},
        }
        for more in (covered, {"opacity": 0.8})
    ]


def short_names(refs: Sequence[str]) -> dict[str, str]:
    """Name models of one task as briefly as one can tell them apart: by version only where several are there.

    >>> short_names(["mood/a@1", "mood/b@1", "mood/b@2"])
    {'mood/a@1': 'a', 'mood/b@1': 'b@1', 'mood/b@2': 'b@2'}
    """
    within = {ref: ref.partition("/")[2] or ref for ref in refs}
    names = Counter(name.partition("@")[0] for name in within.values())
    return {ref: bare if names[bare := name.partition("@")[0]] == 1 else name for ref, name in within.items()}
