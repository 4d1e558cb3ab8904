"""The board in a real browser: weights moved by mouse and keyboard, the order read from the accessibility tree."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.board_keep import verify_snapshot
from quintain.services.links import make_link, redeem_link
from quintain.services.tasks import put_task
from quintain.settings import Settings
from tests.boards import small_board
from tests.browser.visitor import Visitor
from tests.evaluation import TASK
from tests.people import make_person
from tests.web_support import PASSWORD, running

BOARD = "/tasks/mood/board"
FRAMES = """async (axis) => {
  const slider = document.querySelector(`[data-axis=${axis}]`);
  const frames = [], computing = [];
  for (let step = 0; step < 40; step += 1) {
    await new Promise(requestAnimationFrame);
    const started = performance.now();
    slider.value = (step * 7) % 33 / 4;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    document.body.getBoundingClientRect();
    frames.push(performance.now() - started);
    computing.push(Number(document.getElementById("board").dataset.computeMs));
  }
  const middle = (times) => times.sort((a, b) => a - b)[times.length / 2];
  return {frame: middle(frames), compute: middle(computing), rows: document.querySelectorAll("#board-rows tr").length};
}"""


@pytest.fixture(scope="module")
def board_workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with an evaluated task, an owner whose password is known, and an empty task."""
    folder = tmp_path_factory.mktemp("board")
    made = create_workspace(Settings(workspace=folder / "workspace", login_attempts=1000))
    with made.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        small_board(db, made.blobs, owner, make_person(db, "bert", RoleName.BUILDER), folder)
        put_task(db, owner, TASK.replace('"mood"', '"empty"').replace('"Mood"', '"Empty"'))
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def site(board_workspace: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(board_workspace) as url:
        yield url


def open_board(visitor: Visitor, query: str = "") -> Page:
    """Open the board and wait until it is ranked and knows how sure it is."""
    visitor.page.goto(visitor.base + BOARD + query)
    visitor.page.wait_for_selector("#board[data-sure=true]")
    visitor.check()
    return visitor.page


def order(page: Page) -> list[str]:
    """Read the order of the models aloud: the row headers of the accessibility tree, from the top."""
    tree = page.locator("#board-rows").aria_snapshot()
    return re.findall(r'rowheader "(?:(?:Details of|Einzelheiten zu) \w+ )?(\w+)', tree)


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
    assert page.locator("#weight-throughput").get_attribute("aria-valuetext") == "100 % of the weight"
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    expect(page.locator("#board-refused")).to_contain_text("All weights are 0")


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
    page.get_by_role("heading", name="Data sets, base metric, ε").click()
    slider = page.get_by_label(re.compile("^contrast"))
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_url(re.compile("datasets=contrast:0"))
    page.select_option("#base-metric", "throughput")
    page.wait_for_url(re.compile("base=throughput"))
    expect(page.locator("#scatter .mark-symbol path")).to_have_count(3)
    page.locator("tr[data-ref='mood/small@1'] .board-rank").hover()
    expect(page.locator("#scatter .mark-symbol path.lit")).to_have_count(1)
    page.get_by_role("heading", name="What would other ways of adding up say?").click()
    expect(page.locator("#aggregations-table")).to_contain_text("Bradley–Terry")
    visitor.check()


def test_keeping_a_view_and_a_snapshot_and_setting_the_board(visitor: Visitor) -> None:
    """Signed in, a view is kept and offered, a snapshot is taken and verifies, and the owner sets the board."""
    visitor.sign_in("olga")
    page = open_board(visitor, "?weights=throughput:1")
    page.fill("#name", "Only speed")
    page.get_by_role("button", name="Keep the view").click()
    page.wait_for_selector("#board[data-sure=true]")
    page.get_by_role("button", name="Accuracy only").click()
    assert order(page)[0] == "large"
    page.locator(".board-tools").get_by_role("button", name="Only speed").click()
    assert order(page)[0] == "small"
    page.fill("#title", "Frozen")
    page.get_by_role("button", name="Take a snapshot").click()
    page.wait_for_selector("#board[data-sure=true]")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Frozen").click()
    data = waiting.value.path().read_bytes()
    assert verify_snapshot(data).problems == ()
    assert json.loads(data)["ranking"]["weights"]["throughput"] == 1
    visitor.check()
    visitor.go(f"{BOARD}/settings")
    page.fill("#human", "95")
    page.get_by_label("medium").uncheck()
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("#board[data-sure=true]")
    assert "medium" not in order(page)
    visitor.go(f"{BOARD}/settings")
    page.get_by_label("medium").check()
    page.get_by_role("button", name="Save").click()
    page.wait_for_selector("#board[data-sure=true]")


@pytest.mark.parametrize(
    "context_options",
    [
        {"viewport": {"width": 360, "height": 780}, "color_scheme": "light", "locale": "en"},
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


def test_an_empty_board_says_what_to_do(visitor: Visitor) -> None:
    """A task without models explains how its board fills."""
    page = visitor.go("/tasks/empty/board")
    expect(page.get_by_role("heading", name="Nothing to rank yet")).to_be_visible()


def large_board(models: int, datasets: int, metrics: int) -> dict[str, Any]:
    """Make the JSON of a large board."""
    rng = np.random.default_rng(0)
    names = ["performance", "throughput", "memory", "fairness", "robustness", *(f"m{n}" for n in range(metrics - 5))]

    def cell() -> dict[str, Any]:
        value = float(rng.random()) * 10
        return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 100, "at": None}

    return {
        "task": "mood",
        "metric": "accuracy",
        "tag": None,
        "language": None,
        "axes": [{"name": name, "title": name, "unit": "", "lower": name == "memory", "cap": None} for name in names],
        "datasets": [
            {"ref": f"mood/d{n}@1", "name": f"d{n}", "hash": "0", "role": "test", "rows": 100, "weight": 1.0}
            for n in range(datasets)
        ],
        "models": [
            {
                "ref": f"mood/model-{n}@1",
                "name": f"model-{n}",
                "hash": "0",
                "visibility": "public",
                "predictions_only": False,
                "values": {name: [cell() for _ in range(datasets)] for name in names},
                "cannot": [],
                "pending": "",
                "seeds": [],
            }
            for n in range(models)
        ],
        "weights": dict.fromkeys(names, 1.0),
        "epsilon": None,
        "made_at": "2026-01-01T00:00:00",
    }


def test_a_thousand_models_follow_the_slider(visitor: Visitor, record_property: Any) -> None:
    """1,000 models × 20 data sets × 6 metrics re-rank while the slider moves; times are recorded, and not judged."""
    text = json.dumps(large_board(1000, 20, 6))

    def answer(route: Route) -> None:
        route.fulfill(body=text, content_type="application/json")

    visitor.page.route(re.compile(r"/api/v1/tasks/mood/board\?"), answer)
    visitor.page.goto(visitor.base + BOARD)
    visitor.page.wait_for_selector("#board[data-ready=true]")
    found = visitor.page.evaluate(FRAMES, "throughput")
    for name, value in found.items():
        record_property(name, value)
    assert found["rows"] == 40
    assert found["compute"] > 0
    visitor.go("/tasks/empty/board")
