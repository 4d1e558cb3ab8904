"""What services refuse, as pages say it: in the reader's language, with its values, and never as markup."""

from __future__ import annotations

import ast
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
    """The title and the message are German, no command is advised; what was asked for is shown as text."""
    page = anybody.get("/tasks/%3Cimg%20src=x%3E")
    assert page.status_code == 404
    assert "Es gibt keine Aufgabe namens „&lt;img src=x&gt;“." in page.text
    assert "<img src=x" not in page.text
    assert "quintain task list" not in page.text


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
    assert answer.json()["error"]["message"] == "There is no task called 'none'."


@pytest.fixture(scope="module")
def scripts() -> ModuleType:
    """The script that keeps the catalogues in step."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module("catalogue")
    finally:
        sys.path.remove(str(SCRIPTS))


def test_a_new_text_without_translation_is_noticed(scripts: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message, a remedy or a reason that somebody adds anywhere in the rooms makes the check fail."""
    source = """
def one(name):
    raise Conflict(f"{name} is asleep.", remedy="Wake them.")

def two(reading):
    reason = f"has {len(reading)} legs" if reading else "has no legs"
    return Fault(reason, field="legs")
"""
    extra = scripts.raised.Module("services/new.py", ast.parse(source))
    read = scripts.raised.read_modules
    monkeypatch.setattr(scripts.raised, "read_modules", lambda *given: [*read(*given), extra])
    found = scripts.problems(LOCALES / "de" / "LC_MESSAGES" / "errors.po", scripts.refusals())
    new = ("%(name)s is asleep.", "Wake them.", "has %(reading)s legs", "has no legs")
    assert {f"not in the catalogue: {text}" for text in new} <= set(found)


def test_a_renamed_value_keeps_its_translation(scripts: ModuleType) -> None:
    """Where only the name of a variable changed in the source, the translation is carried over."""
    have, wanted = scripts.Catalog(locale="de"), scripts.Catalog()
    have.add("%(name)s is asleep at %(place)s.", "In %(place)s schläft %(name)s.")
    wanted.add("%(person)s is asleep at %(where)s.")
    scripts.keep_renamed(have, wanted)
    assert have.get("%(person)s is asleep at %(where)s.").string == "In %(where)s schläft %(person)s."
