"""A served board of three models, and how the tests open and read it."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page

from quintain.compose import Workspace, create_workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.links import make_link, redeem_link
from quintain.services.tasks.definitions import put_task
from quintain.settings import Settings
from tests.boards import small_board
from tests.browser.visitor import Visitor
from tests.evaluation import TASK
from tests.people import make_person
from tests.web_support import PASSWORD

BOARD = "/tasks/mood/board"


def make_board_site(folder: Path) -> Workspace:
    """Make a workspace with an evaluated task, an owner whose password is known, and an empty task."""
    made = create_workspace(Settings(workspace=folder, login_attempts=1000))
    with made.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        small_board(db, made.blobs, owner, make_person(db, "bert", RoleName.BUILDER), folder.parent)
        put_task(db, owner, TASK.replace('"mood"', '"empty"').replace('"Mood"', '"Empty"'))
        redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    return made


def open_board(visitor: Visitor, query: str = "") -> Page:
    """Open the board and wait until it is ranked and knows how sure it is."""
    visitor.page.goto(visitor.base + BOARD + query)
    visitor.page.wait_for_selector("#board[data-sure=true]")
    visitor.check()
    return visitor.page


def unfold(page: Page, *questions: str) -> None:
    """Open questions below the table, by their names in the page."""
    for question in questions:
        page.locator(f"#{question} > summary").click()


def press(page: Page, name: str) -> None:
    """Press a button that leads to the board anew: the board that is being left must not be taken for it."""
    with page.expect_navigation():
        page.get_by_role("button", name=name).click()
    page.wait_for_selector("#board[data-sure=true]")


def order(page: Page) -> list[str]:
    """Read the order of the models aloud: the row headers of the accessibility tree, from the top.

    What was chosen is ranked in the next frame, so that one is waited for.
    """
    page.evaluate("() => new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))")
    tree = page.locator("#board-rows").aria_snapshot()
    return re.findall(r'rowheader "(?:(?:Details of|Einzelheiten zu) \w+ )?(\w+)', tree)
