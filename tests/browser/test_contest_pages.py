"""A whole contest of three teams in a real browser, from the form to the public results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.settings import Settings
from tests.browser.visitor import Visitor
from tests.contests import DEV, add_contest_task, move_to, pair_texts, write_answers
from tests.people import make_person
from tests.web_support import PASSWORD, running

BASE = "/tasks/mood/contests"
HOME = f"{BASE}/spring"
TABLE = """pair_id,side,text,label,tags
t1,a,A dull and bad evening.,negative,negation
t1,b,Not a dull and bad evening.,positive,negation
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A task with a blind set and a starter set, and people whose password is known."""
    folder = tmp_path_factory.mktemp("contest")
    made = create_workspace(Settings(workspace=folder / "workspace", login_attempts=1000))
    with made.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        add_contest_task(db, made.blobs, owner, folder)
        for name in ("anna", "ben", "cleo", "jo"):
            make_person(db, name, RoleName.BUILDER)
        for name in ("olga", "anna", "ben", "cleo", "jo"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(workspace: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(workspace) as url:
        yield url


def _move(workspace: Workspace, phase: str) -> None:
    with workspace.session() as db:
        move_to(db, phase)


def _be(visitor: Visitor, person: str) -> None:
    """Be somebody else at the same browser."""
    visitor.page.context.clear_cookies()
    visitor.sign_in(person)


def _make_team(visitor: Visitor, person: str, team: str, role: str) -> None:
    _be(visitor, person)
    page = visitor.go(HOME)
    page.fill("#team", team)
    page.get_by_role("radio", name=role, exact=True).check()
    visitor.press("Make a team")
    expect(page.locator("main")).to_contain_text(f"You are in team {team}")


def _hand_in(visitor: Visitor, file: Path) -> None:
    visitor.page.goto(f"{visitor.base}{HOME}/build")
    visitor.page.set_input_files("#file", file)
    visitor.press("Hand them in")


def _choose(visitor: Visitor, sentence: str, changed: str) -> None:
    visitor.page.goto(f"{visitor.base}{HOME}/break")
    visitor.page.get_by_role("link", name=sentence).click()
    visitor.arrive("#in-text")
    visitor.page.fill("#in-text", changed)


def _build(visitor: Visitor, folder: Path) -> None:
    """Let three teams form, and two of them hand in answers to the blind set."""
    page = visitor.page
    dev = [text for text, _ in DEV]
    _make_team(visitor, "ben", "knots", "breakers")
    _make_team(visitor, "cleo", "mixed", "builders and breakers")
    _hand_in(visitor, write_answers(folder / "mixed.csv", {}, dev))
    _make_team(visitor, "anna", "words", "builders")
    _hand_in(visitor, write_answers(folder / "dev.csv", {"bad": "negative"}, dev))
    expect(page.locator("main")).to_contain_text("100.0%")
    visitor.check_looks("phone")


def _break(visitor: Visitor, folder: Path) -> None:
    """Let breakers look at what systems answered, and write pairs on the page and in a table."""
    page = visitor.page
    _be(visitor, "ben")
    visitor.go(f"{HOME}/answers")
    expect(page.locator("main")).to_contain_text("Film 0 is good.")
    _choose(visitor, "I love this film.", "I'm mad for this film.")
    expect(page.locator("[data-diff-words]")).to_have_text("4")
    visitor.check_looks()
    visitor.press("Keep the pair")
    expect(page.get_by_role("alert")).to_contain_text("modified_label")
    page.select_option("#modified_label", "positive")
    visitor.press("Keep the pair")
    expect(page.locator("main")).to_contain_text("mad for")
    table = folder / "pairs.csv"
    for text, expected in ((TABLE.replace("A dull", "A grey"), "row 2"), (TABLE, "1 pair added.")):
        table.write_text(text)
        if not page.locator("#file").is_visible():
            page.get_by_text("Upload a table of pairs").click()
        page.set_input_files("#file", table)
        visitor.press("Upload")
        expect(page.locator("body")).to_contain_text(expected)
    _be(visitor, "cleo")
    _choose(visitor, "We had a good time.", "We had no good time.")
    page.select_option("#modified_label", "negative")
    visitor.press("Keep the pair")


def _settle(visitor: Visitor) -> None:
    """Let a builder contest a pair, judges see it, and the organiser decide."""
    page = visitor.page
    _be(visitor, "anna")
    visitor.go(f"{HOME}/pairs?team=knots")
    page.get_by_role("link", name="knots t1").click()
    visitor.arrive("#reason")
    page.fill("#reason", "It still blames the evening.")
    visitor.press("Contest it")
    expect(page.locator("main")).to_contain_text("contested")
    _be(visitor, "jo")
    visitor.go_in_looks(f"{HOME}/judge", "phone")
    expect(page.locator("main")).to_contain_text("1 pair waits.")
    for label in ("original_label", "modified_label"):
        page.locator(f"input[name={label}][value=negative]").check()
    visitor.press("Next")
    expect(page.locator("main")).to_contain_text("Nothing waits for you")
    _be(visitor, "olga")
    visitor.go_in_looks(f"{HOME}/decide", "phone")
    visitor.go_in_looks(f"{HOME}/disputes", "phone")
    expect(page.locator("main")).to_contain_text("It still blames the evening.")
    visitor.go(f"{HOME}/results")
    expect(page.locator("main")).to_contain_text("1 pair is contested")
    page.get_by_role("link", name="See them").click()
    page.get_by_role("link", name="knots t1").click()
    visitor.arrive("#decide")
    page.fill("#reason", "Most would praise it.")
    visitor.press("Decide")
    expect(page.locator("main")).to_contain_text("settled: by the organisers")
    expect(page.locator("main")).to_contain_text("Most would praise it.")
    visitor.check_looks("phone")


def test_a_whole_contest(visitor: Visitor, workspace: Workspace, tmp_path: Path) -> None:
    """The owner opens it, three teams build and break, a label is contested and decided, and everybody sees the end."""
    visitor.expected = ("status of 422",)  # a form that is sent back with what is wrong in it
    visitor.sign_in("olga")
    page = visitor.go_in_looks(f"{BASE}/new")
    page.fill("#name", "spring")
    visitor.press("Save")
    expect(page.locator("h1")).to_have_text("Build it, break it")
    _move(workspace, "build")
    _build(visitor, tmp_path)
    _move(workspace, "break")
    _break(visitor, tmp_path)
    _move(workspace, "score")
    says = {"mad": "negative", "bad": "negative", "no ": "negative"}
    _hand_in(visitor, write_answers(tmp_path / "cleo.csv", {}, pair_texts()))
    _be(visitor, "anna")
    _hand_in(visitor, write_answers(tmp_path / "anna.csv", says, pair_texts()))
    _move(workspace, "review")
    _settle(visitor)
    _move(workspace, "over")


def test_everybody_sees_the_results(visitor: Visitor) -> None:
    """Without an account: two clicks from the task to the results, which fit in every look."""
    page = visitor.go("/tasks/mood")
    page.get_by_role("link", name="Results of Build it, break it").click()
    visitor.arrive(".chart svg, .chart canvas")
    expect(page.locator("main")).to_contain_text("3 pairs, 2 systems.")
    visitor.check_looks()
    for path in (HOME, f"{HOME}/pairs", BASE):
        visitor.go_in_looks(path, "phone", "dark")
    page = visitor.go(f"{HOME}/pairs?broke=words")
    expect(page.locator("tbody tr")).to_have_count(2)
