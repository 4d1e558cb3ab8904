"""The owner's console and adjudication in a real browser: what needs the owner, progress, judges, decisions by keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.core.people import RoleName
from quintain.services.access.actors import actor_of, find_user
from quintain.services.validate.judging import adjudicate, claim_page, submit_page
from quintain.services.validate.judging.submit_page import Answer
from quintain.services.validate.quality import review
from tests.browser.judging import POLICY, TEXTS, make_judging, open_judging, person, set_language
from tests.browser.visitor import Visitor
from tests.web_support import running

CONSOLE = "/tasks/mood/validation/reviews"
LABELS = ("negative", "neutral", "positive", "mixed")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Twelve texts that four honest judges and a clicker have judged; some are contested, one is flagged."""
    made = make_judging(tmp_path_factory.mktemp("console"))
    with made.session() as db:
        owner = actor_of(db, find_user(db, "olga"))
        person(db, "edda", RoleName.EXPERT)
        ref = open_judging(db, owner, "reviews", TEXTS, POLICY + "[[rules]]\nlimit = 0.95\n")
        open_judging(db, owner, "empty", [])
        for number, name in enumerate(("wilma", "wim", "wanda", "wolf", "clicker")):
            actor = person(db, name, RoleName.WORKER)
            while (page := claim_page.claim_page(db, actor, ref)) is not None:
                answers = [
                    Answer(one.id, say(number, one.inputs["text"]), flag="rude" if number == 1 else None, seconds=1)
                    for one in page.items
                ]
                submit_page.submit_page(db, actor, page.token, answers)
        review.review(db, owner, ref, apply=False)
    yield made
    made.engine.dispose()


def say(number: int, text: str) -> str:
    """Let honest judges say the same, but for every third text; the clicker always says mixed."""
    place = TEXTS.index(text)
    if number == 4:
        return "mixed"
    return LABELS[(place + number % 2) % 3] if place % 3 == 0 else LABELS[place % 3]


@pytest.fixture(scope="module")
def site(judged: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(judged) as url:
        yield url


def test_the_console_says_what_needs_the_owner_and_how_it_goes(visitor: Visitor) -> None:
    """Contested items, judges and flags come first; then progress, charts, judges, rates, notes and the trail."""
    visitor.sign_in("olga")
    page = visitor.go(CONSOLE)
    needs = page.locator("section[aria-labelledby=needs]")
    expect(needs).to_contain_text("4 contested items wait for a decision")
    expect(needs).to_contain_text("clicker")
    expect(needs).to_contain_text("12 items were flagged by judges")
    expect(page.locator("#live")).to_contain_text("judgements")
    expect(page.locator("section[aria-labelledby=quality]")).to_contain_text("of 12 items complete")
    expect(page.locator(".chart svg")).to_have_count(3)
    row = page.get_by_role("row", name="clicker")
    expect(row).to_contain_text("always the same key")
    row.get_by_role("link", name="clicker").click()
    expect(page.get_by_role("heading", name="Judge clicker")).to_be_visible()
    visitor.check()


def test_a_rule_is_previewed_applied_and_taken_back(visitor: Visitor) -> None:
    """The preview names whom it would catch and its power; one click unqualifies; another takes it back."""
    visitor.sign_in("olga")
    page = visitor.go(f"{CONSOLE}/judges?rule=disagreement&limit=80&least=5")
    panel = page.locator("#rules")
    expect(panel).to_contain_text("clicker")
    expect(panel).to_contain_text("Random clicker")
    panel.get_by_role("button", name="Unqualify them").click()
    page.get_by_role("button", name="Yes, go on").click()
    # The table of the rule's power names random clickers, too, and stays until the answer is there.
    expect(page.locator("#list").get_by_role("row", name="clicker")).to_contain_text("unqualified")
    visitor.check()
    page = visitor.go(CONSOLE)
    expect(page.locator("section[aria-labelledby=quality]")).to_contain_text("12 judgements are set aside")
    page.get_by_role("row", name="clicker").get_by_role("button", name="Qualify again").click()
    expect(page.get_by_role("row", name="clicker").get_by_role("button", name="Unqualify")).to_be_visible()
    page = visitor.go(CONSOLE)
    page.locator("summary", has_text="Audit trail").click()
    expect(page.locator(".trail")).to_contain_text("judge.requalify")
    expect(page.locator(".trail")).to_contain_text("judge.unqualify")
    visitor.check()


def test_an_expert_adjudicates_by_keys_and_takes_it_back(visitor: Visitor, judged: Workspace) -> None:
    """A number chooses, Enter decides, Ctrl-Z takes the last decision back; the queue shrinks and grows."""
    visitor.sign_in("edda")
    page = visitor.go("/tasks/mood/validation")
    page.get_by_role("row", name="reviews").get_by_role("link", name="Adjudicate").click()
    expect(page.locator(".judge-bar")).to_contain_text("1 of 4")
    expect(page.locator(".judge-text").first).to_be_visible()
    expect(page.locator(".judge-number")).to_be_focused()
    visitor.check()
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator(".judge-bar")).to_contain_text("1 of 3")
    visitor.check()
    page.keyboard.press("Control+z")
    expect(page.locator(".judge-bar")).to_contain_text("1 of 4")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".judge-bar")).to_contain_text("2 of 4")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator(".judge-bar")).to_contain_text("of 3")
    with judged.session() as db:
        expert = actor_of(db, find_user(db, "edda"))
        assert len(adjudicate.adjudication_queue_of(db, expert, "mood/reviews")) == 3


