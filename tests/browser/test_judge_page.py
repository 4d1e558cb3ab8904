"""Judging in a real browser: a page of ten by keyboard alone, undo, skip, a lease that lapses, and nothing lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import func, select

from quintain.compose import Workspace
from quintain.core.people import RoleName
from quintain.services.access.actors import actor_of, find_user
from quintain.services.validate.judging import claim_page
from quintain.store.base import now
from quintain.store.tables import Judgement, JudgingDraft, JudgingNote
from tests.browser.judging import POLICY, TEXTS, make_judging, open_judging, person, set_language
from tests.browser.visitor import Visitor
from tests.web_support import running

HOME = "/tasks/mood/judge/{}"


@pytest.fixture(scope="module")
def judging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Judgings: one to work through, one that takes a quiz, one that needs one judge, and one with nothing in it."""
    made = make_judging(tmp_path_factory.mktemp("judge"))
    with made.session() as db:
        owner = actor_of(db, find_user(db, "olga"))
        for name in ("wilma", "wim", "wanda", "wolf", "walt", "will", "wren"):
            person(db, name, RoleName.WORKER)
        open_judging(db, owner, "reviews", TEXTS)
        open_judging(db, owner, "exam", TEXTS, POLICY + '[quiz]\nname = "entry"\n')
        open_judging(db, owner, "single", TEXTS[:5], "judgements = 1\nminimum = 1\n" + POLICY)
        open_judging(db, owner, "nothing", [])
    yield made
    made.engine.dispose()


@pytest.fixture(scope="module")
def site(judging: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(judging) as url:
        yield url


def start(visitor: Visitor, who: str, name: str = "reviews") -> Page:
    """Sign in and begin a page."""
    visitor.sign_in(who)
    page = visitor.go(HOME.format(name))
    page.get_by_role("button", name="Start judging").click()
    visitor.arrive("form[data-live]")
    visitor.check()
    return page


def judged(workspace: Workspace, who: str) -> list[str]:
    """Read the labels that somebody gave, in their order."""
    with workspace.session() as db:
        user = find_user(db, who).id
        return list(db.scalars(select(Judgement.label).where(Judgement.user_id == user).order_by(Judgement.id)))


def test_ten_items_by_keyboard_alone(visitor: Visitor, judging: Workspace) -> None:
    """Numbers label, Enter goes on, Ctrl-Z undoes, s skips with a reason, f flags, ? shows keys, Enter hands in."""
    page = start(visitor, "wilma")
    keys = page.keyboard
    expect(page.locator("#item-1, .judge-item.current .judge-number").first).to_be_focused()
    keys.press("?")
    expect(page.locator("#keys")).to_contain_text("Undo the last answer")
    keys.press("Escape")
    keys.press("Enter")
    expect(page.locator("#say")).to_have_text("Choose a label first, or press s to skip.")
    keys.press("1")
    expect(page.locator("#say")).to_contain_text("negative chosen")
    keys.press("Enter")
    expect(page.locator("[data-place]:not(form)")).to_have_text("2 of 10")
    keys.press("2")
    keys.press("Enter")
    keys.press("Control+z")
    expect(page.locator("[data-place]:not(form)")).to_have_text("2 of 10")
    expect(page.locator(".judge-item.current input:checked")).to_have_count(0)
    keys.press("3")
    keys.press("f")
    keys.type("names a person")
    keys.press("Enter")
    expect(page.locator("[data-place]:not(form)")).to_have_text("3 of 10")
    keys.press("s")
    keys.type("I do not understand it")
    keys.press("Enter")
    for number in range(4, 11):
        expect(page.locator("[data-place]:not(form)")).to_have_text(f"{number} of 10")
        keys.press("4")
        if number < 10:
            keys.press("Enter")
    expect(page.locator("[data-judge=go]")).to_have_text("Hand in")
    visitor.check()
    keys.press("Enter")
    expect(page.get_by_role("heading", name="Thank you: the page is handed in")).to_be_visible()
    expect(page.locator("#judging")).to_contain_text("0.23 USD")
    visitor.check()
    assert judged(judging, "wilma") == ["negative", "positive", *["mixed"] * 7]
    with judging.session() as db:
        notes = {(note.kind, note.text) for note in db.scalars(select(JudgingNote))}
    assert notes == {("skip", "I do not understand it"), ("flag", "names a person")}
    keys.press("Enter")
    visitor.arrive("form[data-live]")
    expect(page.locator("[data-place]:not(form)")).to_have_text("1 of 2")


def test_answers_survive_a_reload_and_undo_works_by_mouse(visitor: Visitor, judging: Workspace) -> None:
    """What was chosen with the mouse is there after a reload; the guidelines stay closed; all items fit one page."""
    page = start(visitor, "wim")
    page.locator(".judge-item.current .judge-card").nth(2).click()
    page.get_by_role("button", name="Next").click()
    page.locator(".judge-item.current .judge-card").nth(0).click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".judge-item.current input:checked")).to_have_count(0)
    page.get_by_role("button", name="Close the guidelines").click()
    page.reload()
    visitor.arrive("form[data-live]")
    expect(page.locator("#guide")).to_be_hidden()
    expect(page.locator("[data-done]")).to_have_attribute("value", "1")
    page.get_by_role("button", name="All on one page").click()
    expect(page.locator(".judge-item").nth(9)).to_be_visible()
    visitor.check()
    page.get_by_role("button", name="Stop here").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert judged(judging, "wim") == ["positive"]


