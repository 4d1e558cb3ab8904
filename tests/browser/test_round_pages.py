"""Rounds, quizzes and rules in a real browser: the whole form, onboarding on a German phone, counters that live."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.access.actors import actor_of, find_user
from quintain.services.collect.rounds.manage import get_round
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from tests.browser.visitor import PHONE, Visitor
from tests.web_support import copy_demo, running
from tests.writing_rounds import add_quiz, add_round

RULES = """
[[qualifications]]
rule = "country"
one_of = ["DE"]
"""


@pytest.fixture(scope="module")
def written(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the demo with a quiz."""
    workspace = copy_demo(demo, tmp_path_factory.mktemp("rounds") / "demo")
    add_quiz(workspace, "sentiment")
    return workspace


@pytest.fixture(scope="module")
def site(written: Workspace) -> Iterator[str]:
    """The copy, served."""
    with running(written) as url:
        yield url


@pytest.fixture
def german_phone(visitor: Visitor) -> Iterator[Page]:
    """A worker with a small screen who reads German."""
    visitor.page.set_viewport_size(PHONE)
    visitor.sign_in("demo-worker")
    visitor.go("/work")
    yield visitor.press("Deutsch")
    visitor.go("/work")
    visitor.press("English")


def test_the_form_has_every_option(visitor: Visitor, written: Workspace) -> None:
    """A wrong rule opens its fold and is said beside it; what is saved is what the file says, and can be downloaded."""
    visitor.expected = ("422",)
    visitor.sign_in("demo-owner")
    page = visitor.go("/tasks/sentiment/rounds/new")
    page.fill("#title", "With everything")
    page.locator("#more > summary").click()
    page.get_by_text("conditions of your own", exact=True).click()
    page.locator("#own-conditions summary").click()
    page.get_by_label("Name of condition 1").fill("edit")
    page.get_by_label("Weight of condition 1").fill("3")
    page.get_by_label("Name of condition 2").fill("free")
    page.get_by_label("What writers of condition 2 start from").select_option("blank")
    page.get_by_label("Weight of condition 2").fill("1")
    page.locator("#who summary").click()
    page.get_by_label("basics").check()
    page.get_by_label("Approval rate in percent").fill("120")
    page.get_by_label("Countries").fill("DE, AT")
    page.locator("#texts summary").click()
    page.get_by_label("Greek").check()
    page.locator("#entry summary").click()
    page.get_by_label("Panel", exact=True).select_option("prolific")
    page.get_by_label("Completion code").fill("C0FFEE")
    visitor.check()
    page.get_by_role("button", name="Save as a draft").click()
    expect(page.locator("#rule_approval_rate-fault")).to_contain_text("not a rate between 0 and 1")
    expect(page.locator("#who")).to_have_attribute("open", "")
    expect(page.get_by_label("Weight of condition 1")).to_have_value("3")
    expect(page.get_by_label("Completion code")).to_have_value("C0FFEE")
    visitor.check()
    page.get_by_label("Approval rate in percent").fill("95")
    page.get_by_role("button", name="Save as a draft").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("With everything")
    expect(page.locator("#entry-url")).to_contain_text("PROLIFIC_PID")
    with page.expect_download() as found:
        page.get_by_role("link", name="Download the TOML file").click()
    text = Path(found.value.path()).read_text(encoding="utf-8")
    assert found.value.suggested_filename.endswith(".toml")
    for line in (
        'scripts = ["Greek"]',
        "weight = 3",
        'one_of = ["DE", "AT"]',
        "at_least = 0.95",
        'quizzes = ["basics"]',
    ):
        assert line in text
    number = int(page.url.rpartition("/")[2])
    with written.session() as db:
        spec = get_round(db, OPERATOR, f"sentiment/{number}").spec
    assert [(one.name, one.prompt, one.weight) for one in spec.conditions] == [("edit", True, 3), ("free", False, 1)]
    visitor.page.set_viewport_size(PHONE)
    visitor.go(f"/tasks/sentiment/rounds/{number}/edit")


def test_onboarding_on_a_german_phone(visitor: Visitor, german_phone: Page, written: Workspace, tmp_path: Path) -> None:
    """Practice is explained, a failed try says how many are left, the last one sends to a rest; nothing overflows."""
    info = add_round(written, tmp_path, "sentiment", more='quizzes = ["basics"]')
    visitor.expected = ("429",)
    page = visitor.go(f"/tasks/sentiment/rounds/{info.number}/write")
    page.get_by_role("link", name="Das Quiz „basics“ machen").click()
    visitor.arrive(".quiz-question")
    visitor.check()
    page.locator("#practice-0").get_by_text("positive", exact=True).click()
    page.locator("#practice-0").get_by_role("button").click()
    expect(page.locator("#feedback-0")).to_contain_text("Irony counts as what is meant.")
    visitor.check()
    for left in (1, 0):
        for number in (0, 1):
            page.locator(f"input[name=answer-{number}]").last.check()
        page.get_by_role("button", name="Antworten abschicken").click()
        status = page.get_by_role("status").first
        expect(status).to_contain_text("1 von 2")
        expect(status).to_contain_text("1 Versuch" if left else "Pause")
        visitor.check()
    expect(page.locator("input[name=answer-0]")).to_have_count(0)
    page.goto(f"{visitor.base}/tasks/sentiment/rounds/{info.number}/write")
    visitor.check()


