"""Models and people over rounds, as data: whose points are joined, what is hollow, and where names stand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.records.figures import Estimate
from quintain.reports.round_lines import (
    RoundColumn,
    RoundPoint,
    RoundWords,
    round_lines,
)
from quintain.reports.series import LABEL_ROW, label_places, styles_of
from tests.properties import examples

WORDS = RoundWords("Round", "Macro F1", "Who", "People", "Examples")


def _column(title: str, values: dict[str, float], n: int = 200, target: str = "", *, still_open: bool = False) -> Any:
    points = {
        name: RoundPoint(Estimate(value, value - 0.05, value + 0.05), n, name == target)
        for name, value in values.items()
    }
    return RoundColumn(title, points, Estimate(0.9, 0.88, 0.92), n, still_open, "nothing judged yet")


def _rows(chart: dict[str, Any], kind: str, **wanted: Any) -> list[dict[str, Any]]:
    """Give the rows of all layers with a mark of *kind* whose properties are those *wanted*."""
    return [
        row
        for layer in chart["layer"]
        if layer["mark"]["type"] == kind and all(layer["mark"].get(name) == value for name, value in wanted.items())
        for row in layer["data"]["values"]
    ]


def test_no_line_joins_two_models() -> None:
    """Each stretch of a line has two ends of one model; a model that was run once has a point and no line."""
    columns = [_column("1", {"a": 0.3}), _column("2", {"a": 0.5, "b": 0.6}), _column("3", {"c": 0.8})]
    chart = round_lines(columns, styles_of(["a", "b", "c"]), WORDS)
    stretches = [row for row in _rows(chart, "line") if "stretch" in row]
    assert {row["who"] for row in stretches} == {"a"}
    assert [row["value"] for row in stretches] == [0.3, 0.5]


def test_what_is_open_or_small_is_hollow_and_its_line_dashed() -> None:
    """A round of 24 texts, and one that goes on, are hollow; what is settled is not."""
    columns = [
        _column("1", {"a": 0.3}),
        _column("2", {"a": 0.5}),
        _column("3", {"a": 0.6}, n=24),
        _column("4", {"a": 0.7}, still_open=True),
    ]
    chart = round_lines(columns, styles_of(["a"]), WORDS)
    hollow = [row["round"] for row in _rows(chart, "point", fill={"expr": "ground"}) if row["who"] == "a"]
    assert hollow == ["3", "4"]
    assert [row["dashed"] for row in _rows(chart, "line") if "stretch" in row] == [False, False, *[True] * 4]


def test_every_round_has_its_place_and_its_target_a_ring() -> None:
    """A round that nothing was judged of is lettered, and says so; the model that a round was aimed at is ringed."""
    columns = [
        _column("1", {"a": 0.3}, target="a"),
        RoundColumn("4", note="nothing judged yet"),
        _column("5", {"a": 1}),
    ]
    chart = round_lines(columns, styles_of(["a"]), WORDS)
    across = chart["encoding"]["x"]
    assert across["axis"]["values"] == [0, 1, 2]
    assert across["axis"]["labelExpr"] == "['1', '4', '5'][datum.value]"
    assert {row["note"] for row in _rows(chart, "text") if "note" in row} == {"nothing judged yet"}
    assert [(row["who"], row["round"]) for row in _rows(chart, "point", size=320)] == [("a", "1")]


def test_people_are_a_band_over_the_rounds() -> None:
    """The band goes from the low to the high end of people's interval."""
    chart = round_lines([_column("1", {"a": 0.3}), _column("2", {"a": 0.4})], styles_of(["a"]), WORDS)
    assert [(row["low"], row["high"]) for row in _rows(chart, "area")] == [(0.88, 0.92)] * 2


def test_names_never_overprint() -> None:
    """One, two and twelve models with long names that end at nearly one height stand below each other."""
    for many in (1, 2, 12):
        values = {f"a-model-with-a-very-long-name-{number}": 0.5 + number / 1000 for number in range(many)}
        chart = round_lines([_column("1", values), _column("2", values)], styles_of(list(values)), WORDS)
        low, high = chart["layer"][0]["encoding"]["y"]["scale"]["domain"]
        places = sorted(
            chart["height"] * (high - row["label"]) / (high - low) for row in _rows(chart, "text", align="left")
        )
        assert len(places) == many + 1
        assert all(below - above >= LABEL_ROW - 0.1 for above, below in pairwise(places))
        assert min(places) >= 0
        assert max(places) <= chart["height"]


@given(st.lists(st.floats(0, 300), min_size=1, max_size=40))
@settings(max_examples=examples(60), deadline=None)
def test_labels_are_a_row_apart_wherever_lines_end(ends: list[float]) -> None:
    """Names keep the order of the ends of their lines, a row apart, within the chart or, of many, below it."""
    named = {f"{number:03d}": end for number, end in enumerate(ends)}
    places = label_places(named, 300)
    order = sorted(named, key=lambda name: (named[name], name))
    assert all(places[below] - places[above] >= LABEL_ROW - 0.02 for above, below in pairwise(order))
    assert min(places.values()) >= LABEL_ROW / 2 - 0.02
    assert max(places.values()) <= max(300, LABEL_ROW * len(ends)) - LABEL_ROW / 2 + 0.02


def test_a_model_has_one_colour_on_all_charts_of_its_task() -> None:
    """The colour goes by the model, not by what else is drawn; two of many differ in colour or in shape."""
    styles = styles_of([f"m{number:02d}" for number in range(40)])
    assert len(set(styles.values())) == 40
    chart = round_lines([_column("1", {"m03": 0.5, "m11": 0.6})], styles, WORDS)
    colour = next(layer["encoding"]["color"] for layer in chart["layer"] if layer["mark"].get("size") == 60)
    assert colour["scale"]["range"][:2] == [styles["m03"].colour, styles["m11"].colour]