def test_four_answers_are_there_after_the_tab_is_lost(visitor: Visitor, judging: Workspace) -> None:
    """A closed tab loses nothing: another browser, which has nothing in store, shows what was answered."""
    page = start(visitor, "will")
    for key in ("1", "2", "3", "4"):
        page.keyboard.press(key)
        page.keyboard.press("Enter")
    page.keyboard.press("1")
    page.keyboard.press("Control+z")
    expect(page.locator("[data-saving]")).to_have_text("saved")
    with judging.session() as db:
        assert db.scalar(select(func.count()).select_from(JudgingDraft).where(JudgingDraft.label.is_not(None))) == 4
    assert judged(judging, "will") == []
    address = page.url
    page.evaluate("localStorage.clear()")
    page.close()
    visitor.page = page.context.new_page()
    visitor.page.add_init_script("window.violations = []")
    page = visitor.page
    page.goto(address)
    visitor.arrive("form[data-live]")
    expect(page.locator("[data-done]")).to_have_attribute("value", "4")
    expect(page.locator("[data-place]:not(form)")).to_have_text("5 of 10")
    chosen = page.locator(".judge-item input:checked")
    assert [chosen.nth(place).get_attribute("value") for place in range(4)] == [
        "negative",
        "neutral",
        "positive",
        "mixed",
    ]
    visitor.check()
    page.get_by_role("button", name="Stop here").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert judged(judging, "will") == ["negative", "neutral", "positive", "mixed"]


def test_saving_goes_on_after_the_connection_was_lost(visitor: Visitor, judging: Workspace) -> None:
    """The page says that an answer is not saved, tries again by itself, and says when it is."""
    page = start(visitor, "wren")
    visitor.expected = ("Failed to load resource", "ERR_FAILED")
    page.route(re.compile("/answers/"), lambda route: route.abort())
    page.keyboard.press("2")
    expect(page.locator("[data-saving]")).to_have_text("not saved, trying again")
    expect(page.locator("#say")).to_have_text("not saved, trying again")
    page.keyboard.press("Enter")
    page.keyboard.press("3")
    visitor.check()
    page.unroute(re.compile("/answers/"))
    expect(page.locator("[data-saving]")).to_have_text("saved", timeout=20_000)
    expect(page.locator("#say")).to_have_text("saved")
    with judging.session() as db:
        user = find_user(db, "wren").id
        saved = select(JudgingDraft.label).where(JudgingDraft.user_id == user).order_by(JudgingDraft.offer_id)
        assert list(db.scalars(saved)) == ["neutral", "positive"]


