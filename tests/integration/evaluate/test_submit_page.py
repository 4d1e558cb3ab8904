"""Submitting a model from the browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintain.compose import Workspace
from quintain.core.people import OPERATOR
from quintain.engine.archives import packed
from quintain.engine.sandbox.causes import not_linux
from quintain.engine.sandbox.layers import LAYERS, SandboxReport
from quintain.services.evaluate.cells.progress import list_cells
from quintain.web.pages.evaluate import submit
from tests.integration.evaluate.test_submit import folder_of
from tests.web_support import browser_of, csrf_of

PAGE = "/tasks/sentiment/submit"


def test_an_archive_is_submitted_and_its_runs_are_queued(own_demo: Workspace, tmp_path: Path) -> None:
    """An owner chooses a file and a name; the model's page says that its runs are queued."""
    client = browser_of(own_demo, "demo-owner")
    assert 'href="/tasks/sentiment/submit"' in client.get("/tasks/sentiment/models").text
    assert client.get(PAGE).status_code == 200
    with packed(folder_of(tmp_path / "m"), tmp_path / "m.tar.gz") as archive:
        answer = client.post(
            PAGE,
            data={"csrf": csrf_of(client, PAGE), "name": "from-the-page", "visibility": "private"},
            files={"file": ("m.tar.gz", archive.read_bytes())},
        )
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == "/tasks/sentiment/models/from-the-page?version=1"
    with own_demo.session() as db:
        cells = [cell for cell in list_cells(db, OPERATOR, task="sentiment") if cell.model == "from-the-page@1"]
    assert len(cells) > 20
    assert {cell.state for cell in cells} == {"queued"}


def test_what_is_missing_is_said_before_anybody_submits(demo: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the sandbox is weaker than it must be, the page says why, and which models need none."""
    client = browser_of(demo, "demo-owner")
    monkeypatch.setattr(submit, "sandbox_of", lambda _: SandboxReport(dict.fromkeys(LAYERS, True)))
    assert "cannot run submitted code" not in client.get(PAGE).text
    bare = SandboxReport(dict.fromkeys(LAYERS, False), (not_linux("plan9"),))
    monkeypatch.setattr(submit, "sandbox_of", lambda _: bare)
    page = client.get(PAGE).text
    assert "This machine cannot run submitted code yet." in page
    assert "plan9" in page
    assert 'href="/tasks/sentiment/train"' in page


def test_what_is_wrong_is_listed_and_nothing_is_kept(own_demo: Workspace) -> None:
    """A file that is no archive is refused on the page itself, with what was typed still there."""
    client = browser_of(own_demo, "demo-owner")
    answer = client.post(
        PAGE,
        data={"csrf": csrf_of(client, PAGE), "name": "broken", "visibility": "public"},
        files={"file": ("m.zip", b"this is no archive")},
    )
    assert answer.status_code == 422
    assert "m.zip is neither an archive nor a file that is a whole model by itself." in answer.text
    assert "broken" in answer.text
    assert client.get("/tasks/sentiment/models/broken").status_code == 404


def test_workers_may_not_submit(own_demo: Workspace) -> None:
    """The page is for builders and owners."""
    client = browser_of(own_demo, "demo-worker")
    assert client.get(PAGE).status_code == 403
    assert PAGE not in client.get("/tasks/sentiment/models").text


def test_the_starter_is_accepted_as_it_is(own_demo: Workspace) -> None:
    """Whoever has nothing yet downloads an archive and sends it back: it is tried, taken, and its runs are queued."""
    client = browser_of(own_demo, "demo-owner")
    assert f'href="{PAGE}/starter?adapter=handler"' in client.get(PAGE).text
    starter = client.get(f"{PAGE}/starter")
    assert starter.status_code == 200
    answer = client.post(
        PAGE,
        data={"csrf": csrf_of(client, PAGE), "visibility": "private"},
        files={"file": ("my-model.tar.gz", starter.content)},
    )
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == "/tasks/sentiment/models/my-model?version=1"
    assert browser_of(own_demo, "demo-worker").get(f"{PAGE}/starter").status_code == 403
