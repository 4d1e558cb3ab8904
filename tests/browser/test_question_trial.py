"""A trial of questions on passages in a browser: an empty form, an item to grade as it was written, a clear letter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from tests.browser.test_whole_trial import change_to
from tests.browser.visitor import Visitor
from tests.integration.trial.test_letter_words import PROTOCOL, QUIZ
from tests.people import make_person
from tests.web_support import PASSWORD, copy_demo, running

HOME = "/tasks/quiz/trials"
PLACE = f"{HOME}/first"
REST = "Nobody on the far shore had asked for a light, and the keeper wrote nothing down that night. " * 6

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workspace(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the demo with a trial of questions that is open, and one that is a draft."""
    folder = tmp_path_factory.mktemp("quiz")
    made = copy_demo(demo, folder / "demo")
    passages = folder / "passages.csv"
    passages.write_text("passage\n" + "".join(f'"Keeper {n} lit lamp {3 * n}. {REST}"\n' for n in range(12)))
    with made.session() as db:
        make_person(db, "edda", RoleName.EXPERT)
        redeem_link(db, make_link(db, OPERATOR, "edda").token, PASSWORD)
        put_task(db, OPERATOR, QUIZ)
        put_trial(db, OPERATOR, "quiz", "draft", [PROTOCOL])
        put_trial(db, OPERATOR, "quiz", "first", [PROTOCOL], title="Questions on a lighthouse")
        open_trial(db, made.blobs, OPERATOR, "quiz", "first", OpenTrial(file=passages))
    return made


@pytest.fixture(scope="module")
def site(workspace: Workspace) -> Iterator[str]:
    """The workspace, served."""
    with running(workspace) as url:
        yield url


def _write(page: Page, number: int) -> None:
    expect(page.get_by_text(f"Keeper {page.locator('.passage').inner_text().split()[1]} lit")).to_be_visible()
    expect(page.get_by_label("Question", exact=True)).to_have_value("")
    page.get_by_label("Question", exact=True).fill(f"What did nobody do on night {number}?")
    for place, option in enumerate(("Write", "Ask", f"Light lamp {number}"), 1):
        expect(page.get_by_label(f"Option {place}", exact=True)).to_have_value("")
        page.get_by_label(f"Option {place}", exact=True).fill(option)
    page.get_by_label("Option 2 is right").check()
    page.get_by_role("button", name="Hand in").click()


def test_from_an_empty_form_to_a_letter(visitor: Visitor, workspace: Workspace) -> None:
    """A worker sees a passage and nothing else; an expert grades what they wrote; the letter says what graders said."""
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks(f"{HOME}/draft")
    expect(page.get_by_text("Writers get Passage and an empty form")).to_be_visible()
    change_to(visitor, "demo-worker")
    page = visitor.go_in_looks(HOME)
    expect(page.get_by_role("main").get_by_text("Ways of writing")).to_have_count(0)
    expect(page.get_by_role("navigation").get_by_role("link", name="Trials")).to_have_count(0)
    page.get_by_role("link", name="Questions on a lighthouse").click()
    visitor.press("Take part")
    page.get_by_role("link", name="Write").last.click()
    visitor.press("Start writing")
    for number in (1, 2):
        _write(page, number)
        if number == 1:
            expect(page.get_by_label("Question", exact=True)).to_have_value("")
        else:
            expect(page.get_by_role("heading", name="Done: thank you!")).to_be_visible()
    page.goto(visitor.base + PLACE)
    expect(page.get_by_text("You have done your part for now.")).to_be_visible()
    with workspace.session() as db:
        close_stage(db, OPERATOR, "quiz", "first", "graded", "small")
    change_to(visitor, "edda")
    page = visitor.go_in_looks(PLACE)
    expect(page.get_by_text("2 items wait for your grade.")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Grade").click()
    visitor.arrive("form[data-rubric]")
    visitor.check_looks()
    for choice in ("Yes, but the label is wrong", "Yes"):
        page.get_by_label(choice, exact=True).first.check()
        page.get_by_label("Read the whole passage").check()
        page.get_by_label("A little creative").check()
        page.get_by_role("group", name="distracting").get_by_label("Yes").check()
        visitor.press("Save and go on")
    with workspace.session() as db:
        close_stage(db, OPERATOR, "quiz", "first", "graded", "grades")
        close_stage(db, OPERATOR, "quiz", "first", "graded", "letter")
    change_to(visitor, "demo-worker")
    page = visitor.go_in_looks(PLACE)
    letter = page.locator(".letter")
    expect(letter).to_contain_text("Graders said “Yes, but the label is wrong” (1 of 1) of this item:")
    expect(letter).to_contain_text("● Ask")
    expect(letter).not_to_contain_text("wrote nothing down that night")
