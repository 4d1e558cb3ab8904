"""The charts of a timeline: what people and models reach on each round, and vMER."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from quintain.core.records.figures import Estimate
from quintain.core.records.wheel import TimelineRound
from quintain.reports.charts import SCHEMA

HEIGHT = 260
MOST_LINES = 8  # models that one can tell apart; the table and the API have all
PEOPLE = "#d98a1f"


def score_chart(rounds: Sequence[TimelineRound], words: Mapping[str, str]) -> dict[str, Any]:
    """Draw macro F1 by round: a line for each model, and a dashed one for people; intervals as rules.

    *words* are the texts that readers see: `round`, `score`, `model`, `people`.
    """
    rows = [_row(one.ref, words["people"], one.human) for one in rounds if one.human is not None]
    drawn = short_names(leading(rounds, MOST_LINES))
    rows += [
        _row(one.ref, drawn[score.model], score.score) for one in rounds for score in one.models if score.model in drawn
    ]
    shown = [row for row in rows if row["value"] is not None]
    models = sorted({row["who"] for row in shown} - {words["people"]})
    x = {
        "field": "round",
        "type": "nominal",
        "sort": [_within(one.ref) for one in rounds],
        "title": None,
        "axis": {"labelAngle": 0},
    }
    y = {"field": "value", "type": "quantitative", "title": words["score"], "scale": {"domain": [0, 1]}}
    colour = {
        "field": "who",
        "type": "nominal",
        "title": None,
        "sort": [words["people"], *models],
        "legend": {"orient": "top", "columns": 2, "labelLimit": 260},
    }
    tooltip = [
        {"field": "round", "type": "nominal", "title": words["round"]},
        {"field": "who", "type": "nominal", "title": words["model"]},
        {"field": "value", "type": "quantitative", "title": words["score"], "format": ".3f"},
        {"field": "low", "type": "quantitative", "title": "2.5 %", "format": ".3f"},
        {"field": "high", "type": "quantitative", "title": "97.5 %", "format": ".3f"},
    ]
    dashed = {"condition": {"test": f"datum.who === {_quoted(words['people'])}", "value": [6, 4]}, "value": [1, 0]}
    return {
        "$schema": SCHEMA,
        "data": {"values": shown},
        "width": "container",
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"x": x, "color": colour, "tooltip": tooltip},
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": y, "strokeDash": dashed}},
            {
                "mark": {"type": "rule", "opacity": 0.5},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {"mark": {"type": "point", "filled": True, "size": 70}, "encoding": {"y": y}},
        ],
    }


def leading(rounds: Sequence[TimelineRound], most: int) -> list[str]:
    """Name the models worth a line, at most so many: the best of each round and its targets, then the best of the last.

    Rounds come with their models in order, the best first.
    """
    here = {score.model for one in rounds for score in one.models}
    wanted = [name for one in reversed(rounds) for name in (one.best, *one.targets) if name in here]
    others = [score.model for one in reversed(rounds) for score in one.models]
    return list(dict.fromkeys([*(name for name in wanted if name), *others]))[:most]


def short_names(refs: Sequence[str]) -> dict[str, str]:
    """Name models of one task as briefly as one can tell them apart: by version only where several are there.

    >>> short_names(["mood/a@1", "mood/b@1", "mood/b@2"])
    {'mood/a@1': 'a', 'mood/b@1': 'b@1', 'mood/b@2': 'b@2'}
    """
    names = Counter(_within(ref).partition("@")[0] for ref in refs)
    return {ref: name if names[name := _within(ref).partition("@")[0]] == 1 else _within(ref) for ref in refs}


def vmer_chart(rounds: Sequence[TimelineRound], words: Mapping[str, str]) -> dict[str, Any]:
    """Draw the validated model error rate of each round as a bar with its interval; *words* has `round` and `vmer`."""
    rows = [_row(one.ref, "", one.vmer) for one in rounds if one.vmer is not None and one.vmer.value is not None]
    x = {
        "field": "round",
        "type": "nominal",
        "sort": [_within(one.ref) for one in rounds],
        "title": None,
        "axis": {"labelAngle": 0},
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "title": words["vmer"],
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%"},
    }
    tooltip = [
        {"field": "round", "type": "nominal", "title": words["round"]},
        {"field": "value", "type": "quantitative", "title": words["vmer"], "format": ".1%"},
    ]
    return {
        "$schema": SCHEMA,
        "data": {"values": rows},
        "width": "container",
        "height": HEIGHT // 2,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "encoding": {"x": x, "tooltip": tooltip},
        "layer": [
            {"mark": {"type": "bar", "width": {"band": 0.4}, "color": PEOPLE}, "encoding": {"y": y}},
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
        ],
    }


def _row(ref: str, who: str, figure: Estimate) -> dict[str, Any]:
    return {"round": _within(ref), "who": who, "value": figure.value, "low": figure.low, "high": figure.high}


def _within(ref: str) -> str:
    """Give what stands behind the task in a reference: the page is of one task."""
    return ref.partition("/")[2] or ref


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
