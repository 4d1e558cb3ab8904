"""Series of a chart: told apart by colour and by shape, named at their lines, in the product's colours everywhere."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import quintain
from quintain.core.records.figures import Estimate
from quintain.reports.charts import SERIES_HEIGHT, interval_chart
from quintain.reports.line_charts import curve_chart, distribution_chart, line_chart
from quintain.reports.series import COLOURS, PATHS, PEOPLE, SHAPES, end_layers, styles_of
from quintain.web.pages.board.charts import progress_chart

SOURCE = Path(quintain.__file__).parent
EIGHT = [f"model-{letter}" for letter in "abcdefgh"]


def _light(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(colour: str, ground: str) -> float:
    low, high = sorted((_light(colour), _light(ground)))
    return (high + 0.05) / (low + 0.05)


def _texts(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the layers of *chart* that write words."""
    return [layer for layer in chart["layer"] if layer["mark"]["type"] == "text"]


@pytest.mark.parametrize("ground", ["#ffffff", "#f5f6f8", "#171c25"])
def test_every_colour_is_seen_on_light_and_dark_ground(ground: str) -> None:
    """Marks and lines have a contrast of 3:1 on what pages and reports put behind them."""
    assert min(_contrast(colour, ground) for colour in COLOURS) >= 3


def test_eight_models_differ_in_colour_and_in_shape() -> None:
    """In print without colours, eight models are still told apart; nobody has the colour of people."""
    styles = styles_of(EIGHT)
    assert len({style.colour for style in styles.values()}) == 8
    assert len({style.shape for style in styles.values()}) == 8
    assert PEOPLE not in COLOURS
    many = styles_of([f"m{number:03d}" for number in range(72)])
    assert len(set(many.values())) == 72
    assert {style.path for style in many.values()} == set(PATHS.values())


def test_intervals_of_eight_models_have_rows_marks_and_names_of_their_own() -> None:
    """Each has its own row, colour and mark, and its name beside its first interval, on the side with more room."""
    figures = [
        (row, name, Estimate(0.3 + place / 20, 0.2 + place / 20, 0.4 + place / 20), 200)
        for row in ("test", "round 1")
        for place, name in enumerate(EIGHT)
    ]
    chart = interval_chart(figures, row="Data", series="Model", value="F1", styles=styles_of(EIGHT))
    assert chart["height"] == 2 * 8 * SERIES_HEIGHT
    point = next(layer["encoding"] for layer in chart["layer"] if layer["mark"]["type"] == "point")
    assert point["color"]["scale"] == {"domain": EIGHT, "range": [styles_of(EIGHT)[name].colour for name in EIGHT]}
    assert point["shape"]["scale"] == {"domain": EIGHT, "range": list(SHAPES[:8])}
    sides = [(row["series"], "before" if "before" in row else "after") for row in _named(chart)]
    assert sides == [(name, "after" if place < 4 else "before") for place, name in enumerate(EIGHT)]


def _named(chart: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in chart["data"]["values"] if "before" in row or "after" in row]


LINES = {
    "line_chart": line_chart(
        [{"x": x, "y": y, "s": s, "n": 90} for s, y in (("a", 0.5), ("b", 0.51)) for x in (10, 100)],
        x="x",
        y="y",
        series="s",
        titles=("", "", ""),
    ),
    "curve_chart": curve_chart([0.0, 1.0], {"a": [0.2, 0.5], "b": [0.1, 0.5]}, x="", y="", top=1.0),
    "distribution_chart": distribution_chart([0.0, 1.0, 2.0], {"a": [0.6, 0.4], "b": [0.4, 0.6]}, value="", share=""),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_are_named_where_they_are(name: str) -> None:
    """Two lines that end at one place have their names below each other; there is no legend to look up."""
    chart = LINES[name]
    (names,) = _texts(chart)
    rows = names["data"]["values"]
    label = names["encoding"]["y"]["field"]
    assert {row[names["encoding"]["text"]["field"]] for row in rows} == {"a", "b"}
    apart = abs(rows[0][label] - rows[1][label]) * chart["height"]
    assert apart >= 15 or rows[0].get("from") != rows[1].get("from")
    assert chart["layer"][0]["encoding"]["color"]["legend"] is None
    assert chart["layer"][0]["encoding"]["strokeDash"]["legend"] is None


def test_a_line_that_is_alone_needs_no_name() -> None:
    """Where there is nothing to tell apart, nothing is written beside the line."""
    assert end_layers({"a": (1, 0.5)}, (0, 1), 220, ({}, {})) == []
    assert _texts(curve_chart([0.0, 1.0], {"a": [0.2, 0.5]}, x="", y="")) == []
    assert _named(interval_chart([("x", "", Estimate(0.5, 0.4, 0.6), 90)], row="", series="", value="")) == []


def test_progress_names_models_that_were_the_best_in_their_own_colours() -> None:
    """Each point has the colour and mark of its model; who led when it came has its name at the point."""
    values = [("a", 50.0, 50.0), ("b", 40.0, 50.0), ("c", 70.0, 70.0)]
    rows = [
        {"date": f"2026-05-0{day}T10:00:00+00:00", "value": value, "best": best, "name": name, "n": 200}
        for day, (name, value, best) in enumerate(values, 1)
    ]
    styles = styles_of(["a", "b", "c"])
    chart = progress_chart(rows, title="F1", human=("people", None), styles=styles)
    assert [(row["colour"], row["mark"]) for row in chart["data"]["values"]] == [
        (styles[name].colour, styles[name].shape) for name in "abc"
    ]
    named = [(row["name"], row["side"]) for layer in _texts(chart) for row in layer["data"]["values"]]
    assert named == [("a", "after"), ("c", "before")]


def test_no_chart_leaves_its_colours_to_the_library() -> None:
    """No scheme of Vega's is named; pages and reports give its palette of last resort, which is ours."""
    sources = [path for path in SOURCE.rglob("*.py") if '"$schema": SCHEMA' in path.read_text("utf-8")]
    assert len(sources) >= 8
    for path in sources:
        constants = {
            node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)
        }
        assert "scheme" not in constants, path
    for script in ("web/static/js/charts.js", "reports/draw.js"):
        text = (SOURCE / script).read_text("utf-8")
        palette = re.search(r'\[((?:"#\w{6}", )+"#\w{6}")\]', text)
        assert palette is not None
        assert tuple(re.findall(r"#\w{6}", palette[1])) == COLOURS
