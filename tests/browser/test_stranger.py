"""The demo as a stranger opens it, in a real browser: what each part does first, with no link and no password."""

from __future__ import annotations

import re
import statistics
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from quintain.compose import Workspace, make_engine
from quintain.conditions import conditions_here
from quintain.services.evaluate.cells.worker import work
from quintain.simulate.demo import Amounts, simulate_activity
from quintain.simulate.handwritten import HandwrittenCorpus
from quintain.simulate.stations import TASK, Sizes
from quintain.simulate.wheel import run_plain
from quintain.web.app import create_app
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, post, running

HOME = f"/tasks/{TASK}"
BOARD = "/tasks/choice/board"  # small, so that all its five axes are soon measured
CORPUS = HandwrittenCorpus(3, reviews={0: 90, 2: 60}, prompts={1: 90, 3: 24, 4: 24})
AMOUNTS = Amounts(Sizes(harvested=100, written=90, judges=12, writers=8, corpus=CORPUS), 110, 22, 8, 6)
MOST_SECONDS = 0.15
SEEN = {
    "reader": ["/", HOME, f"{HOME}/board", f"{HOME}/timeline", f"{HOME}/models", f"{HOME}/rounds/5", "/help", BOARD],
    "worker": ["/", "/work", f"{HOME}/rounds/5/write", f"{HOME}/judge/4", "/notifications"],
    "owner": [
        "/",
        "/tasks/new",
        f"{HOME}/rounds/new",
        f"{HOME}/rounds/4",
        f"{HOME}/validation",
        f"{HOME}/validation/4",
        f"{HOME}/validation/mixed/adjudicate",
        f"{HOME}/validation/2/release",
    ],
    "builder": ["/", f"{HOME}/submit", f"{HOME}/train", f"{HOME}/runs", f"{HOME}/talk"],
    "admin": ["/", "/admin", "/admin/health", "/admin/audit"],
}


