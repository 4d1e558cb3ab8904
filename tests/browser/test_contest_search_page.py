"""A team's systems, a disputed label and an automatic search in a real browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.contest import teams
from quintain.services.contest.contests import put_contest
from quintain.settings import Settings
from tests.browser.visitor import Visitor
from tests.contests import (
    CONTEST,
    DEV,
    REF,
    STARTER,
    TERRIFIC,
    add_contest_task,
    add_word_model,
    move_to,
    write_answers,
)
from tests.people import make_person
from tests.web_support import PASSWORD, running

HOME = "/tasks/mood/contests/spring"
SHOTS = os.environ.get("CONTEST_SHOTS", "")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A contest that is being built, with a team that does both and a model that hangs on a word."""
    folder = tmp_path_factory.mktemp("search")
    made = create_workspace(Settings(workspace=folder / "workspace", login_attempts=1000))
    with made.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        add_contest_task(db, made.blobs, owner, folder, [*STARTER, TERRIFIC])
        add_word_model(db, made.blobs, owner, folder)
        cleo = make_person(db, "cleo", RoleName.BUILDER)
        redeem_link(db, make_link(db, OPERATOR, "cleo").token, PASSWORD)
        put_contest(db, owner, CONTEST.replace("2024", str(datetime.now(UTC).year + 1)).format(more="systems = 2"))
        move_to(db, "build")
        teams.create_team(db, cleo, REF, "melbourne", "both")
    yield made
    made.close()


@pytest.fixture(scope="module")
def site(workspace: Workspace) -> Iterator[str]:
    """The address of that workspace."""
    with running(workspace) as url:
        yield url


def _shoot(visitor: Visitor, name: str) -> None:
    """Keep a picture where somebody asked for it."""
    if SHOTS:
        visitor.page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def test_two_systems_and_a_search(visitor: Visitor, workspace: Workspace, tmp_path: Path) -> None:
    """Two systems stand beside one team; a search proposes, and what is given a label becomes a pair."""
    visitor.expected = ("status of 422",)  # a form that is sent back with what is wrong in it
    visitor.sign_in("cleo")
    page = visitor.page
    dev = [text for text, _ in DEV]
    for name, says in (("pcnn", {"bad": "negative"}), ("scnn", {})):
        page.goto(f"{visitor.base}{HOME}/build")
        page.set_input_files("#file", write_answers(tmp_path / f"{name}.csv", says, dev))
        page.fill("#new-answers", name)
        visitor.press("Hand them in")
    visitor.go_in_looks(f"{HOME}/build")
    table = page.get_by_role("region", name="Table: Systems")
    expect(table.get_by_role("rowheader", name="melbourne")).to_have_count(1)
    expect(table).to_contain_text("100.0%")
    expect(table).to_contain_text("scnn")
    _shoot(visitor, "build")
    visitor.go_in_looks(HOME)
    expect(page.locator("main")).to_contain_text("Systems: pcnn, scnn")
    with workspace.session() as db:
        move_to(db, "break")
    visitor.go_in_looks(f"{HOME}/break")
    page.get_by_role("link", name="We had a good time.").click()
    visitor.arrive("#in-text")
    page.fill("#in-text", "We had a good time, they say.")
    page.select_option("#original_label", "negative")
    page.select_option("#modified_label", "negative")
    visitor.press("Keep the pair")
    expect(page.locator("main")).to_contain_text("say that you dispute it")
    page.get_by_label("The starter set’s label of the original is wrong: we dispute it.").check()
    _shoot(visitor, "break")
    visitor.press("Keep the pair")
    expect(page.locator("main")).to_contain_text("its team says negative of the original")
    visitor.go_in_looks(f"{HOME}/break/search")
    page.fill("#text", "terrific")
    _shoot(visitor, "searches")
    visitor.press("Begin")
    expect(page.locator("main")).to_contain_text("The search is done.")
    visitor.check_looks("phone")
    _shoot(visitor, "search")
    first = page.get_by_role("region", name="Proposal 1", exact=True)
    first.get_by_label("Label of the modified sentence").select_option("positive")
    first.get_by_role("button", name="Keep the pair").click()
    expect(page.locator("main")).to_contain_text("pair p2")
    page.get_by_role("button", name="Put it aside").first.click()
    expect(page.get_by_role("button", name="Take it up again")).to_be_visible()
    visitor.go_in_looks(f"{HOME}/break/search")
