"""The board by keyboard and by pointer: every figure can be reached, and says what it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from quintain.compose import Workspace
from tests.browser.board_site import open_board
from tests.browser.visitor import Visitor
from tests.web_support import running


@pytest.fixture(scope="module")
def site(board_workspace: Workspace) -> Iterator[str]:
    """The address of a workspace with a board."""
    with running(board_workspace) as url:
        yield url


def focused(page: Page) -> dict[str, str]:
    """Give role, name and description of what has the focus, as the browser tells them to a screen reader."""
    client = page.context.new_cdp_session(page)
    element = client.send("Runtime.evaluate", {"expression": "document.activeElement"})["result"]
    asked = {"objectId": element["objectId"], "fetchRelatives": False}
    [node] = client.send("Accessibility.getPartialAXTree", asked)["nodes"]
    client.detach()
    properties = {one["name"]: one["value"].get("value") for one in node["properties"]}
    assert properties.get("focused"), node
    return {part: str(node.get(part, {}).get("value", "")) for part in ("role", "name", "description")}


def test_arrow_keys_reach_every_cell(visitor: Visitor) -> None:
    """One Tab leads into the table; arrows go to each cell, whose value, interval, n and time are read out."""
    page = open_board(visitor, "?weights=performance:1")
    page.locator("#weight-robustness").focus()
    page.keyboard.press("Tab")
    assert focused(page)["name"] == "Details of large"
    read = []
    page.keyboard.press("Home")
    for _ in range(8):
        read.append(focused(page))
        page.keyboard.press("ArrowRight")
    assert [one["role"] for one in read] == ["gridcell", "button", *["gridcell"] * 6]
    rank, _, score, accuracy, throughput, memory, fairness, robustness = read
    assert rank["name"].startswith("1 (")
    assert "drawn anew" in rank["description"]
    assert re.search(r"Dynascore: \d+(\.\d+)?$", score["description"])
    assert re.search(r"Accuracy: \d+(\.\d+)? % interval 8\d\.\d to 9\d\.\d 180 examples", accuracy["description"])
    for figure, unit in ((throughput, "examples/s"), (memory, "GiB"), (fairness, "%"), (robustness, "%")):
        assert unit in figure["description"]
        assert "examples" in figure["description"]
        assert re.search(r"measured \d{4}-\d\d-\d\d \d\d:\d\d", figure["description"])
    page.keyboard.press("ArrowDown")
    below = focused(page)
    assert below["description"].startswith("Robustness")
    assert page.evaluate("document.activeElement.closest('tr').ariaRowIndex") == "4"
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('#board-rows')"), "Tab leaves the table"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == below, "and comes back to where one was"


def test_escape_closes_what_a_cell_says(visitor: Visitor) -> None:
    """The note opens on focus and on pointing, closes with Escape, and the focus stays."""
    page = open_board(visitor)
    tip = page.get_by_role("tooltip")
    page.locator("tr.board-row .board-score").first.focus()
    expect(tip).to_contain_text("Dynascore")
    visitor.check()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    assert focused(page)["role"] == "gridcell"
    page.locator("tr[data-ref='mood/small@1'] .board-cell").first.hover()
    expect(tip).to_contain_text("Accuracy")
    tip.hover()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_rows_glide_from_where_they_were(visitor: Visitor) -> None:
    """Rows move by transforms alone: the first of the new order starts where its model stood, and ends in place."""
    page = open_board(visitor, "?weights=performance:1")
    moves = page.evaluate("""async () => {
      document.querySelector("[data-preset=small]").click();
      await new Promise(requestAnimationFrame);
      await new Promise(requestAnimationFrame);
      const rows = [...document.querySelectorAll("#board-rows tr")];
      return rows.map((row) => row.getAnimations().map((one) => one.effect.getKeyframes()[0].transform).join());
    }""")
    height = page.evaluate("document.querySelector('tr.board-row').offsetHeight")
    assert float(moves[0].removeprefix("translateY(").removesuffix("px)")) == pytest.approx(2 * height, abs=1)
    page.wait_for_function("() => document.getAnimations().length === 0")


def test_an_open_row_moves_with_its_model(visitor: Visitor) -> None:
    """The details of a model stay beneath its row, wherever the weights put it."""
    page = open_board(visitor, "?weights=performance:1")
    page.get_by_role("button", name="Details of small").click()
    expect(page.locator(".board-details")).to_contain_text("mood/test@1")
    page.get_by_role("button", name="Small and fast").click()
    expect(page.locator("#board-rows > tr").nth(0)).to_have_attribute("data-ref", "mood/small@1")
    expect(page.locator("#board-rows > tr").nth(1)).to_have_class("board-details")
    expect(page.get_by_role("button", name="Details of small")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("button", name="Details of large")).to_have_attribute("aria-expanded", "false")
