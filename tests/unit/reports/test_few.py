"""Figures from fewer than thirty examples: every chart and every bar that draws estimates shows them as not settled."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import quintain
from quintain.core.records.collect import RoundCount
from quintain.core.records.contest import (
    BreakerIntervals,
    BreakerScore,
    BrokenTogether,
    ContestIntervals,
    ContestScore,
    SystemIntervals,
    SystemScore,
)
from quintain.core.records.figures import Estimate
from quintain.core.records.validate import ReviewedAgreement
from quintain.reports import charts, line_charts
from quintain.reports.few import LEAST, few_text
from quintain.reports.maps import share_map
from quintain.web.pages.board.charts import progress_chart, scatter_chart
from quintain.web.pages.collect.round_charts import rate_chart
from quintain.web.pages.contest.charts import together_chart
from quintain.web.pages.validate.charts import agreement_chart
from quintain.web.rendering import environment

SOURCE = Path(quintain.__file__).parent
# Charts that draw no estimates, and why that is so.
NO_ESTIMATES = {
    "bar_chart": "counts",
    "heat_map": "counts, each written in its square",
    "value_chart": "scores over whole tables, without a number of examples",
    "distribution_chart": "how all values are spread",
    "ranked_chart": "how all values are spread",
    "time_chart": "counts",
    "cost_chart": "money that was paid",
}
ELSEWHERE = {"round_lines": "tests/unit/reports/test_round_lines.py, by a stricter rule"}
FIGURE = Estimate(0.5, 0.2, 0.8)
DAY = datetime(2026, 5, 4, tzinfo=UTC)


def _contest(n: int) -> ContestScore:
    breaker = BreakerScore(n, 0.1, 0.1, {"a": 0.5, "b": 0.5})
    intervals = ContestIntervals(
        {name: SystemIntervals(FIGURE, FIGURE) for name in "ab"},
        {"team": BreakerIntervals(FIGURE, {"a": FIGURE, "b": FIGURE})},
    )
    systems = {name: SystemScore(0.5, n // 2, n, 0.5, 0.5) for name in "ab"}
    together = (BrokenTogether(("a", "b"), n // 2, n, 0.5, None),)
    return ContestScore(systems, {"team": breaker}, {}, {}, together, (), intervals, "accuracy")


WORDS = dict.fromkeys(("system", "breaker", "rate", "pairs", "and", "overlap", "either"), "w")
Build = Callable[[int], Mapping[str, Any]]
BUILDERS: dict[str, Build] = {
    "interval_chart": lambda n: charts.interval_chart([("x", "", FIGURE, n)], row="", series="", value=""),
    "place_chart": lambda n: charts.place_chart([("x", FIGURE, n)], row="", value=""),
    "line_chart": lambda n: line_charts.line_chart(
        [{"x": 1, "y": 0.5, "s": "a", "n": n}], x="x", y="y", series="s", titles=("", "", "")
    ),
    "curve_chart": lambda n: line_charts.curve_chart([0.5], {"a": [0.5]}, x="", y="", counts={"a": [n]}),
    "share_map": lambda n: share_map([("x", "y", FIGURE, n)], row="", column="", value=""),
    "rate_chart": lambda n: rate_chart([RoundCount("x", n, n // 2, 0.5, 0.2, 0.8)], category="", attempts="", rate=""),
    "together_chart": lambda n: together_chart(_contest(n), WORDS),
    "agreement_chart": lambda n: agreement_chart(
        [ReviewedAgreement(DAY, n, 0.5, 0)], judgements="", agreement="", moment=""
    ),
    "progress_chart": lambda n: progress_chart(
        [{"date": DAY.isoformat(), "value": 50.0, "best": 50.0, "name": "m", "n": n}], title="", human=("", 80.0)
    ),
}


def _drawing() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Give every function of the product that writes a specification of a chart."""
    for path in SOURCE.rglob("*.py"):
        source = path.read_text("utf-8")
        if '"$schema"' not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and '"$schema": SCHEMA' in (
                ast.get_source_segment(source, node) or ""
            ):
                yield node.name, node


def test_every_chart_says_on_how_many_examples_it_rests() -> None:
    """A new chart draws figures of few examples hollow, and is tried below, or stands among those without estimates."""
    drawing = {name for name, _ in _drawing()}
    assert drawing == {*BUILDERS, *NO_ESTIMATES, *ELSEWHERE, "scatter_chart"}
    for name, node in _drawing():
        fields = {value.value for value in ast.walk(node) if isinstance(value, ast.Constant)}
        assert name not in NO_ESTIMATES or not fields & {"low", "high"}, f"{name} draws intervals"


