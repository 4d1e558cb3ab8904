"""An owner with a file of her own, in a real browser: task, models, board, round, a link, somebody writes, judging."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from quintain.compose import Workspace, create_workspace
from quintain.services.collect.writing.submit_attempt import confirm, submit_attempt
from quintain.services.house.demo import add_people
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_next
from quintain.settings import Settings
from quintain.simulate.driving import begin, hire, judge_all
from quintain.simulate.judges import Judged
from quintain.simulate.people import SimulatedPerson, draw_people
from quintain.simulate.wheel import run_plain
from tests.browser.conftest import open_profile
from tests.browser.visitor import Visitor
from tests.released import unlike_texts
from tests.web_support import running

HOME = "/tasks/tea-shops"
WORDS_FOR = {"positive": "gladly", "negative": "grimly"}
PARTS = {
    "who": ["the waiter", "our host", "the cook", "the owner", "a student", "the cleaner", "my aunt", "the baker"],
    "what": ["the tea", "that cake", "a scone", "the jam", "my cup", "the spoon", "our bill"],
    "good": ["and it was lovely", "with a smile", "and we stayed for hours", "which was delicious"],
    "bad": ["and it was cold", "without a word", "and we left at once", "which was stale"],
}


def write_file(path: Path) -> None:
    """Write reviews with stars: a column that people name as they like, one row twice, and one without a text."""
    rows = ["Comment,Stars,Shop"]
    for day, (who, what) in enumerate(product(PARTS["who"], PARTS["what"])):
        for number, stars in enumerate((1, 2, 4, 5)):
            end = PARTS["good" if stars > 3 else "bad"][(day + number) % 4]
            text = f"On day {day} {who} brought {what} {end}, {number} times."
            rows.append(f'"{text}",{stars},{"ab"[number % 2]}')
    path.write_text("\n".join([*rows, rows[5], ",4,a"]) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with people and nothing else."""
    made = create_workspace(Settings(workspace=tmp_path_factory.mktemp("owner"), model_calls=1000))
    with made.session() as db:
        add_people(db)
    yield replace(made, demo=True)
    made.close()


@pytest.fixture(scope="module")
def site(empty: Workspace) -> Iterator[str]:
    """Its address."""
    with running(empty) as url:
        yield url


def press(page: Page, name: str) -> None:
    """Press a button or follow a link that leads to another page."""
    with page.expect_navigation():
        page.locator("main").get_by_role("button", name=name).or_(page.get_by_role("link", name=name)).first.click()


def make_task(page: Page, visitor: Visitor, path: Path) -> None:
    """Make the task from the file: nothing is typed that the file says."""
    press(page, "New task")
    press(page, "Begin with a file")
    visitor.check()
    with page.expect_navigation():
        page.set_input_files("#file", path)
    expect(page.get_by_label("Column with Text")).to_have_value("Comment")
    expect(page.get_by_label("Column with answer")).to_have_value("Stars")
    expect(page.get_by_label("Label of 5")).to_have_value("positive")
    expect(page.get_by_role("list", name="Rows that are wrong")).to_contain_text("Row 227")
    visitor.check()
    page.get_by_label("Leave out rows that are wrong").check()
    press(page, "Make the task")
    assert page.url.endswith(HOME)
    visitor.check()


