"""One sentence's whole life in a real browser: written, judged, labelled, released, scored; and the board moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from quintain.compose import Workspace, create_workspace
from quintain.services.house.demo import add_people, add_starter_tasks
from quintain.settings import Settings
from quintain.simulate.demo import judge_what_waits
from quintain.simulate.stations import TASK, Sizes, wheel_at
from quintain.simulate.wheel import run_plain
from tests.browser.visitor import Visitor
from tests.web_support import running

HOME = f"/tasks/{TASK}"
SENTENCE = "I have rarely been so glad that something was over, and I loved nothing about the garden."


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A demo with one model, and a round that is open and in which people have written."""
    made = create_workspace(Settings(workspace=tmp_path_factory.mktemp("life"), model_calls=1000))
    with wheel_at(made, 1, "", Sizes(written=110, judges=8, writers=8)) as wheel:
        add_people(wheel.db)
        add_starter_tasks(wheel.db, made.blobs, TASK)
        model = wheel.model(0, [])
        _, writers = wheel.people()
        wheel.write(0, wheel.open_writing(0, model, title="Fool model-0"), writers, wheel.sizes.written)
    yield replace(made, demo=True)
    made.close()


@pytest.fixture(scope="module")
def site(lively: Workspace) -> Iterator[str]:
    """The address of that demo."""
    with running(lively) as url:
        yield url


def play(page: Page, part: str) -> None:
    """Change into a part with one click."""
    with page.expect_navigation():
        page.locator(".parts").get_by_role("button", name=part).click()
    expect(page.locator(".parts [aria-pressed=true]")).to_have_text(part)


def step(page: Page, name: str) -> None:
    """Press the button of the round's next station."""
    with page.expect_navigation():
        page.locator(".stations").get_by_role("button", name=name).or_(
            page.locator(".stations").get_by_role("link", name=name)
        ).last.click()


def test_a_sentence_lives(visitor: Visitor, lively: Workspace) -> None:
    """No command is typed: a worker writes it, judges answer, the owner releases it, and the board has its round."""
    page = visitor.go(f"{HOME}/rounds/1")
    play(page, "Worker")
    step(page, "Write")
    page.get_by_role("button", name="Start writing").click()
    visitor.arrive("form[data-write]")
    page.get_by_label("negative", exact=True).check()
    page.locator("#in-text").fill(SENTENCE)
    page.keyboard.press("Control+Enter")
    expect(page.locator(".verdict-title")).to_be_visible()
    yes = page.get_by_role("button", name="Yes", exact=True)
    if yes.count():
        yes.click()
        expect(page.get_by_role("heading", name="Done: thank you!")).to_be_visible()

    visitor.go(f"{HOME}/rounds/1")
    play(page, "Owner")
    page.get_by_role("button", name="Close", exact=True).click()
    with page.expect_navigation():
        page.get_by_role("button", name="Yes, go on").click()
    step(page, "Let people judge")
    assert judge_what_waits(lively, np.random.default_rng(1)) >= 555  # the crew of the demo, which waits beside it
    visitor.go(f"{HOME}/rounds/1")
    expect(page.locator(".stations li").nth(1)).to_have_class("done")
    visitor.go(f"{HOME}/validation/1/items?q=rarely+been+so+glad")
    expect(page.locator("main")).to_contain_text(SENTENCE)
    expect(page.locator("main")).to_contain_text("negative")

    visitor.go(f"{HOME}/validation/1/release")
    page.get_by_role("button", name="Look at it").click()
    expect(page.get_by_text("Nothing is written yet.")).to_be_visible()
    with page.expect_navigation():
        page.locator("main form").get_by_role("button", name="Release", exact=True).click()
    expect(page.locator("#release-1")).to_be_visible()
    expect(page.locator(".stations li").nth(3)).to_have_class("done")
    expect(page.locator(".stations").get_by_role("link", name="Train the next model")).to_be_visible()
    visitor.check()

    page.get_by_role("link", name=f"{TASK}/round-1-test@1").click()
    page.get_by_role("button", name="Let it score").click()
    expect(page.locator("#scoring")).to_contain_text("This data set scores on the board.")
    run_plain(lively, TASK)  # what a worker beside the server does
    visitor.go(f"{HOME}/board")
    visitor.unfold("#ground")
    expect(page.get_by_label("round-1-test")).to_be_visible()
    visitor.check()