@pytest.mark.parametrize("name", BUILDERS)
def test_figures_of_few_examples_are_hollow_and_dashed(name: str) -> None:
    """Marks are hollow, whiskers dashed, and a line below says why; with thirty examples all is as settled."""
    few, enough = BUILDERS[name](LEAST - 1), BUILDERS[name](LEAST)
    assert few["title"]["text"] == few_text()
    assert all(row["few"] for row in few["data"]["values"])
    drawn = [layer for layer in few["layer"] if {"filter": "datum.few"} in layer.get("transform", ())]
    marks = [layer["mark"] for layer in drawn if layer["mark"]["type"] != "text"]
    assert marks
    assert all(mark["fill"] == {"expr": "ground"} and mark["filled"] is False for mark in marks)
    lines = [layer for layer in few["layer"] if "x2" in layer.get("encoding", {})]
    whiskers = [layer for layer in lines if "strokeDash" not in layer["mark"]]
    assert all(layer["encoding"]["strokeDash"]["condition"]["test"] == "datum.few" for layer in whiskers)
    assert "title" not in enough
    assert "datum.few" not in str(enough)


def test_names_keep_their_order_where_some_are_hollow() -> None:
    """The scale would else begin with the names of the first layer."""
    figures = [("first", "", FIGURE, 5), ("second", "", FIGURE, 500)]
    encoding = charts.interval_chart(figures, row="", series="", value="")["encoding"]
    assert encoding["y"]["scale"]["domain"] == ["first", "second"]


def test_the_scatter_of_a_board_has_hollow_points() -> None:
    """The page fills in which rows are few, by the same number, and takes the line away where none is."""
    chart = scatter_chart()
    hollow = [layer for layer in chart["layer"] if {"filter": "datum.few"} in layer.get("transform", ())]
    assert [layer["mark"]["filled"] for layer in hollow] == [False]
    assert chart["title"]["text"] == few_text()
    script = (SOURCE / "web/static/js/board_dom.js").read_text("utf-8")
    assert re.search(r"export const LEAST = (\d+);", script)[1] == str(LEAST)  # type: ignore[index]


def test_every_bar_with_a_whisker_says_on_how_many_examples_it_rests() -> None:
    """In all templates: a bar that is given the ends of an interval is given the number of examples, too."""
    bars = {
        (path.name, call)
        for path in (SOURCE / "web/templates").rglob("*.html")
        for call in re.findall(r"ui\.bar\(((?:[^()]|\([^()]*\))*)\)", path.read_text("utf-8"))
        if ".low" in call
    }
    assert len(bars) >= 6
    assert [bar for bar in sorted(bars) if len(re.findall(r",(?![^()]*\))", bar[1])) < 4] == []


def test_every_macro_that_draws_such_a_bar_is_told_the_number() -> None:
    """A macro of pages that hands a number of examples on to a bar gets one wherever it is called."""
    templates = {path: path.read_text("utf-8") for path in (SOURCE / "web/templates").rglob("*.html")}
    macros = {
        (path, name)
        for path, text in templates.items()
        for name, body in re.findall(r"{% macro (\w+)\(\w+, n\b.*?%}(.*?){%-? ?endmacro", text, re.DOTALL)
        if "ui.bar(" in body
    }
    assert {name for _, name in macros} >= {"share", "figure", "interval"}
    short = []
    for path, name in macros:
        for other, text in templates.items():
            if other.parent != path.parent or not (other == path or f'import "{path.parent.name}/{path.name}"' in text):
                continue
            prefix = r"(?<!macro )(?<![\w.])" if other == path else r"\bparts\."
            calls = re.findall(prefix + name + r"\(((?:[^()]|\([^()]*\))*)\)", text)
            short += [(other.name, call) for call in calls if "," not in call and "*" not in call]
    assert short == []


def test_a_bar_of_few_examples_is_hollow_and_says_so() -> None:
    """On pages: its outline in place of the bar, and the number beside it, which print shows as well."""
    macros: Any = environment("en").get_template("macros.html").module
    few, enough = macros.bar(0.5, "50 %", 0.2, 0.8, 12), macros.bar(0.5, "50 %", 0.2, 0.8, 30)
    assert 'class="bar few"' in few
    assert "n = 12, fewer than 30" in few
    assert "few" not in enough
