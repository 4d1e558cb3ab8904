"""Rounds on the board: error rates that are pooled over them, and progress from one to the next."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.core.records.base import to_plain
from quintain.core.records.board import BoardView
from quintain.core.records.figures import Figure
from quintain.services.board.assemble import board
from quintain.services.board.parts import Axis, BoardMatrix
from quintain.services.board.ranking import rank
from tests.browser.board_site import BOARD, order, unfold
from tests.browser.visitor import Visitor
from tests.web_support import running

RATES = {"large": 40.0, "medium": 20.0, "small": 60.0}
STATE = """async ([source, data, view]) => {
  const {State} = await import(source);
  const state = new State(data);
  state.take(view);
  const refused = state.rank();
  const ordinary = (values) => Array.from(values, (value) => Number.isNaN(value) ? null : value);
  return {refused, scores: ordinary(state.found.scores), figure: state.figure(1, 0)};
}"""


@pytest.fixture(scope="module")
def site(board_workspace: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(board_workspace) as url:
        yield url


@pytest.fixture(scope="module")
def pooled(board_workspace: Workspace) -> BoardMatrix:
    """The board with validated error rates, one over all rounds, in the place of accuracy; one model has none."""
    with board_workspace.session() as db:
        made = board(db, board_workspace.blobs, OPERATOR, "mood")
    models = tuple(
        replace(
            model,
            values={**model.values, "performance": [None] * len(made.datasets)},
            pooled={"performance": _figure(RATES[model.name])},
        )
        for model in made.models
    )
    axis = Axis("performance", "vMER", "%", lower=True, cap=100.0, scale=100.0, pooled=True)
    late = replace(models[0], ref="mood/late@1", name="late", pooled={"performance": None})
    return replace(made, axes=(axis, *made.axes[1:]), models=(*models, late))


def _figure(value: float) -> Figure:
    return Figure(value, value - 5, value + 6, 80, "2026-01-02T03:04:05+00:00")


def make_round(number: int, human: float | None, **rates: float) -> dict[str, Any]:
    """Make a round as the board's JSON has it."""

    def estimate(value: float) -> dict[str, float]:
        return {"value": value, "low": value - 0.05, "high": value + 0.04}

    best = min(rates, key=lambda name: rates[name])
    return {
        "round": f"mood/{number}",
        "title": str(number),
        "at": f"2026-0{number}-01T00:00:00+00:00",
        "collected": 200,
        "validated": 180,
        "human": None if human is None else estimate(human),
        "best": {"model": f"mood/{best}@1", **estimate(1 - rates[best])},
        "models": [
            {
                "model": f"mood/{name}@1",
                "name": name,
                "collected": 200,
                "errors": round(200 * rate),
                "vmer": estimate(rate),
            }
            for name, rate in rates.items()
        ],
    }


def open_with(visitor: Visitor, change: dict[str, Any], drop: tuple[str, ...] = ()) -> Page:
    """Open the board with parts of its JSON replaced."""

    def answer(route: Route) -> None:
        data = {**route.fetch().json(), **change}
        route.fulfill(
            body=json.dumps({k: v for k, v in data.items() if k not in drop}), content_type="application/json"
        )

    visitor.page.route(re.compile(r"/api/v1/tasks/mood/board\?"), answer)
    visitor.page.goto(visitor.base + BOARD)
    visitor.page.wait_for_selector("#board[data-sure=true]")
    return visitor.page


@pytest.mark.parametrize(
    "view",
    [
        {"datasets": {"test": 3, "contrast": 1}},
        *(pytest.param(view, marks=pytest.mark.slow) for view in ({}, {"base": "throughput"})),
    ],
)
def test_a_pooled_axis_scores_as_on_the_server(visitor: Visitor, pooled: BoardMatrix, view: dict[str, Any]) -> None:
    """Browser and server agree to 1e-9 on a figure over all rounds, which data set weights leave alone."""
    visitor.page.goto(visitor.base + BOARD)
    source = visitor.page.evaluate("document.querySelector('script[src*=\"board.js\"]').src")
    source = source.replace("board.js", "board_state.js")
    found = visitor.page.evaluate(STATE, [source, to_plain(pooled.record()), view])
    wanted = rank(pooled, BoardView(**view))
    assert found["refused"] is None
    assert found["scores"][-1] is wanted.ranking.dynascore[-1] is None
    assert found["scores"][:-1] == pytest.approx(wanted.ranking.dynascore[:-1], rel=1e-9, abs=1e-9)
    assert found["figure"] == to_plain(pooled.models[1].pooled["performance"])