def test_rules_are_met_and_seen(visitor: Visitor, german_phone: Page, written: Workspace, tmp_path: Path) -> None:
    """A worker says where they live, on a small screen, and the rule is met."""
    info = add_round(written, tmp_path, "sentiment", tables=RULES)
    page = visitor.go(f"/tasks/sentiment/rounds/{info.number}/eligibility")
    expect(page.locator(".check-list .no")).to_have_count(1)
    page.get_by_label("Ihr Land").fill("DE")
    page.get_by_role("button", name="Speichern").click()
    expect(page.locator(".check-list .ok")).to_have_count(1)
    visitor.check()


def test_an_owner_sees_who_may_write_and_how_a_quiz_goes(visitor: Visitor, written: Workspace, tmp_path: Path) -> None:
    """Everybody with the reasons, one person with a qualification to give, results of the quiz, and retiring it."""
    info = add_round(written, tmp_path, "sentiment", tables='\n[[qualifications]]\nrule = "holds"\nname = "pilot"\n')
    visitor.sign_in("demo-owner")
    place = f"/tasks/sentiment/rounds/{info.number}/eligibility"
    page = visitor.go(place)
    page.locator("#crowd").get_by_role("link", name="demo-worker").click()
    page.get_by_label("Qualification", exact=True).fill("pilot")
    page.get_by_role("button", name="Give it").click()
    expect(page.get_by_text("All rules are met.")).to_be_visible()
    expect(page.get_by_text("“pilot” was given")).to_be_visible()
    visitor.check()
    visitor.go("/tasks/sentiment/quizzes/basics/results")
    add_quiz(written, "sentiment", "spare")
    page = visitor.go("/tasks/sentiment/quizzes/spare/results")
    page.get_by_role("button", name="Retire").click()
    page.locator("dialog[open]").get_by_role("button").last.click()
    expect(page.get_by_role("status").filter(has_text="The quiz is retired.")).to_be_visible()
    visitor.check()


def test_a_span_that_stands_twice_is_chosen(visitor: Visitor, written: Workspace, tmp_path: Path) -> None:
    """Typed without selecting: the page asks which one, with the words around it, and takes the choice."""
    visitor.expected = ("422",)
    info = add_round(written, tmp_path, "qa")
    visitor.sign_in("demo-worker")
    page = visitor.go(f"/tasks/qa/rounds/{info.number}/write")
    page.get_by_role("button", name="Start writing").click()
    visitor.arrive("form[data-write]")
    page.locator("#in-question").fill("What did Per do to the roof?")
    page.locator("#answer").fill("it")
    page.keyboard.press("Control+Enter")
    choice = page.get_by_role("group", name="Which one do you mean?")
    expect(choice).to_be_visible()
    visitor.check()
    choice.get_by_role("radio").nth(1).check()
    page.get_by_role("button", name=re.compile("Try it")).click()
    page.wait_for_selector(".verdict-panel")
    visitor.check()


def test_the_counters_live(visitor: Visitor, written: Workspace, tmp_path: Path) -> None:
    """What somebody writes shows up by worker, prompt, label and hour without a reload, on a phone too."""
    info = add_round(written, tmp_path, "sentiment")
    visitor.sign_in("demo-owner")
    visitor.page.clock.install()
    visitor.page.set_viewport_size(PHONE)
    page = visitor.go(f"/tasks/sentiment/rounds/{info.number}")
    expect(page.get_by_text("No attempts yet")).to_be_visible()
    with written.session() as db:
        actor = actor_of(db, find_user(db, "demo-worker"))
        key = start_session(db, written.blobs, actor, info.ref).key
        text = {"text": "A dull day."}
        submit_attempt(db, written.blobs, actor, key, text, target="negative", token="1", runners=written.runners)
    page.clock.fast_forward(21_000)
    expect(page.get_by_role("heading", name="By worker")).to_be_visible()
    expect(page.get_by_role("heading", name="By prompt")).to_be_visible()
    expect(page.get_by_role("heading", name="When do people write, and when do they fool it?")).to_be_visible()
    expect(page.locator("#live").get_by_text("demo-worker").first).to_be_visible()
    expect(page.locator(".chart svg, .chart canvas").first).to_be_visible()
    visitor.check()
