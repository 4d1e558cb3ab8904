"""Hand coding in a real browser: a sample is drawn, coded with keys, taken back, closed, and its figures are read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.services.study.coding_figures import close_coding
from quintain.services.study.codings import put_coding
from tests.browser.visitor import Visitor
from tests.codings import CODING, code_all, coding_site
from tests.web_support import running

HOME = "/tasks/mood/codings"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A workspace with an open coding, and one that is closed."""
    workspace: Workspace = coding_site(tmp_path_factory.mktemp("coding"))
    with workspace.session() as db:
        put_coding(db, workspace.blobs, OPERATOR, CODING.replace('"look"', '"done"').replace("A look", "Done"))
        code_all(db, "yann", "mood/done")
        code_all(db, "zoe", "mood/done")
        close_coding(db, OPERATOR, "mood/done")
    with running(workspace) as url:
        yield url
    workspace.close()


def test_an_owner_draws_a_sample_and_reads_what_came_of_another(visitor: Visitor) -> None:
    """From the round to the form, whose everything else is folded; the closed coding shows chart, arms and examples."""
    visitor.sign_in("olga")
    page = visitor.go("/tasks/mood/rounds/1")
    page.get_by_role("link", name="Code a sample by hand").click()
    visitor.arrive("#what")
    visitor.check_looks()
    expect(page.get_by_label("Round 1: Fool it")).to_be_checked()
    page.get_by_label("Title").fill("Drawn here")
    page.get_by_text("Everything else").click()
    page.get_by_label("Items in the sample").fill("5")
    visitor.press("Draw the sample")
    expect(page.locator("h1")).to_have_text("Drawn here")
    visitor.check_looks()
    visitor.go_in_looks(HOME)
    page = visitor.go(f"{HOME}/done")
    expect(page.locator(".chart[data-drawn]")).to_have_count(1)
    visitor.check_looks()
    expect(page.get_by_role("heading", name="How do the arms differ?")).to_be_visible()
    expect(page.locator("main")).to_contain_text("1 of 2 coders")


def test_an_expert_codes_with_keys_and_goes_back(visitor: Visitor) -> None:
    """Digits choose, 0 excludes the others, Enter without a choice stays; u goes back to what was said."""
    visitor.sign_in("xenia")
    page = visitor.go_in_looks(f"{HOME}/look/code")
    first = page.locator(".judge-text").first.inner_text()
    page.keyboard.press("Enter")
    expect(page.locator(".judge-labels.wanted")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("4")
    expect(page.locator("input[name=category]:checked")).to_have_count(2)
    page.keyboard.press("0")
    expect(page.locator("input[name=category]:checked")).to_have_value("none")
    page.keyboard.press("2")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator(".judge-bar")).to_contain_text("1 of 24")
    expect(page.locator(".judge-text").first).not_to_have_text(first)
    with page.expect_navigation():
        page.keyboard.press("u")
    expect(page.locator(".judge-text").first).to_have_text(first)
    expect(page.get_by_label("trivial")).to_be_checked()
    visitor.check_looks()
    page.get_by_label("Note").fill("2 of these")
    page.keyboard.press("3")
    visitor.press("Keep and go on")
    expect(page.locator(".judge-bar")).to_contain_text("1 of 24")


def test_it_is_said_when_nothing_is_left(visitor: Visitor) -> None:
    """Everything that a person may code is coded: the page says so and offers the way back; a stranger sees none."""
    visitor.sign_in("zoe")
    page = visitor.go(f"{HOME}/done/code")
    expect(page.get_by_role("heading", name="This coding is closed")).to_be_visible()
    page.context.clear_cookies()
    visitor.sign_in("rita")
    visitor.go_in_looks(HOME)
    expect(visitor.page.get_by_role("heading", name="Nothing to code")).to_be_visible()
