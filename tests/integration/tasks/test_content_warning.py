"""A task that warns of its content: nobody sees its texts before they have read the warning and gone on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

import quintain.web
from quintain.compose import Workspace
from quintain.core.people import OPERATOR, Actor
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.writing.readiness import readiness, record_choice
from quintain.services.data.datasets import list_versions
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.web.routes import PAGES, PageRoute
from quintain.web.warning import WITHOUT_TEXTS
from tests.collecting import TASK, add_round
from tests.judged_rounds import attempt, make_round
from tests.starter import starter_rows
from tests.validation_support import TASK as JUDGED
from tests.validation_support import make_judges
from tests.web_support import PASSWORD, browser_of, post

TEMPLATES = Path(quintain.web.__file__).parent / "templates"
WARNING = 'content_warning = {en = "Harsh words.", de = "Harte Worte."}'
DATA = "/tasks/hate/data/train"


def texts_in(page: str) -> list[str]:
    """Give the sentences of the starter task on hate speech that stand on a page."""
    plain = page.replace("&#39;", "'").replace("&#34;", '"').replace("&quot;", '"')
    return [row["text"] for row in starter_rows("hate") if row["text"] in plain]


def test_readers_are_warned_once_before_the_first_text(demo: Workspace) -> None:
    """The page asks, in the reader's language, and leads on to what was asked for; then it is remembered."""
    client = browser_of(demo)
    first = client.get(DATA)
    assert first.status_code == 200
    assert "The groups are invented" in first.text
    assert texts_in(first.text) == []
    assert "Die Gruppen sind erfunden" in client.get(DATA, headers={"accept-language": "de"}).text
    on = post(client, DATA, "/tasks/hate/warning", next=f"{DATA}?page=1")
    assert on.headers["location"] == f"{DATA}?page=1"
    assert texts_in(client.get(DATA).text)
    assert post(client, "/tasks/hate", "/tasks/hate/warning", next="//evil.example").headers["location"] == "/"


def test_a_warning_in_other_words_is_shown_again(demo: Workspace, db: Session, workspace: Workspace) -> None:
    """What somebody has gone past are the words that they read."""
    put_task(db, OPERATOR, WARNING + JUDGED)
    client, page = browser_of(workspace), "/tasks/mood/talk"
    assert "Harsh words." in client.get(page).text
    post(client, "/tasks/mood", "/tasks/mood/warning", next=page)
    assert "Harsh words." not in client.get(page).text
    put_task(db, OPERATOR, WARNING.replace("Harsh", "Very harsh") + JUDGED)
    assert "Very harsh words." in client.get(page).text


def _paths(demo: Workspace, route: PageRoute) -> list[str]:
    """Fill in a page's address what there is of the starter task on hate speech."""
    with demo.session() as db:
        datasets = [version.dataset for version in list_versions(db, OPERATOR, "hate")]
    known = {"{task}": ["hate"], "{dataset}": datasets, "{model}": ["tfidf", "majority"]}
    paths = [route.path]
    for name, values in known.items():
        paths = [path.replace(name, value) for path in paths for value in (values if name in path else [""])]
    return [path for path in paths if "{" not in path]


def test_no_page_shows_a_text_before_the_warning(demo: Workspace) -> None:
    """Every page of the task, asked for by its owner for the first time, shows none of its sentences."""
    client = browser_of(demo, "demo-owner")
    pages = [route for route in PAGES if route.method == "GET" and "{task}" in route.path]
    files = re.compile(r"/(download|export|starter|file)$")
    asked = 0
    for path in (path for route in pages for path in _paths(demo, route) if not files.search(path)):
        answer = client.get(path)
        asked += answer.status_code == 200
        assert texts_in(answer.text) == [], path
    assert asked > 25


def test_pages_that_need_no_warning_are_there() -> None:
    """A template that was renamed is behind the warning until its new name is listed."""
    assert [name for name in sorted(WITHOUT_TEXTS) if not (TEMPLATES / name).is_file()] == []


def test_writers_are_warned_by_the_task(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """A round says nothing of its own: its task's warning is accepted all the same, and again once it changes."""
    info = add_round(db, blobs, owner, tmp_path)
    assert readiness(db, worker, info.ref).ready
    put_task(db, owner, TASK + WARNING)
    assert readiness(db, worker, info.ref).needs_warning
    assert record_choice(db, worker, info.ref, "warning").ready
    put_task(db, owner, TASK + WARNING.replace("Harsh", "Very harsh"))
    assert readiness(db, worker, info.ref).needs_warning


def test_judges_are_warned_by_the_task(workspace: Workspace, db: Session, owner: Actor, writer: Actor) -> None:
    """The warning stands above the button that begins; whoever comes to a page by its address meets it first."""
    make_round(db, owner, [attempt(writer, f"text {n}", "positive", "negative") for n in range(10)])
    put_task(db, owner, WARNING + JUDGED)
    make_judges(db, 1)
    redeem_link(db, make_link(db, OPERATOR, "judge0").token, PASSWORD)
    client = browser_of(workspace, "judge0")
    page = client.get("/tasks/mood/judge/1").text
    assert page.index("Harsh words.") < page.index("Start judging")
    begun = post(client, "/tasks/mood/judge/1", "/tasks/mood/judge/1")
    desk = begun.headers["location"]
    assert "text 1" in client.get(desk).text, "it was read before the button was pressed"
    client.cookies.delete("quintain_warned")
    assert "text 1" not in client.get(desk).text


@pytest.fixture
def writer(worker: Actor) -> Actor:
    """Somebody who wrote what is judged."""
    return worker
