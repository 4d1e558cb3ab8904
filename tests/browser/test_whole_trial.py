"""A whole trial in a browser: an owner, four workers and an expert, from making it to the letter and the report."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.accounts import update_profile
from quintain.services.access.links import make_link, redeem_link
from tests.browser.visitor import Visitor
from tests.people import make_person
from tests.validation_support import judge_all, make_judges
from tests.web_support import PASSWORD, copy_demo, running

HOME = "/tasks/sentiment/trials"
PLACE = f"{HOME}/tones"
WORKERS = ("wanda", "willi", "wolf", "wren")
TEXTS = (
    "The kiln had cooled before anybody came to look.",
    "A lantern was left burning in the orchard all week.",
    "Nobody in the harbour remembered ordering the violins.",
    "Her saddle hung in the archive beside a melting glacier.",
    "The quarry bloomed once the miners had stopped whistling.",
    "Two kettles froze on the meadow while the band played on.",
)
TOML = """
name = "trained"
title = "With a tutorial"
workers = 4
[[stages]]
name = "entry"
entry = {consent = "You may stop at any time."}
[[stages]]
name = "tutorial"
[stages.tutorial]
contexts = 1
items = 1
pay = 350
examples = "**Good.** It takes a second look. **Bad.** It says what it is."
[[stages.tutorial.quizzes]]
name = "first"
feedback = true
[[stages.tutorial.quizzes.pairs]]
ask = "Which is harder?"
first = "It rains."
second = "It has rained before it rained."
right = "second"
why = "One reads it twice."
[[stages.tutorial.quizzes]]
name = "second"
[[stages.tutorial.quizzes.pairs]]
ask = "Which is less ambiguous?"
first = "The soup was cold."
second = "It was."
right = "first"
[[stages]]
name = "grades"
grading = {of = "tutorial", grades = 1, least = 4, hourly = 3000}
[[stages]]
name = "qualify"
qualification = {by = "grades", top = 0.5}
[[stages]]
name = "feedback"
feedback = {by = "grades"}
[[stages]]
name = "bonus"
bonus = {amount = 150}
[[stages]]
name = "final"
writing = {items = 1, sessions = 1, final = true, pay = 100}
[validation]
votes = 2
many = 3
sample = 1
setting = 2
"""


@pytest.fixture(scope="module")
def workspace(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the demo with four workers and an expert who can sign in."""
    made = copy_demo(demo, tmp_path_factory.mktemp("whole-trial") / "demo")
    with made.session() as db:
        for name in WORKERS:
            make_person(db, name, RoleName.WORKER)
        update_profile(db, make_person(db, "edda", RoleName.EXPERT), language="de")
        for name in (*WORKERS, "edda"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return made


@pytest.fixture(scope="module")
def site(workspace: Workspace) -> Iterator[str]:
    """The copy, served."""
    with running(workspace) as url:
        yield url


def change_to(visitor: Visitor, name: str) -> None:
    """Let somebody else sit down."""
    visitor.page.context.clear_cookies()
    visitor.sign_in(name)


def write(visitor: Visitor, text: str) -> None:
    """Write one text where the trial's page leads, and go back to it."""
    page = visitor.page
    page.get_by_role("link", name="Write", exact=True).last.click()
    visitor.press("Start writing")
    page.get_by_label("negative").check()
    page.get_by_label("Text").fill(text)
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Done: thank you!")).to_be_visible()
    page.get_by_role("link", name="Go on", exact=True).click()


def train(visitor: Visitor, text: str) -> None:
    """Find the trial at home, agree, answer both quizzes and write the exercise."""
    page = visitor.go("/")
    page.get_by_role("link", name="Take part in a trial").first.click()
    page.get_by_text("You may stop at any time.").wait_for()
    page.get_by_label("I have read this, and I agree").check()
    visitor.press("Take part")
    page.get_by_role("link", name="Go on with the tutorial").click()
    page.locator("button[value=second]").click()
    expect(page.get_by_text("One reads it twice.")).to_be_visible()  # the first quiz tells
    page.locator("button[value=first]").click()
    expect(page.get_by_role("link", name="Write", exact=True).last).to_be_visible()
    expect(page.get_by_text("Your last answer")).to_have_count(0)  # the second does not
    write(visitor, text)
    expect(page.get_by_text("You have done your part for now.")).to_be_visible()


@pytest.mark.slow
def test_a_whole_trial_with_four_workers_and_an_expert(visitor: Visitor, workspace: Workspace) -> None:
    """Everybody finds what comes next where they are: from the owner's draft to the report."""
    visitor.sign_in("demo-owner")
    page = visitor.go(HOME)
    page.get_by_label("Name", exact=True).fill("tones")
    page.get_by_label("Title that workers see").fill("Tones of texts")
    page.get_by_text("A protocol of your own").click()
    page.get_by_label("TOML").fill(TOML)
    visitor.press("Begin as a draft")
    visitor.press("Open the trial")
    for name, text in zip(WORKERS, TEXTS[:4], strict=True):
        change_to(visitor, name)
        train(visitor, text)
    change_to(visitor, "demo-owner")
    page = visitor.go_in_looks(PLACE)
    visitor.press("Close tutorial of trained")
    _grade_in_german(visitor)
    change_to(visitor, "demo-owner")
    page = visitor.go("/")
    page.get_by_role("link", name="People wait for you to close a stage").first.click()
    for stage in ("grades", "qualify"):
        visitor.press(f"Close {stage} of trained")
    page.get_by_role("link", name="Letters of feedback of trained").click()
    visitor.check_looks()
    first = page.get_by_role("region", name="w").first
    first.get_by_role("textbox").fill("A fine text. You have qualified.")
    with page.expect_navigation():
        first.get_by_role("button").click()
    page.get_by_role("link", name="Back to the trial").click()
    visitor.press("Close feedback of trained")
    qualified = _read_letters(visitor)
    assert len(qualified) == 2
    change_to(visitor, "demo-owner")
    page = visitor.go("/notifications")
    page.get_by_role("link", name="look at a decision").click()
    page.get_by_role("textbox", name="Your answer to").fill("We looked again: it stands.")
    with page.expect_navigation():
        page.get_by_role("button", name="Send the answer to").click()
    visitor.check_looks()
    _write_and_report(visitor, workspace, qualified)


def _grade_in_german(visitor: Visitor) -> None:
    """The expert finds the work at home, grades with keys, undoes, goes back, and changes a grade."""
    change_to(visitor, "edda")
    page = visitor.go("/")
    page.get_by_role("link", name="4 Einträge benoten").first.click()
    for number in range(4):
        if number == 0:
            visitor.check_looks()
            page.keyboard.press("2")
            page.keyboard.press("Control+z")
            expect(page.locator("fieldset input:checked")).to_have_count(0)
        expect(page.get_by_text(f"{number} benotet")).to_be_visible()
        for key in ("1", str(number + 1), "3", "1"):
            page.keyboard.press(key)
        expect(page.locator("fieldset input:checked")).to_have_count(4)
        with page.expect_navigation():
            page.keyboard.press("Enter")
    expect(page.get_by_text("Gerade wartet nichts")).to_be_visible()
    visitor.go(f"{PLACE}/grade?back=2")
    expect(page.locator("fieldset input:checked")).to_have_count(4)
    visitor.press("Änderung speichern")


def _read_letters(visitor: Visitor) -> list[str]:
    """Everybody has a letter: two read that they go on, one of whom appeals, the others why they do not."""
    qualified = []
    for name in WORKERS:
        change_to(visitor, name)
        page = visitor.go(PLACE)
        expect(page.get_by_role("heading", name="Feedback on what you wrote").first).to_be_visible()
        if not page.get_by_text("You do not go on").count():
            qualified.append(name)
    change_to(visitor, qualified[0])
    page = visitor.go_in_looks(PLACE)
    page.get_by_label("Your reply").fill("Please look at my second text.")
    page.get_by_label("I ask you to look at the decision again").check()
    visitor.press("Send")
    return qualified


def _write_and_report(visitor: Visitor, workspace: Workspace, qualified: list[str]) -> None:
    """Those who qualified write the final round; it is judged; the owner reads the report; pay is there."""
    for name, text in zip(qualified, TEXTS[4:], strict=True):
        change_to(visitor, name)
        page = visitor.go(PLACE)
        if name == qualified[0]:
            expect(page.get_by_text("We looked again: it stands.")).to_be_visible()
        write(visitor, text)
        expect(page.get_by_text("You are through.")).to_be_visible()
    page = visitor.go("/work/earnings")
    for amount in ("3.50 USD", "1.50 USD", "1.00 USD"):
        expect(page.get_by_text(amount).first).to_be_visible()
    change_to(visitor, "demo-owner")
    visitor.go(PLACE)
    visitor.press("Let what is final be judged")
    with workspace.session() as db:
        judges = make_judges(db, 3)
        judge_all(db, judges, lambda inputs: "negative", ref="sentiment/trial-tones")
    page = visitor.go_in_looks(f"{PLACE}/report")
    expect(page.get_by_role("heading", name="What does a question cost?")).to_be_visible()
