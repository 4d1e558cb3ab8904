"""Pages in Arabic, from right to left, and in Chinese: written, judged, selected and ranked, in every look."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page

from quintain.compose import Workspace
from quintain.core.people import RoleName
from quintain.services.access.actors import actor_of, find_user
from tests.browser.judging import TEXTS, make_judging, open_judging, person, set_language
from tests.browser.visitor import Visitor
from tests.web_support import copy_demo, running
from tests.writing_rounds import add_round

pytestmark = pytest.mark.slow

LOOKS = ("light", "dark", "phone", "dark phone")
PICTURES = os.environ.get("QUINTAIN_PICTURES_OF_TESTS", "")  # a folder, for whoever wants to look at the pages
LETTERS = {"ar": "الجولة", "zh": "轮次评判"}
# A letter that no font has is drawn as a box, which is what a character that can be in no font is drawn as.
BOXES = """(text) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 40 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const drawn = (letter) => {
    pen.clearRect(0, 0, 40, 40);
    pen.font = `28px ${getComputedStyle(document.body).fontFamily}`;
    pen.fillText(letter, 4, 30);
    return pen.getImageData(0, 0, 40, 40).data.join();
  };
  const box = drawn("\\u{10fffe}");
  return [...text].filter((letter) => drawn(letter) === box);
}"""


@pytest.fixture(scope="module")
def written(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, dict[str, int]]:
    """A copy of the demo with a round on texts and one on passages for each language, and their numbers."""
    folder = tmp_path_factory.mktemp("tongues")
    workspace = copy_demo(demo, folder / "demo")
    rounds = {
        f"{task} {code}": add_round(workspace, folder, task).number for task in ("sentiment", "qa") for code in LETTERS
    }
    return workspace, rounds


@pytest.fixture(scope="module")
def site(written: tuple[Workspace, dict[str, int]]) -> Iterator[str]:
    """The copy, served."""
    with running(written[0]) as url:
        yield url


@pytest.fixture(params=["ar", "zh"])
def language(request: pytest.FixtureRequest) -> str:
    """The language that the browser asks for; its letters must be in some font."""
    code: str = request.param
    if (
        shutil.which("fc-list")
        and not subprocess.run(["fc-list", f":lang={code}"], capture_output=True, check=True).stdout.strip()
    ):
        pytest.skip(f"no font has the letters of {code}: install fonts-noto-core and fonts-noto-cjk")
    return code


def look(visitor: Visitor, language: str, name: str) -> None:
    """Check the page that is open in every look; nothing of ours on it is a box, and it runs the right way."""
    page = visitor.page
    for one in LOOKS:
        visitor.wear(one)
        visitor.check()
        if PICTURES:
            folder = Path(PICTURES) / language
            folder.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=folder / f"{name} {one}.png")
    visitor.wear("light")
    assert page.evaluate("document.documentElement.lang") == language
    assert page.evaluate("getComputedStyle(document.body).direction") == ("rtl" if language == "ar" else "ltr")
    assert page.evaluate(BOXES, LETTERS[language]) == []


def begin(page: Page, base: str, address: str) -> None:
    """Open what people begin with the first button of a form in the page's middle."""
    page.goto(base + address)
    page.locator("main form button.primary").first.click()
    page.wait_for_load_state("load")


def test_every_page_of_work_runs_in_its_language(
    visitor: Visitor, language: str, written: tuple[Workspace, dict[str, int]]
) -> None:
    """First page, work, pay, account, writing with its diff, a passage with a selection, judging, and the board."""
    page = visitor.page
    visitor.go(f"/login?lang={language}")
    look(visitor, language, "sign in")
    visitor.sign_in("demo-worker")
    visitor.go("/")  # whose forms are those of the one who has signed in
    with page.expect_navigation():
        page.locator(f".languages button[value={language}]").click()
    for name, address in {
        "home": "/",
        "work": "/work",
        "pay": "/work/earnings",
        "account": "/account",
        "messages": "/notifications",
        "help": "/help/for-workers",
        "task": "/tasks/sentiment",
        "board": "/tasks/sentiment/board",
    }.items():
        visitor.go(address)
        look(visitor, language, name)
    begin(page, visitor.base, f"/tasks/sentiment/rounds/{written[1][f'sentiment {language}']}/write")
    page.locator("textarea").first.fill("The soup was bad and the waiter came late.")
    look(visitor, language, "write")
    begin(page, visitor.base, f"/tasks/qa/rounds/{written[1][f'qa {language}']}/write")
    page.locator("[data-span]").focus()
    for key in ("ArrowLeft" if language == "ar" else "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    look(visitor, language, "span")


def test_judging_runs_in_its_language(
    profiles: Callable[[dict[str, object]], BrowserContext], language: str, tmp_path: Path
) -> None:
    """One text at a time; the keys for the next and the one before follow the way in which the page is read."""
    workspace = make_judging(tmp_path)
    with workspace.session() as db:
        owner = actor_of(db, find_user(db, "olga"))
        person(db, "wilma", RoleName.WORKER)
        set_language(db, "wilma", language)
        open_judging(db, owner, "reviews", TEXTS)
    with running(workspace) as url:
        page = profiles({"locale": language}).new_page()
        visitor = Visitor(page, url)
        visitor.sign_in("wilma")
        begin(page, url, "/tasks/mood/judge/reviews")
        look(visitor, language, "judge")
        shown = page.locator("[data-item]:visible")
        first = shown.first.inner_text()
        ahead, back = ("ArrowLeft", "ArrowRight") if language == "ar" else ("ArrowRight", "ArrowLeft")
        page.keyboard.press(ahead)
        assert shown.first.inner_text() != first
        page.keyboard.press(back)
        assert shown.first.inner_text() == first
