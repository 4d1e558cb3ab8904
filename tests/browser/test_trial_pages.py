"""A trial in a real browser: an owner runs it, two workers and an expert work in it, and its report is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.trial.trials import open_trial, put_trial
from quintain.simulate.trial import NAME, add_trial
from tests.browser.visitor import Visitor
from tests.integration.trial.life import TRAINED
from tests.web_support import copy_demo, running

HOME = "/tasks/sentiment/trials"
PLACE = f"{HOME}/words"


@pytest.fixture(scope="module")
def site(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A served copy of the demo, with a finished trial and one that is open."""
    workspace = copy_demo(demo, tmp_path_factory.mktemp("trials") / "demo")
    add_trial(workspace, "sentiment")
    with workspace.session() as db:
        put_trial(db, OPERATOR, "sentiment", "words", [TRAINED], title="Words of mood")
        open_trial(db, workspace.blobs, OPERATOR, "sentiment", "words")
    with running(workspace) as url:
        yield url


def test_the_report_is_one_click_from_home(visitor: Visitor) -> None:
    """From the card of the task to the report with its chart, in light, in dark and on a phone."""
    page = visitor.go("/")
    page.get_by_role("link", name="Simulated trial: BASELINE beside CROWD").click()
    visitor.arrive("h2#results")
    expect(page.locator(".chart[data-drawn]")).to_have_count(1)
    visitor.check_looks()
    visitor.go_in_looks(f"{HOME}/{NAME}")


def test_a_trial_is_run_by_hand(visitor: Visitor) -> None:
    """The worker enters, chooses, writes; the owner grades with keys, reads the letter and sends it."""
    visitor.sign_in("demo-worker")
    page = visitor.go_in_looks(PLACE)
    visitor.press("Take part")
    page.get_by_role("link", name="Go on with the tutorial").click()
    visitor.arrive("[name=answer]")
    visitor.check_looks()
    page.locator("button[value=second]").click()
    page.get_by_role("link", name="Write", exact=True).last.click()
    visitor.press("Start writing")
    visitor.check_looks()
    page.get_by_label("negative").check()
    page.get_by_label("Text").fill("The kiln had cooled before anybody came to look.")
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Done: thank you!")).to_be_visible()
    page.context.clear_cookies()
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks(PLACE)
    visitor.press("Close tutorial of trained")
    visitor.go_in_looks(f"{PLACE}/grade")
    for key in ("1", "4", "3", "1"):
        page.keyboard.press(key)
    expect(page.locator("fieldset input:checked")).to_have_count(4)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing waits for your grade now.")).to_be_visible()
    visitor.go(PLACE)
    visitor.press("Close grades of trained")
    visitor.press("Close qualify of trained")
    visitor.go_in_looks(f"{PLACE}/letters/trained/feedback")
    visitor.press("Save the letter to demo-worker")
    visitor.go(PLACE)
    visitor.press("Close feedback of trained")
    page.context.clear_cookies()
    visitor.sign_in("demo-worker")
    page = visitor.go_in_looks(PLACE)
    expect(page.get_by_text("You have qualified for the next round.")).to_be_visible()


def test_owners_begin_trials_on_a_page(visitor: Visitor) -> None:
    """The list with its form, and a draft with what it is opened with."""
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks(HOME)
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_role("checkbox", name="baseline").check()
    visitor.press("Begin as a draft")
    visitor.check_looks()
