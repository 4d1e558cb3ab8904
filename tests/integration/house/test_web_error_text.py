"""What services refuse, as pages say it: in the reader's language, with its values, and never as markup."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.services.access.accounts import update_profile
from quintain.services.access.actors import actor_of, find_user
from quintain.web.i18n import LOCALES
from tests.web_support import browser_of, copy_demo, csrf_of, post

SCRIPTS = Path(__file__).parent.parent.parent.parent / "scripts"


@pytest.fixture(scope="module")
def owner(demo: Workspace, tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """The English browser of an owner whose account is German."""
    own = copy_demo(demo, tmp_path_factory.mktemp("said") / "own")
    with own.session() as db:
        update_profile(db, actor_of(db, find_user(db, "demo-owner")), language="de")
    client = browser_of(own, "demo-owner")
    client.headers["accept-language"] = "en"
    return client


@pytest.fixture
def anybody(demo: Workspace) -> TestClient:
    """A German-speaking stranger's browser."""
    client = browser_of(demo)
    client.headers["accept-language"] = "de"
    return client


def test_a_form_says_its_error_in_german(anybody: TestClient) -> None:
    """A wrong password is explained in the reader's language, with what to do."""
    page = post(anybody, "/login", "/login", name="admin", password="wrong password")
    assert "Der Name oder das Passwort ist falsch." in page.text
    assert "Versuchen Sie es noch einmal" in page.text
    assert "wrong." not in page.text


def test_an_error_page_is_german_and_escapes_values(anybody: TestClient) -> None:
    """The title, the message and what to do are German, no command is advised; what was asked for is shown as text."""
    page = anybody.get("/tasks/%3Cimg%20src=x%3E")
    assert page.status_code == 404
    assert "Es gibt keine Aufgabe namens „&lt;img src=x&gt;“." in page.text
    assert "<img src=x" not in page.text
    assert "quintain task list" not in page.text
    assert "Die erste Seite listet auf, welche es gibt." in page.text


def test_the_accounts_language_decides_on_error_pages(owner: TestClient) -> None:
    """Somebody whose account is German reads German errors in an English browser, headline and all."""
    page = owner.get("/admin")
    assert page.status_code == 403
    assert "Das ist nicht für Sie" in page.text
    assert "Das darf nur ein Admin, und demo-owner ist keiner." in page.text


def test_bad_rows_are_listed_in_german(owner: TestClient) -> None:
    """An import says of each bad row where it is and what is wrong."""
    page = "/tasks/sentiment/data/import"
    rows = '{"text": "Good.", "answer": "postive"}\n{"text": "", "answer": "negative"}\n'
    answer = owner.post(
        page,
        data={"csrf": csrf_of(owner, page), "name": "bad", "role": "test", "language": "en"},
        files={"file": ("bad.jsonl", rows.encode())},
    )
    assert answer.status_code == 422
    assert "bad.jsonl hat 2 Fehler; nichts wurde importiert." in answer.text
    assert "bad.jsonl, Zeile 1, Feld „answer“: das Label „postive“ ist keines von" in answer.text
    assert "bad.jsonl, Zeile 2, Feld „text“: ist leer" in answer.text


def test_a_broken_definition_is_explained_in_german(owner: TestClient) -> None:
    """A mistake in a task's file is told with its line; a hint to the right word is kept."""
    page = "/tasks/sentiment/settings"
    toml = 'name = "sentiment"\nkind = "text-classificaton"\ntitle = "x"\nlabels = ["a", "b"]\n'
    answer = owner.post(page, data={"csrf": csrf_of(owner, page), "toml": toml})
    assert answer.status_code == 422
    assert "Zeile 2, Feld „kind“: eine Art &#39;text-classificaton&#39; gibt es nicht; meinten Sie" in answer.text


def test_talking_says_what_is_wrong_with_an_input(anybody: TestClient) -> None:
    """The page names the input as it does above the control."""
    answer = post(
        anybody,
        "/tasks/sentiment/talk",
        "/tasks/sentiment/talk",
        **{"model": "tfidf@1", "in-text": "x" * 20_001},
    )
    assert "Text: hat 20001 Zeichen; höchstens 20000 sind erlaubt" in answer.text


