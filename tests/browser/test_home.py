"""The front page and a task's overview in a real browser: light, dark, on a phone; a stranger's first two minutes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from quintain.compose import Workspace
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, running
from tests.writing_rounds import add_round

LOOKS: list[dict[str, Any]] = [
    {"viewport": {"width": 1280, "height": 860}, "color_scheme": "light", "locale": "en-GB"},
    {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark", "locale": "en-GB"},
    {"viewport": {"width": 360, "height": 740}, "color_scheme": "light", "locale": "en-GB"},
]


@pytest.fixture(scope="module")
def site(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The demo with an open round."""
    folder = tmp_path_factory.mktemp("home")
    workspace = copy_demo(demo, folder / "demo")
    add_round(workspace, folder, "sentiment", title="Fool the n-grams")
    with running(workspace) as url:
        yield url
    workspace.close()


@pytest.mark.parametrize("context_options", [LOOKS[2]])
def test_a_stranger_fools_a_model_at_once(visitor: Visitor, context_options: dict[str, Any]) -> None:
    """Type, choose, try: the verdict stands under the box, with the link that makes it count."""
    page = visitor.go("/")
    page.fill("#fool-text", "Not the worst way to waste an evening.")
    page.get_by_label("neutral").check()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#fooled .verdict-panel")).to_be_visible()
    expect(page.locator("#fooled")).to_contain_text("What moved it")
    visitor.check_looks()
    page.get_by_role("link", name="Sign in, and make it count").click()
    visitor.arrive("#password")


@pytest.mark.parametrize("context_options", [LOOKS[2]])
def test_a_worker_goes_from_home_to_the_work_itself(visitor: Visitor, context_options: dict[str, Any]) -> None:
    """What waits stands first, and one click leads to the page where it is done."""
    visitor.sign_in("demo-worker")
    page = visitor.go("/")
    page.locator(".waiting-list a").first.click()
    visitor.arrive("h1")
    assert page.url.endswith("/tasks/sentiment/rounds/1/write")


@pytest.mark.parametrize("context_options", [LOOKS[2]])
def test_on_a_phone_the_field_and_the_room_are_in_sight(visitor: Visitor, context_options: dict[str, Any]) -> None:
    """Whoever wants to type sees the field without scrolling, and which room of the task they are in."""
    page = visitor.go("/tasks/sentiment/talk")
    expect(page.locator("form#talk textarea").first).to_be_in_viewport(ratio=0.5)
    expect(page.locator(".side [aria-current=page]")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("path", ["/tasks/sentiment", "/tasks/sentiment/models", "/help/board"])
def test_a_task_at_a_glance_is_sound(visitor: Visitor, path: str) -> None:
    """Overview, models and help fit in light, dark and on a phone."""
    page = visitor.go_in_looks(path)
    expect(page.locator("h1")).to_be_visible()
    if path == "/tasks/sentiment":
        expect(page.locator("#top-models")).to_be_visible()


def test_the_forms_of_owners_are_sound(visitor: Visitor) -> None:
    """A new task and a new round as forms; the tour stands on the page and does not cover it."""
    visitor.sign_in("demo-owner")
    visitor.go("/tasks/new")
    page = visitor.go("/tasks/sentiment/rounds/new")
    expect(page.get_by_role("button", name="Save and open")).to_be_visible()
    page.get_by_role("button", name="Tour", exact=True).click()
    visitor.arrive(".tour")
    visitor.check()
    page.get_by_role("button", name="End the tour").click()
    expect(page.locator(".tour")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 900, 360])
def test_the_verdict_is_in_sight(visitor: Visitor, width: int) -> None:
    """Whoever tries a text sees what came of it without scrolling: beside the box, or brought into sight below it."""
    page = visitor.page
    page.set_viewport_size({"width": width, "height": 900})
    visitor.go("/")
    page.fill("#fool-text", "Not the worst way to waste an evening.")
    page.get_by_label("neutral").check()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#fooled .verdict-title")).to_be_in_viewport(ratio=1)


def test_a_table_that_goes_on_at_the_right_says_so(visitor: Visitor) -> None:
    """Where columns are out of sight a line above the table says it; at its end, and where all fits, none does."""
    page = visitor.page
    page.set_viewport_size({"width": 360, "height": 780})
    visitor.go("/tasks/sentiment/models")
    box, hint = page.locator(".table-scroll"), page.get_by_text("More columns at the right")
    expect(hint).to_be_visible()
    expect(box).to_have_class(re.compile("more-right"))
    box.evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    expect(box).not_to_have_class(re.compile("more-right"))
    page.set_viewport_size({"width": 1800, "height": 900})
    expect(hint).to_be_hidden()
