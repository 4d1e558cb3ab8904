"""Panels' doors and tokens in a real browser: the question at the door, what owners see, what a token may do."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.services.collect.panels.admission import Visitor as Comer
from quintain.services.trial.panel_entry import enter
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, running
from tests.writing_rounds import add_round

ENTRY = '\n[entry]\nprovider = "panel"\nid_parameter = "pid"\ncompletion_code = "C"\n'


@pytest.fixture(scope="module")
def doored(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the demo with a door by which two people came with one browser, and one who wants to come in again."""
    folder = tmp_path_factory.mktemp("doors")
    workspace = copy_demo(demo, folder / "demo")
    info = add_round(workspace, folder, "sentiment", tables=ENTRY)
    with workspace.session() as db:
        device = enter(db, info.entry_key, {"pid": "P1"}, Comer(address="192.0.2.1")).device
        enter(db, info.entry_key, {"pid": "P2"}, Comer(address="192.0.2.1", device=device))
        enter(db, info.entry_key, {"pid": "P1"}, Comer(ask="owner"))
    (folder / "key").write_text(info.entry_key)
    return workspace


@pytest.fixture(scope="module")
def site(doored: Workspace) -> Iterator[str]:
    """The copy, served."""
    with running(doored) as url:
        yield url


def test_somebody_at_the_door_is_asked_and_owners_let_them_in(visitor: Visitor, doored: Workspace) -> None:
    """The page says what they can do; the owner's page shows who asks, what looks odd, and makes a code that works."""
    visitor.expected = ("401", "403")
    key = (doored.settings.workspace.parent / "key").read_text()
    visitor.go_in_looks(f"/enter/{key}?pid=P1")
    page = visitor.press("Ask to be let in")
    expect(page.get_by_text("have been asked")).to_be_visible()
    visitor.sign_in("demo-owner")
    page = visitor.go_in_looks("/tasks/sentiment/panel")
    expect(page.get_by_text("1 other by the same browser")).to_have_count(2)
    page.get_by_role("row").filter(has_text="p-").first.get_by_role("button", name="Code").click()
    code = page.locator("#secret").inner_text()
    assert len(code) == 8


def test_a_token_says_what_it_may_do(visitor: Visitor) -> None:
    """The page for submitting leads to one that may submit; the list shows it."""
    visitor.sign_in("demo-owner")
    page = visitor.go("/tasks/sentiment/submit")
    with page.expect_navigation():
        page.get_by_role("link", name="make a token that may submit").click()
    expect(page.get_by_role("checkbox", name="Build")).to_be_checked()
    expect(page.get_by_role("checkbox", name=re.compile("^Own"))).not_to_be_checked()
    page.get_by_label("What it is for").fill("nightly")
    visitor.press("Make a token")
    visitor.check_looks()
    expect(page.locator("td .chip", has_text="build")).to_be_visible()
