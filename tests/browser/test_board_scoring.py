"""What scores, in a real browser: an import moves no rank until its owner says so, and the board warns of weak sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from tests.boards import sentences
from tests.browser.board_site import BOARD, open_board, order, unfold
from tests.browser.visitor import Visitor
from tests.web_support import running

DATA = "/tasks/mood/data"
EIGHT = "".join(json.dumps({**row, "answer": "positive"}) + "\n" for row in sentences(8))
CONTRAST = """([whisker, bar, surface]) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const part = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => part(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const between = (one, two) => (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
  return [between(light(whisker), light(bar)), between(light(bar), light(surface))];
}"""


@pytest.fixture(scope="module")
def site(board_workspace: Workspace) -> Iterator[str]:
    """A served board of its own: these tests add a data set to it."""
    with running(board_workspace) as url:
        yield url


def test_an_import_waits_for_its_owner(visitor: Visitor, tmp_path: Path) -> None:
    """On a phone, no role is chosen beforehand; the new set does not score, the page says what is next, then it does.

    The forms and the board with what is said of weak data are also looked at on a desktop, in light and in dark.
    """
    visitor.wear("phone")
    before = order(open_board(visitor))
    visitor.sign_in("olga")
    page = visitor.go_in_looks(f"{DATA}/import")
    file = tmp_path / "eight.jsonl"
    file.write_text(EIGHT)
    with page.expect_navigation():  # what was chosen is looked at at once
        page.set_input_files("#file", file)
    visitor.check_looks()
    expect(page.locator("input[name=role]:checked")).to_have_count(0)
    expect(page.get_by_label("Let it score on the board at once")).not_to_be_checked()
    page.fill("#name", "eight")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("input[name=role]:invalid").first).to_be_attached()  # the browser asks for the role
    page.get_by_text("For scoring models.").click()
    page.get_by_role("button", name="Import", exact=True).click()
    visitor.arrive("#scoring")
    expect(page.locator("#scoring")).to_contain_text("Does not score yet")
    expect(page.locator("#scoring")).to_contain_text("with 8 examples, one half is known to ± 35 points only")
    visitor.check()
    open_board(visitor)
    assert order(page) == before
    expect(page.locator("#board-resting")).to_contain_text("eight")
    expect(page.locator("#board-weak")).not_to_contain_text("eight")
    page.get_by_role("link", name="eight").first.click()
    page.get_by_role("button", name="Let it score").click()
    expect(page.locator("#scoring")).to_contain_text("This data set scores on the board.")
    visitor.check()
    assert order(open_board(visitor)) == before
    expect(page.locator("#board-held")).to_contain_text("the next one needs")
    open_board(visitor, "?live=true")
    visitor.check_looks()
    expect(page.locator("#board-weak")).to_contain_text("eight: Too small to rank on")
    expect(page.locator("#board-weak")).to_contain_text("more than nine tenths of its answers are positive")
    visitor.go_in_looks(f"{BOARD}/settings")
    expect(page.get_by_label("eight")).to_have_value("1")
    page.get_by_label("eight").fill("0")
    visitor.press("Save")
    open_board(visitor)
    expect(page.locator("#board-resting")).to_contain_text("eight")


@pytest.mark.parametrize("look", ["light", "phone", pytest.param("dark", marks=pytest.mark.slow)])
def test_whiskers_are_seen_on_their_bars(visitor: Visitor, look: str) -> None:
    """The whisker stands out from the bar and the bar from the page, three to one or more, in either scheme."""
    visitor.wear(look)
    page = open_board(visitor)
    colours = page.evaluate(
        """() => {
          const [bar, whisker] = document.querySelectorAll("#board-rows .thin-bar path");
          const surface = getComputedStyle(document.querySelector(".panel")).backgroundColor;
          return [getComputedStyle(whisker).stroke, getComputedStyle(bar).fill, surface];
        }"""
    )
    assert min(page.evaluate(CONTRAST, colours)) >= 3
    tall = page.locator("#board-rows .thin-bar path + path").first.get_attribute("d")
    assert tall is not None
    assert "-2V8" in tall  # its caps stand out above and below the bar


def test_exchange_rates_are_said_in_amounts_that_occur(visitor: Visitor) -> None:
    """What is traded is less than models differ by: 0.5 GiB where they use 1 to 3, not 1,000 examples a second."""
    page = open_board(visitor)
    amounts = page.evaluate(
        """async () => {
          const { amountFor } = await import([...document.scripts].at(-1).src.replace("board.js", "board_panels.js"));
          return [[0.012, 0.031], [40, 1250, NaN], [3, 3], [NaN]].map((values) => amountFor(Float64Array.from(values)));
        }"""
    )
    assert amounts == [0.005, 500, 1, 1]
    board = page.evaluate("fetch('/api/v1/tasks/mood/board/rank').then((answer) => answer.json())")
    for axis in ("throughput", "memory"):
        values = [model["values"][axis]["value"] for model in board["models"]]
        assert 0 < board["amounts"][axis] <= max(values) - min(values)
    unfold(page, "worth")
    said = page.locator("#board-worth").inner_text()
    assert f"{board['amounts']['throughput']:g} examples/s more of Throughput" in said.replace(",", "")
