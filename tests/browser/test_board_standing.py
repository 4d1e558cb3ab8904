"""What a reader sees of runs that are still to come, and of figures from another machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from tests.boards import add_version, evaluated, up_to
from tests.browser.board_site import BOARD, open_board, order, unfold
from tests.browser.visitor import Visitor
from tests.web_support import running

FAR = "A far machine, 64 CPUs"


@pytest.fixture(scope="module")
def made(board_workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A board of three models, one that waits for its runs, and one that was measured on another machine."""
    folder = tmp_path_factory.mktemp("standing")
    with board_workspace.session() as db:
        blobs = board_workspace.blobs
        abroad = add_version(db, blobs, OPERATOR, folder, "abroad")
        evaluated(db, blobs, abroad, up_to(70), machine=FAR, throughput=5000.0)
        evaluated(db, blobs, add_version(db, blobs, OPERATOR, folder, "half"), up_to(95), perturbed=["typos"])
    return board_workspace


@pytest.fixture(scope="module")
def site(made: Workspace) -> Iterator[str]:
    """Its address."""
    with running(made) as url:
        yield url


def test_a_provisional_order_says_so_as_long_as_the_view_rests_on_runs_to_come(visitor: Visitor) -> None:
    """The banner counts the runs; the row that waits says how far it is, and the citation carries the word."""
    page = open_board(visitor)
    banner = page.locator("#board-provisional")
    expect(banner).to_be_visible()
    expect(banner).to_have_text(re.compile(r"This order is provisional: 18 of 120 runs are still to come\."))
    row = page.locator("tr[data-ref='mood/half@1']")
    expect(row).to_contain_text("6 of 24 runs done")
    expect(row.locator(".board-rank")).to_have_text("–")
    unfold(page, "citing")
    assert "order      provisional, 18 of 120 runs to come" in page.locator("#cite").inner_text()
    assert "half" in order(page)[3:], "the best that waits is not among the ranked"


def test_a_figure_from_another_machine_is_shown_and_does_not_rank(visitor: Visitor) -> None:
    """The cell has the value and the words, the tip the machine; the board says on what it ranks."""
    page = open_board(visitor)
    row = page.locator("tr[data-ref='mood/abroad@1']")
    expect(row).to_contain_text(f"measured on another machine: {FAR}")
    expect(row.locator(".board-cell").nth(1)).to_have_text("5,000 (shown, not ranked)")
    expect(row.locator(".board-rank")).to_have_text("–")
    expect(page.locator("#board-machine")).to_contain_text("Throughput and memory rank as measured on test.")
    expect(page.get_by_role("button", name="Measure again there")).to_have_count(0)
    row.locator(".board-toggle").click()
    expect(page.locator(".board-details")).to_contain_text(f"measured on another machine: {FAR} · shown, not ranked")
    page.goto(visitor.base + BOARD + "?weights=performance:1")
    page.wait_for_selector("#board[data-sure=true]")
    expect(page.locator("tr[data-ref='mood/abroad@1'] .board-rank")).to_have_text(re.compile(r"^\d"))


def test_an_owner_has_it_measured_again_from_the_page(visitor: Visitor) -> None:
    """The button queues what was measured elsewhere for the class that ranks; the order waits for it."""
    visitor.sign_in("olga")
    page = open_board(visitor)
    page.get_by_role("button", name="Measure again there").click()
    expect(page.get_by_text("Measurements that wait for a worker on test: 2.")).to_be_visible()
    expect(page.locator("#board-provisional")).to_contain_text("20 of 120 runs are still to come")
    page.goto(visitor.base + BOARD + "/settings")
    field = page.get_by_label(re.compile("Class of machine"))
    field.fill(FAR)
    page.get_by_role("button", name="Save").click()
    held = page.locator("#board-held")  # the last complete ranking stays until the others are measured there
    expect(held).to_contain_text("more runs")
    expect(held.get_by_role("button", name="Measure again there")).to_be_visible()
    page.goto(visitor.base + BOARD + "?live=true")
    expect(page.locator("#board-machine")).to_contain_text(f"rank as measured on {FAR}")
    visitor.check()
