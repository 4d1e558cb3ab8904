"""A trial in a real browser: an owner runs it, two workers and an expert work in it, and its report is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.trial.trials import open_trial, put_trial
from quintain.simulate.crowd_drive import CrowdSize
from quintain.simulate.crowd_trial import Beginning, simulate_trial
from quintain.simulate.demo import NAME, add_trial
from tests.browser.visitor import Visitor
from tests.integration.trial.life import PLAIN, TRAINED
from tests.web_support import copy_demo, running

HOME = "/tasks/sentiment/trials"
PLACE = f"{HOME}/words"
TYPED = 'question_types = ["cause", "time", "number"]\n' + PLAIN.replace(
    "items = 1, sessions = 2", "items = 2, justification = true"
)


@pytest.fixture(scope="module")
def site(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A served copy of the demo, with a finished trial and one that is open."""
    workspace = copy_demo(demo, tmp_path_factory.mktemp("trials") / "demo")
    size, beginning = CrowdSize(workers=4, judges=4), Beginning([PLAIN])
    simulate_trial(workspace, ("sentiment", "rehearsal"), 1, size, beginning, anyway=True)
    add_trial(workspace, "sentiment")
    with workspace.session() as db:
        put_trial(db, OPERATOR, "sentiment", "words", [TRAINED], title="Words of mood")
        open_trial(db, workspace.blobs, OPERATOR, "sentiment", "words")
        put_trial(db, OPERATOR, "sentiment", "typed", [TYPED], title="Sentences of different types")
        open_trial(db, workspace.blobs, OPERATOR, "sentiment", "typed")
    with running(workspace) as url:
        yield url


def test_the_report_is_one_click_from_home(visitor: Visitor) -> None:
    """From the card of the task to the report with its chart, in light, in dark and on a phone.

    For its owner: who could take part in a trial of the task reads no report of another while that one is open.
    """
    visitor.sign_in("demo-owner")
    page = visitor.go("/")
    page.get_by_role("link", name="Simulated trial: BASELINE beside CROWD").click()
    visitor.arrive("h2#results")
    expect(page.locator(".chart[data-drawn]")).to_have_count(1)
    visitor.check_looks()
    visitor.go_in_looks(f"{HOME}/{NAME}")


def test_the_page_says_how_far_models_are_on_its_items(visitor: Visitor) -> None:
    """What is asked stands there with its state, an unknown name is refused, and the report says what waits."""
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks(f"{HOME}/rehearsal")
    table = page.get_by_role("region", name="Runs of models")
    expect(table.get_by_role("link").first).to_contain_text("queued")
    visitor.expected = ("status of 404",)  # the form comes back with what is wrong in it
    page.get_by_label("Models to run").fill("sentiment/absent")
    page.get_by_role("button", name="Run the models on it").click()
    expect(page.get_by_role("alert")).to_contain_text("sentiment/absent")
    visitor.check_looks()
    page.get_by_label("Models to run").fill("")
    visitor.press("Run the models on it")
    page = visitor.go(f"{HOME}/rehearsal/report")
    expect(page.get_by_text("Not finished yet, so without a figure")).to_be_visible()
    visitor.check_looks()


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
    page = visitor.go(PLACE)
    page.get_by_text("People from panels").click()
    page.locator("#entry_provider").select_option("panel")
    page.locator("#entry_completion_code").fill("DONE7")
    visitor.press("Save")
    visitor.unfold("#doors")
    expect(page.get_by_text("?id=…")).to_be_visible()
    visitor.check_looks()
    visitor.go_in_looks(f"{PLACE}/letters/trained/feedback")
    visitor.press("Save the letter to demo-worker")
    visitor.go(PLACE)
    visitor.press("Close feedback of trained")
    page.context.clear_cookies()
    visitor.sign_in("demo-worker")
    page = visitor.go_in_looks(PLACE)
    expect(page.get_by_text("You have qualified for the next round.")).to_be_visible()


@pytest.mark.slow
def test_items_of_different_types_with_justifications_are_judged_in_one_pool(visitor: Visitor) -> None:
    """Two items for a session without a model: types and justifications are seen to; then the owner opens the pool."""
    visitor.expected = ("422",)  # what says nothing, and what repeats another, is sent back
    visitor.sign_in("demo-worker")
    page = visitor.go(f"{HOME}/typed")
    visitor.press("Take part")
    page.get_by_role("link", name="Write", exact=True).last.click()
    visitor.press("Start writing")
    visitor.check_looks()
    _hand_in(page, "The gate swung open twice before noon.", "cause", "It is hard.")
    verdict = page.get_by_role("region", name="Verdict")  # what it says is spoken in a place of its own, too
    expect(verdict.get_by_text("says nothing about this text")).to_be_visible()
    why = "Only the second clause tells that nobody was there, so who skims takes the calm for joy."
    _hand_in(page, "The gate swung open twice before noon.", "cause", why)
    expect(page.get_by_text("1 text to write")).to_be_visible()
    assert page.get_by_label("Type", exact=True).locator("option").all_inner_texts()[1:] == ["time", "number"]
    _hand_in(page, "Nine boats left the harbour on a Tuesday.", "time", why)
    expect(verdict.get_by_text("nearly repeats one")).to_be_visible()
    other = "The number of boats misleads: what matters is the weekday, which nobody links to a mood."
    _hand_in(page, "Nine boats left the harbour on a Tuesday.", "time", other)
    expect(page.get_by_role("heading", name="Done: thank you!")).to_be_visible()
    page.context.clear_cookies()
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks(f"{HOME}/typed")
    expect(page.get_by_text("2 judgements of most items, 3 of a seeded 1 of each arm.")).to_be_visible()
    visitor.press("Let what is final be judged")
    page.get_by_role("link", name="Validation", exact=True).last.click()
    visitor.arrive("#quality")
    expect(page.get_by_text("2 judgements of most items, 3 of a seeded 1 of each part.")).to_be_visible()
    expect(page.get_by_role("row", name="plain 2 1")).to_be_visible()
    visitor.check_looks()


def _hand_in(page: Page, text: str, of_type: str, why: str) -> None:
    page.get_by_label("neutral" if page.get_by_label("neutral").count() else "negative").check()
    page.get_by_label("Text").fill(text)
    page.get_by_label("Type", exact=True).select_option(of_type)
    page.get_by_label("What makes it hard?").fill(why)
    page.get_by_role("button", name="Hand in").click()


def test_owners_begin_trials_on_a_page(visitor: Visitor) -> None:
    """The list with its form, and a draft with what it is opened with."""
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks(HOME)
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_role("checkbox", name="baseline").check()
    visitor.press("Begin as a draft")
    visitor.check_looks()