def test_a_pooled_axis_is_shown_with_its_interval(visitor: Visitor, pooled: BoardMatrix) -> None:
    """The cell and the open row show the figure over all rounds; a model that answered in none is not ranked."""
    rounds = [make_round(1, None, large=0.4, medium=0.2, small=0.6)]
    page = open_with(visitor, {**to_plain(pooled.record()), "rounds": rounds})
    expect(page.locator("#cite")).to_contain_text("round      mood/1, 180 validated of 200 collected")
    page.get_by_role("button", name="Accuracy only").click()
    expect(page.locator("tr.board-row .board-name").first).to_contain_text("medium")
    assert order(page) == ["medium", "large", "small", "late"]
    page.locator("tr[data-ref='mood/large@1'] .board-cell").first.focus()
    expect(page.get_by_role("tooltip")).to_contain_text("interval 35.0 to 46.0")
    expect(page.get_by_role("tooltip")).to_contain_text("80 examples")
    expect(page.locator("tr[data-ref='mood/late@1'] .board-score")).to_contain_text("unranked")
    page.get_by_role("button", name="Details of large").click()
    expect(page.get_by_role("row", name=re.compile("All rounds together")).last).to_contain_text("40.0")


def test_progress_over_rounds(visitor: Visitor) -> None:
    """Error rates stand in a table by round and model, with intervals, and people's own."""
    rounds = [make_round(1, 0.95, large=0.4, small=0.6), make_round(2, 0.92, large=0.3, medium=0.25)]
    page = open_with(visitor, {"rounds": rounds})
    unfold(page, "rounds")
    panel = page.locator("#rounds")
    expect(panel.get_by_role("columnheader", name=re.compile("Round 2"))).to_contain_text(
        "180 validated of 200 collected"
    )
    large = panel.get_by_role("row", name=re.compile("^large@1"))
    expect(large.get_by_role("cell").nth(0)).to_contain_text(
        re.compile(r"40\.0%.*lowest.*35\.0–44\.0 · 80 of 200 wrong")
    )
    expect(large.get_by_role("cell").nth(1)).to_contain_text("30.0%")
    expect(panel.get_by_role("row", name=re.compile("^small@1")).get_by_role("cell").nth(1)).to_have_text("–")
    expect(panel.get_by_role("row", name=re.compile("^People")).get_by_role("cell").nth(1)).to_contain_text("8.0%")
    visitor.check()


@pytest.mark.parametrize(
    "context_options",
    [{"viewport": {"width": 360, "height": 780}, "color_scheme": "dark", "locale": "de"}],
)
def test_rounds_fit_small_dark_and_german(visitor: Visitor, context_options: dict[str, Any]) -> None:
    """At 360 px, in the dark and in German, rounds have no fault."""
    page = open_with(visitor, {"rounds": [make_round(n, 0.9, large=0.4 / n, small=0.5 / n) for n in range(1, 8)]})
    unfold(page, "rounds")
    expect(page.locator("#rounds")).to_contain_text("Runde 7")
    visitor.check()
    assert context_options


def test_without_rounds(visitor: Visitor) -> None:
    """A task without validated rounds says so; a board that knows nothing of rounds is shown as before."""
    page = open_with(visitor, {"rounds": []})
    expect(page.locator("#rounds")).to_contain_text("No round of this task has been validated yet")
    page.unroute_all()
    page = open_with(visitor, {}, drop=("rounds",))
    expect(page.locator("#rounds")).to_be_hidden()
    assert len(order(page)) == 3