def test_a_lapsed_page_says_so_and_is_paid(visitor: Visitor, judging: Workspace) -> None:
    """When somebody else has the items, the page says so, keeps the answers, and they are handed in late."""
    page = start(visitor, "wanda", "single")
    page.keyboard.press("1")
    with judging.session() as db:
        later = now() + timedelta(hours=1)
        taken = claim_page.claim_page(db, actor_of(db, find_user(db, "wolf")), "mood/single", moment=later)
        assert taken is not None
    page.reload()
    expect(page.locator("#lapsed")).to_be_visible()
    visitor.check()
    expect(page.locator(".judge-item input:checked")).to_have_count(1)
    page.get_by_role("button", name="Stop here").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.locator("#judging")).to_contain_text("1 answer came after its time: it is kept and paid")
    assert judged(judging, "wanda") == ["negative"]


def test_a_lost_connection_loses_nothing(visitor: Visitor) -> None:
    """Where the server cannot be reached the page says so, and handing in works afterwards."""
    page = start(visitor, "wolf")
    visitor.expected = ("Failed to load resource", "ERR_FAILED")
    page.keyboard.press("2")
    page.route(re.compile("/judge/[^/]+$"), lambda route: route.abort())
    page.get_by_role("button", name="Stop here").click()
    expect(page.locator("#trouble")).to_contain_text("Your answers are kept here")
    page.unroute(re.compile("/judge/[^/]+$"))
    page.get_by_role("button", name="Stop here").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_nothing_left_and_the_quiz_that_comes_first(visitor: Visitor) -> None:
    """An empty judging says so; one with an entry quiz says that it must be passed, and leads to it."""
    visitor.sign_in("walt")
    page = visitor.go("/tasks/mood/judge")
    expect(page.get_by_role("link", name="exam")).to_be_visible()
    page = visitor.go(HOME.format("nothing"))
    page.get_by_role("button", name="Start judging").click()
    expect(page.get_by_role("heading", name="Nothing to judge now")).to_be_visible()
    visitor.check()
    page = visitor.go(HOME.format("exam"))
    expect(page.get_by_role("link", name="Take the quiz")).to_be_visible()


@pytest.mark.parametrize(
    "context_options",
    [
        pytest.param(
            {"viewport": {"width": 360, "height": 780}, "color_scheme": "light", "locale": "en"}, marks=pytest.mark.slow
        ),
        {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark", "locale": "de"},
        {"viewport": {"width": 360, "height": 780}, "color_scheme": "dark", "locale": "de"},
    ],
)
def test_it_fits_small_dark_and_german(visitor: Visitor, judging: Workspace, context_options: dict[str, Any]) -> None:
    """At 360 px, and in German in the dark, nothing is hidden or at fault; guidelines slide in and out."""
    with judging.session() as db:
        set_language(db, "walt", context_options["locale"])
    visitor.sign_in("walt")
    page = visitor.go(HOME.format("reviews"))
    expect(page.locator("html")).to_have_attribute("lang", context_options["locale"])
    expect(page.locator("main")).to_contain_text("Richtlinien" if context_options["locale"] == "de" else "Guidelines")
    page.locator("main form button[type=submit]").click()
    visitor.arrive("form[data-live]")
    visitor.check()
    # The text and all its labels can be seen at once, above the buttons that stay in place.
    last, foot = (
        page.locator(".judge-item.current .judge-card").last.bounding_box(),
        page.locator(".judge-foot").bounding_box(),
    )
    assert last is not None
    assert foot is not None
    assert last["y"] + last["height"] <= min(foot["y"], context_options["viewport"]["height"])
    was_open = page.locator("#guide").is_visible()
    assert was_open == (context_options["viewport"]["width"] > 900)
    page.keyboard.press("g")
    expect(page.locator("#guide")).to_be_visible(visible=not was_open)
    visitor.check()
    page.keyboard.press("g")
    page.keyboard.press("2")
    expect(page.locator(".judge-item.current input:checked")).to_have_value("neutral")
