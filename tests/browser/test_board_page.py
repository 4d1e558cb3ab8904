"""The board in a real browser: weights moved by mouse and keyboard, the order read from the accessibility tree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.services.board.verify import verify_snapshot
from tests.browser.board_site import BOARD, open_board, order, press, unfold
from tests.browser.visitor import Visitor
from tests.web_support import running


@pytest.fixture(scope="module")
def site(board_workspace: Workspace) -> Iterator[str]:
    """The address of a workspace with a board."""
    with running(board_workspace) as url:
        yield url


def test_a_weight_is_dragged_with_the_mouse(visitor: Visitor) -> None:
    """Dragging the throughput slider to its end and accuracy to nothing puts the fast model on top."""
    page = open_board(visitor, "?weights=performance:4,robustness:1")
    assert order(page) == ["large", "medium", "small"]
    for axis, end in (("throughput", 1.0), ("performance", 0.0), ("robustness", 0.0)):
        box = page.locator(f"#weight-{axis}").bounding_box()
        assert box
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] / 2, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + (box["width"] - 2 if end else 2), middle, steps=8)
        page.mouse.up()
    assert order(page) == ["small", "medium", "large"]
    expect(page.locator("#board-said")).to_have_text("New order: 1. small, 2. medium, 3. large.")
    expect(page.locator("tr[data-ref='mood/small@1'] .board-rank")).to_have_text(re.compile(r"1 \(1\)"))
    assert "throughput:" in page.url


def test_a_weight_is_moved_with_the_keyboard(visitor: Visitor) -> None:
    """The sliders are reached with Tab and moved with keys; the new order is announced."""
    page = open_board(visitor, "?weights=performance:1")
    assert order(page) == ["large", "medium", "small"]
    page.locator("#weight-performance").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#weight-throughput")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Home")
    assert order(page) == ["small", "medium", "large"]
    expect(page.get_by_role("status").filter(has_text="New order")).to_contain_text("1. small")
    assert page.locator("#weight-throughput").get_attribute("aria-valuetext") == "100% of the weight"
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(page.locator("#board-refused")).to_contain_text("All weights are 0")


def test_without_any_weight_no_order_stays_and_nobody_is_asked(visitor: Visitor) -> None:
    """All weights at 0: no rank or chart of before is left and no request refused; a weight brings it back."""
    page = open_board(visitor, "?weights=performance:1")
    refused: list[str] = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    page.locator("#weight-performance").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    expect(page.locator("#board-refused")).to_be_visible()
    page.wait_for_timeout(600)
    assert page.locator("#board-rows .board-rank").all_inner_texts() == ["–"] * 3
    expect(page.locator("#sure-pairs li")).to_have_count(0)
    expect(page.locator("#scatter .mark-symbol path")).to_have_count(0)
    assert refused == []
    visitor.check()
    page.keyboard.press("End")
    expect(page.locator("#board-refused")).to_be_hidden()
    assert order(page) == ["large", "medium", "small"]


def test_a_view_is_shared_by_its_address(visitor: Visitor) -> None:
    """A preset changes the address; the same address shows the same order, the export follows, the citation too."""
    page = open_board(visitor)
    page.get_by_role("button", name="Small and fast").click()
    page.wait_for_url(re.compile("weights="))
    expect(page.get_by_role("button", name="Small and fast")).to_have_attribute("aria-pressed", "true")
    before, address = order(page), page.url
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#board[data-sure=true]")
    assert order(page) == before
    assert "weights=" in str(page.locator("[data-export=csv]").get_attribute("href"))
    unfold(page, "citing")
    cited = page.locator("#cite").inner_text()
    assert "mood/test@1" in cited
    assert address in cited
    assert "throughput 0.300" in cited


def test_rows_open_to_data_sets_and_slices(visitor: Visitor) -> None:
    """A row opens with the keyboard to its data sets, with n and intervals in words, and its tags."""
    page = open_board(visitor)
    toggle = page.get_by_role("button", name="Details of large")
    toggle.focus()
    page.keyboard.press("Enter")
    detail = page.locator(".board-details")
    expect(detail).to_contain_text("mood/contrast@1")
    expect(detail).to_contain_text("interval 8")
    expect(detail).to_contain_text("120 examples")
    expect(detail.locator(".board-slices")).to_contain_text("even")
    visitor.check()
    page.keyboard.press("Enter")
    expect(detail).to_have_count(0)


def test_data_sets_base_metric_charts_and_aggregations(visitor: Visitor) -> None:
    """Data set weights fold out; the scatter has a point per model that lights up with its row; aggregations load."""
    page = open_board(visitor)
    unfold(page, "ground", "trade-offs")
    slider = page.get_by_label(re.compile("^contrast"))
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_url(re.compile("datasets=contrast:0"))
    page.select_option("#base-metric", "throughput")
    page.wait_for_url(re.compile("base=throughput"))
    expect(page.locator("#scatter .mark-symbol path")).to_have_count(3)
    page.locator("tr[data-ref='mood/small@1'] .board-rank").hover()
    expect(page.locator("#scatter .mark-symbol path[stroke-width='6']")).to_have_count(1)
    page.get_by_role("heading", name="What would other ways of adding up say?").click()
    expect(page.locator("#aggregations-table")).to_contain_text("Bradley–Terry")
    visitor.check()


def test_the_table_comes_first_and_questions_unfold(visitor: Visitor) -> None:
    """What is below the table is folded behind questions; a link into one opens it, and its chart is drawn then."""
    page = open_board(visitor)
    questions = page.locator("details.question:visible")
    assert questions.count() >= 8
    assert page.locator("details.question[open]").count() == 0
    assert all(text.endswith("?") for text in questions.locator("summary").all_inner_texts())
    assert page.evaluate("document.documentElement.scrollHeight") < 2200
    page.get_by_role("link", name="How sure is this ranking?").click()
    expect(page.locator("#sure-pairs")).to_be_visible()
    expect(page.locator("#progress svg")).to_have_count(0)
    unfold(page, "progress")
    expect(page.locator("#progress .chart[data-drawn] svg")).to_be_visible()
    fills = "nodes => nodes.map((one) => one.getAttribute('fill')).filter((fill) => fill?.startsWith('#'))"
    marks = page.locator("#progress .mark-symbol path").evaluate_all(fills)
    rows = page.locator("#board-rows .model-mark path").evaluate_all(fills)
    assert len(set(rows)) == 3
    assert set(marks) <= set(rows)
    visitor.check()


def test_keeping_a_view_and_a_snapshot_and_setting_the_board(visitor: Visitor) -> None:
    """Signed in, a view is kept and offered, a snapshot is taken and verifies, and the owner sets the board."""
    visitor.sign_in("olga")
    page = open_board(visitor, "?weights=throughput:1")
    unfold(page, "kept")
    page.fill("#name", "Only speed")
    press(page, "Keep the view")
    page.get_by_role("button", name="Accuracy only").click()
    assert order(page)[0] == "large"
    page.locator(".board-tools").get_by_role("button", name="Only speed").click()
    assert order(page)[0] == "small"
    unfold(page, "kept")
    page.fill("#title", "Frozen")
    press(page, "Take a snapshot")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Frozen").click()
    data = waiting.value.path().read_bytes()
    assert verify_snapshot(data).problems == ()
    assert json.loads(data)["ranking"]["weights"]["throughput"] == 1
    visitor.check()
    visitor.go(f"{BOARD}/settings")
    page.fill("#human", "95")
    page.get_by_label("medium").uncheck()
    press(page, "Save")
    assert "medium" not in order(page)
    visitor.go(f"{BOARD}/settings")
    page.get_by_label("medium").check()
    press(page, "Save")


@pytest.mark.parametrize(
    "context_options",
    [
        pytest.param(
            {"viewport": {"width": 360, "height": 780}, "color_scheme": "light", "locale": "en"}, marks=pytest.mark.slow
        ),
        {
            "viewport": {"width": 1700, "height": 900},
            "color_scheme": "dark",
            "locale": "de",
            "reduced_motion": "reduce",
        },
    ],
)
def test_it_fits_small_dark_and_german(visitor: Visitor, context_options: dict[str, Any]) -> None:
    """At 360 px, in the dark, in German and without motion the page has no fault and still ranks."""
    page = open_board(visitor, "?weights=performance:1")
    assert sorted(order(page), reverse=True) == ["small", "medium", "large"]
    page.locator("#weight-throughput").focus()
    page.keyboard.press("End")
    assert len(order(page)) == 3
    assert context_options


@pytest.mark.parametrize("context_options", [{"viewport": {"width": 360, "height": 780}, "has_touch": True}])
def test_weights_are_a_list_on_a_phone(visitor: Visitor, context_options: dict[str, Any]) -> None:
    """At 360 px every slider has the width of the page and a finger's height, is named, and ranks when it is tapped."""
    page = open_board(visitor, "?weights=performance:1")
    width = context_options["viewport"]["width"]
    sliders = page.locator("[data-axis]")
    for number in range(sliders.count()):
        box = sliders.nth(number).bounding_box()
        assert box
        assert box["height"] >= 44
        assert box["x"] >= 0
        assert width >= box["x"] + box["width"] >= box["width"] >= 0.75 * width
    for button in page.locator(".board-tools button").all():
        box = button.bounding_box()
        assert box
        assert box["height"] >= 44
    assert order(page) == ["large", "medium", "small"]
    for axis, share in (("performance", 0.0), ("throughput", 1.0)):
        slider = page.locator(f"#weight-{axis}")
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        assert box
        page.touchscreen.tap(box["x"] + 2 + share * (box["width"] - 4), box["y"] + 22)
    expect(page.get_by_role("slider", name="Weight of Throughput")).to_have_attribute(
        "aria-valuetext", re.compile("100%")
    )
    assert order(page) == ["small", "medium", "large"]
    # Turned on its side it is a wide table again, and the sliders are under their columns.
    page.set_viewport_size({"width": 1280, "height": 780})
    expect(page.locator(".board-weights [data-axis]")).to_have_count(sliders.count())
    page.locator("#weight-performance").focus()
    page.keyboard.press("End")
    expect(page.locator("#weight-performance + output")).to_have_text(re.compile("^5"))
    visitor.check()


def test_an_empty_board_says_what_to_do(visitor: Visitor) -> None:
    """A task without models explains how its board fills."""
    page = visitor.go("/tasks/empty/board")
    expect(page.get_by_role("heading", name="Nothing to rank yet")).to_be_visible()