def test_pausing_opening_the_policy_and_an_empty_one(visitor: Visitor) -> None:
    """Judging is paused and opened again; a wrong policy is refused; an empty console says what to do."""
    visitor.sign_in("olga")
    page = visitor.go(CONSOLE)
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".page-head .chip")).to_have_text("paused")
    page.get_by_role("button", name="Open again").click()
    expect(page.locator(".page-head .chip")).to_have_text("open")
    visitor.expected = ("422",)
    page.locator("#policy-panel > summary").click()
    page.locator("#policy-file > summary").click()
    page.fill("#policy", "minimum = 9")
    page.locator("#policy-file").get_by_role("button", name="Save").click()
    expect(page.locator(".notice.bad")).to_contain_text("more than the 5 votes")
    page = visitor.go("/tasks/mood/validation/empty")
    expect(page.get_by_role("heading", name="Nobody has judged yet")).to_be_visible()
    expect(page.locator("section[aria-labelledby=needs]")).to_contain_text("Nothing.")
    page = visitor.go("/tasks/mood/validation/empty/adjudicate")
    expect(page.get_by_role("heading", name="Nothing is contested")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "looks"),
    [
        ("de", ["dark", "phone"]),
        pytest.param("en", ["phone"], marks=pytest.mark.slow),
        pytest.param("de", ["dark phone"], marks=pytest.mark.slow),
    ],
)
def test_it_fits_small_dark_and_german(visitor: Visitor, judged: Workspace, language: str, looks: list[str]) -> None:
    """At 360 px, and in German and in the dark, no page of the console has a fault."""
    visitor.sign_in("olga")
    with judged.session() as db:
        set_language(db, "olga", language)
    parts = ("", "/judges?rule=disagreement&limit=80&least=5", "/judges/clicker", "/items", "/gold", "/adjudicate")
    for path in (*(f"{CONSOLE}{part}" for part in parts), "/tasks/mood/validation", "/tasks/mood/validation/empty"):
        page = visitor.go_in_looks(path, *looks)
        expect(page.locator("h1")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", language)
    empty = "Noch hat niemand geurteilt" if language == "de" else "Nobody has judged yet"
    expect(page.locator("main")).to_contain_text(empty)
    with judged.session() as db:
        set_language(db, "olga", "en")


def test_lists_sort_and_filter_without_leaving_the_page(visitor: Visitor) -> None:
    """Keys reach the heads of columns and the focus stays there; typing filters; the address keeps what was asked."""
    visitor.sign_in("olga")
    page = visitor.go(f"{CONSOLE}/judges")
    page.evaluate("window.stayed = true")
    page.locator("#by-worker").focus()
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Worker▲")
    expect(page.locator("tbody tr").first).to_contain_text("clicker")
    expect(page.locator("#by-worker")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Worker▼")
    expect(page.locator("tbody tr").first).to_contain_text("wolf")
    page.locator("#q").press_sequentially("wi")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Worker▼")
    assert page.evaluate("window.stayed")
    assert "q=wi" in page.url
    visitor.check()
    page = visitor.go(f"{CONSOLE}/items")
    expect(page.locator("tbody tr")).to_have_count(12)
    page.select_option("#show", "contested")
    expect(page.locator("tbody .chip.verdict")).not_to_have_count(0)
    expect(page.locator("tbody tr:not(:has(.chip.verdict))")).to_have_count(0)
    visitor.check()


def test_gold_is_made_retired_and_uploaded(visitor: Visitor, tmp_path: Path) -> None:
    """One click makes gold of a finished item; it is retired and shown again; a file with a fault names the row."""
    visitor.sign_in("olga")
    page = visitor.go(f"{CONSOLE}/gold")
    expect(page.get_by_role("heading", name="No gold items yet")).to_be_visible()
    page = visitor.go(f"{CONSOLE}/items?show=labelled")
    page.get_by_role("button", name="Make gold").first.click()
    expect(page.locator(".toast")).to_contain_text("It is a gold item now")
    page.get_by_role("button", name="Retire").click()
    expect(page.locator("tbody")).to_contain_text("not shown any more")
    page.get_by_role("button", name="Show again").click()
    expect(page.get_by_role("button", name="Retire")).to_be_visible()
    visitor.check()
    path = tmp_path / "gold.csv"
    path.write_text("text,label\nVery kind.,positive\nVery rude.,sad\n")
    visitor.expected = ("422",)
    page.set_input_files("#file", path)
    page.get_by_role("button", name="Add gold items").click()
    expect(page.locator(".notice.bad")).to_contain_text("gold.csv, row 3, field 'label'")
    visitor.check()
    path.write_text("text,label\nVery kind.,positive\nVery rude.,negative\n")
    page.set_input_files("#file", path)
    page.get_by_role("button", name="Add gold items").click()
    expect(page.locator("tbody tr")).to_have_count(3)