def test_the_api_stays_english(anybody: TestClient) -> None:
    """Programs get the message as it was raised, whatever language is asked for."""
    answer = anybody.get("/api/v1/tasks/none")
    error = answer.json()["error"]
    assert (error["code"], error["message"]) == ("not_found", "There is no task called 'none'.")
    assert error["remedy"] == "`quintain task list` shows those there are."


@pytest.fixture(scope="module")
def scripts() -> ModuleType:
    """The script that keeps the catalogues in step."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module("catalogue")
    finally:
        sys.path.remove(str(SCRIPTS))


SOURCE = """
def one(name):
    raise Conflict("{name} is asleep.", name=name, remedy="Wake them." if name else "Wait.", page="Knock.")

def two(legs):
    return Fault(Text.plural("has {n} leg", "has {n} legs", n=legs), field="legs")

def three(reading):
    reading.fault("legs", "are {legs}; use `quintain walk`", legs=3)
    return Text("{name}", name="x")
"""


def test_a_new_text_without_translation_is_noticed(scripts: ModuleType, tmp_path: Path) -> None:
    """A message, a remedy or a reason that somebody adds makes the check fail; one that names a command does not."""
    (tmp_path / "new.py").write_text(SOURCE)
    wanted = scripts.refusals(tmp_path)
    found = scripts.problems(LOCALES / "de" / "LC_MESSAGES" / "errors.po", wanted)
    new = ("{name} is asleep.", "Wake them.", "Wait.", "Knock.", ("has {n} leg", "has {n} legs"))
    assert [text for text in found if text.startswith("not in")] == sorted(
        f"not in the catalogue: {one}" for one in new
    )


@pytest.mark.parametrize(
    "line",
    [
        'Conflict(f"{name} is asleep.")',
        'Conflict("a", remedy="b" + name)',
        'Fault("is {what}", where="here")',
        'Conflict("{name} is asleep.", name=1, time=2)',
        'Text("is " + name if name else "is not")',
        'RunEnded(Outcome.CRASHED, f"{name} is asleep.")',
        'RunEnded(Outcome.CRASHED, "{name} is asleep.", log=name, nobody=name)',
        "Fault(str(error))",
        'def said(name):\n    why = "is asleep"\n    return Fault(why)',
        'def said(name):\n    why = "is asleep" if name else Text("is awake")\n    return Fault(why, field=name)',
        "def said(why: str):\n    raise Conflict(why)",
    ],
)
def test_a_finished_text_is_noticed(
    scripts: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str
) -> None:
    """Words that were put together before, and values that do not fit the template, cannot be translated."""
    monkeypatch.setattr(scripts, "SOURCE", tmp_path)
    (tmp_path / "new.py").write_text(f"{line}\nConflict('{{name}} is asleep.', name=1)\n")
    assert len(list(scripts.slips(tmp_path / "new.py"))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "def said(why: Text):\n    raise Conflict(why)",
        'def said(name):\n    why = Text("{name} is asleep", name=name)\n    return Fault(why, field="name")',
        "RunEnded(Outcome.CRASHED, error.message, log=error.log, remedy=error.remedy)",
    ],
)
def test_a_text_of_ours_may_come_by_way_of_a_variable(
    scripts: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str
) -> None:
    """What is a Text already has been found where it was written."""
    monkeypatch.setattr(scripts, "SOURCE", tmp_path)
    (tmp_path / "new.py").write_text(f"{line}\n")
    assert list(scripts.slips(tmp_path / "new.py")) == []


def test_every_error_is_known_by_its_class(scripts: ModuleType) -> None:
    """The classes of errors are read from the source: also those that take their template elsewhere, or none."""
    places = {name: one.place for name, one in scripts.ERRORS.items()}
    assert places["Conflict"] == places["NoSandbox"] == places["Collision"] == 0
    assert places["RunEnded"] == places["AnswersLost"] == 1
    assert places["Declined"] is None
    assert {"log", "remedy"} <= scripts.ERRORS["AnswersLost"].own
    texts = {message.id for message in scripts.refusals()}
    assert {
        "{provider} refused with status {status}: {said}",
        "The model used more than {most:g} CPU seconds.",
    } <= texts