def write_by_link(chromium: Browser, base: str, link: str) -> None:
    """Take part as somebody who has nothing but the link."""
    profile = open_profile(chromium, {"base_url": base})
    page = profile.new_page()
    page.goto(link)
    press(page, "Take part")
    press(page, "Start writing")
    page.get_by_label("negative", exact=True).check()
    page.locator("#in-text").fill("Nothing about this shop made me want to leave before it closed.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".verdict-title")).to_be_visible()
    profile.close()


def write_more(workspace: Workspace, ref: str) -> None:
    """Let six people write in five sessions each, for either label in turn."""
    with workspace.session() as db:
        rng = np.random.default_rng(1)
        texts = zip(cycle(WORDS_FOR), unlike_texts(400), strict=False)
        for actor in hire(db, draw_people(rng, 6, name="writer")).values():
            for _ in range(5):
                session = begin(db, workspace.blobs, actor, ref)
                for _ in range(session.attempts_left):
                    aim, text = next(texts)
                    field = {"text": f"{text} {WORDS_FOR[aim]}"}
                    verdict = submit_attempt(db, workspace.blobs, actor, session.key, field, target=aim, token=text)
                    if verdict.ask == "confirm":
                        verdict = confirm(db, actor, verdict.attempt_id, yes=True)
                    if verdict.ended:
                        break


def agree(rng: np.random.Generator, person: SimulatedPerson, text: str, labels: Sequence[str]) -> Judged:
    """Judge as whoever wrote it meant it."""
    meant = [label for label in labels if text.endswith(WORDS_FOR.get(label, "?"))]
    return Judged(meant[0] if meant else "positive", 9.0)


def judge_and_release(page: Page, visitor: Visitor, workspace: Workspace) -> None:
    """Let eight people judge, and release what comes of it by the pages."""
    with workspace.session() as db:
        rng = np.random.default_rng(2)
        people = draw_people(rng, 8, name="judge")
        actors = hire(db, people)
        judge_all(db, rng, "tea-shops/1", [(person, actors[person.name]) for person in people], way=agree)
    while run_next(workspace.session, workspace.blobs, job_handlers(), "test", threading.Event()):
        pass
    visitor.go(HOME)
    press(page, "Release")
    page.get_by_label("Items in dev").fill("4")
    page.get_by_label("Items in test").fill("4")
    page.get_by_text("What must hold in dev and test").click()
    page.get_by_label("The model is at chance").uncheck()
    page.get_by_label("Writers").select_option("any")
    press(page, "Look at it")
    visitor.check()
    with page.expect_navigation():
        page.locator("button[name=release]").click()
    expect(page.locator("main")).to_contain_text("round-1-test")
    visitor.check()


def test_from_a_file_to_a_release(visitor: Visitor, empty: Workspace, chromium: Browser, tmp_path: Path) -> None:
    """Each step leads to the next: a file, a task, models, a board, a round, people by a link, judging, a release."""
    write_file(tmp_path / "Tea shops.csv")
    page = visitor.go("/")
    with page.expect_navigation():
        page.locator(".parts").get_by_role("button", name="Owner").click()
    make_task(page, visitor, tmp_path / "Tea shops.csv")

    press(page, "Train the baselines")
    expect(page.locator("#first-steps")).to_contain_text("being trained")
    while run_next(empty.session, empty.blobs, job_handlers(), "test", threading.Event()):
        pass
    expect(page.get_by_role("link", name="Open the first round")).to_be_visible()  # the page looks again by itself
    run_plain(empty, "tea-shops")  # what a worker beside the server does
    visitor.go(f"{HOME}/board")
    expect(page.locator("#board-table tbody tr")).not_to_have_count(0)
    visitor.check()

    visitor.go(HOME)
    press(page, "Open the first round")
    expect(page.get_by_label("Prompts that writers edit")).to_have_value("tea-shops/tea-shops-dev@1")
    press(page, "Save and open")
    press(page, "Let anybody in by a link")
    visitor.check()
    write_by_link(chromium, visitor.base, page.locator("#invite-url").inner_text())

    visitor.go(f"{HOME}/rounds/1")
    expect(page.locator(".stations")).to_contain_text("1 text")
    write_more(empty, "tea-shops/1")
    page.get_by_role("button", name="Close", exact=True).click()
    with page.expect_navigation():
        page.get_by_role("button", name="Yes, go on").click()
    visitor.go(HOME)
    press(page, "Let people judge")
    expect(page.locator(".stations")).to_be_visible()
    visitor.check()
    judge_and_release(page, visitor, empty)