@pytest.fixture(scope="module")
def lively(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The demo with less of everything; what scores is run, and one small board has all its figures."""
    made = replace(copy_demo(demo, tmp_path_factory.mktemp("stranger") / "demo"), demo=True)
    simulate_activity(made, amounts=AMOUNTS)
    run_plain(made, TASK)
    settings = made.settings
    work(
        made.session,
        made.blobs,
        make_engine(settings),
        conditions_here(settings),
        threading.Event(),
        until_empty=True,
        task="choice",
    )
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(lively: Workspace) -> Iterator[str]:
    """The address of that demo."""
    with running(lively) as url:
        yield url


def play(visitor: Visitor, part: str) -> Page:
    """Open the front page, and change into a part with one click."""
    page = visitor.page
    page.goto(f"{visitor.base}/")
    with page.expect_navigation():
        page.locator(".parts").get_by_role("button", name=part).click()
    expect(page.locator(".parts [aria-pressed=true]")).to_have_text(part)
    visitor.check()
    return page


def follow(visitor: Visitor, text: str) -> Page:
    """Click on what waits, and check the page that it leads to."""
    with visitor.page.expect_navigation():
        visitor.page.locator(".waiting-list li", has_text=text).get_by_role("link").first.click()
    visitor.check()
    return visitor.page


def test_a_reader_fools_the_model_and_makes_it_count(visitor: Visitor) -> None:
    """Nobody yet: the box answers, and one click leads to the page where it counts."""
    page = visitor.go("/")
    page.fill("#fool-text", "Not the worst way to waste an evening.")
    page.get_by_label("neutral").check()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#fooled .verdict-panel")).to_be_visible()
    visitor.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Play the worker, and make it count").click()
    assert page.url.endswith(f"{HOME}/rounds/5/write")


def test_a_reader_moves_a_weight(visitor: Visitor) -> None:
    """All five axes have figures; moving a slider ranks anew."""
    page = visitor.go(BOARD)
    expect(page.locator("#board-table tbody tr")).to_have_count(3)
    before = page.locator("#board-table").inner_text()
    for axis in ("performance", "throughput", "memory", "fairness", "robustness"):
        expect(page.locator(f"#weight-{axis}")).to_be_visible()
    page.locator("#weight-performance").focus()
    page.keyboard.press("Home")
    expect(page.locator("#board-table")).not_to_have_text(before)
    page.wait_for_url("**weights=**")


def test_a_worker_writes_in_the_open_round(visitor: Visitor) -> None:
    """What waits leads to the text field, and the model's verdict comes."""
    play(visitor, "Worker")
    page = follow(visitor, "Write: fool the model")
    page.get_by_role("button", name="Start writing").click()
    visitor.arrive("form[data-write]")
    page.get_by_label("negative", exact=True).check()
    page.locator("#in-text").fill("I was so glad when the garden was behind me.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".verdict-title")).to_be_visible()


def test_a_worker_judges_a_page_of_ten(visitor: Visitor) -> None:
    """Ten texts are answered by keys and handed in."""
    play(visitor, "Worker")
    page = follow(visitor, "Judge what others wrote")
    page.get_by_role("button", name="Start judging").click()
    visitor.arrive("form[data-live]")
    for number in range(1, 11):
        expect(page.locator("[data-place]:not(form)")).to_have_text(f"{number} of 10")
        page.keyboard.press("1")
        if number < 10:
            page.keyboard.press("Enter")
    expect(page.locator("[data-judge=go]")).to_have_text("Hand in")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Thank you: the page is handed in")).to_be_visible()


def test_an_owner_decides_a_contested_item(visitor: Visitor) -> None:
    """A number chooses, Enter decides, and the queue is one shorter."""
    play(visitor, "Owner")
    page = follow(visitor, "contested item")
    bar = page.locator(".judge-bar")
    left = int(str(bar.inner_text()).split(" of ")[1].split()[0])
    assert left >= 3
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(bar).to_contain_text(f"of {left - 1}")


def test_an_owner_releases_what_was_judged(visitor: Visitor) -> None:
    """The validation that waits becomes train, dev and test."""
    play(visitor, "Owner")
    page = follow(visitor, "Release what was judged")
    if not page.url.endswith("/release"):
        with page.expect_navigation():
            page.locator(".stations").get_by_role("link", name="Release").click()
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_text("Nothing is written yet.")).to_be_visible()
    with page.expect_navigation():
        page.locator("main form").get_by_role("button", name="Release", exact=True).click()
    expect(page.locator("#release-1")).to_be_visible()


def test_a_builder_submits_the_starter(visitor: Visitor, tmp_path: Path) -> None:
    """The archive that the page offers is accepted as it is."""
    page = play(visitor, "Builder")
    with page.expect_navigation():
        page.get_by_role("link", name="Submit a model").click()
    visitor.check()
    with page.expect_download() as told:
        page.get_by_role("link", name=re.compile("^Starter")).first.click()
    archive = tmp_path / told.value.suggested_filename
    told.value.save_as(archive)
    page.set_input_files("#file", archive)
    with page.expect_navigation():
        page.get_by_role("button", name="Submit", exact=True).click()
    assert f"{HOME}/models/my-model" in page.url
    expect(page.get_by_role("heading", level=1)).to_contain_text("my-model")


def test_an_admin_sees_how_it_goes(visitor: Visitor) -> None:
    """Queue, sandbox and disk on one page, one click away."""
    play(visitor, "Admin")
    page = visitor.go("/admin/health")
    expect(page.locator("main")).to_contain_text("runs waiting")
    expect(page.locator("main")).to_contain_text("free on disk")


@pytest.mark.parametrize("part", SEEN)
def test_no_page_takes_long(lively: Workspace, part: str) -> None:
    """What the server itself computes for a page that was opened before is a small part of a second."""
    client = TestClient(create_app(lively), base_url="http://127.0.0.1", client=("127.0.0.1", 50000))
    assert post(client, "/", "/demo/part", part=part, next="/").status_code == 200
    slow = {}
    for path in SEEN[part]:
        taken = []
        for _ in range(4):  # the first one warms what is compiled and cached
            begun = time.process_time()
            assert client.get(path).status_code == 200, path
            taken.append(time.process_time() - begun)
        slow[path] = statistics.median(taken[1:])
    assert {path: seconds for path, seconds in slow.items() if seconds > MOST_SECONDS} == {}
