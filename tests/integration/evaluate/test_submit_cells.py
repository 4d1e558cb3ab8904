"""Cells of submitted models: with their own packages, and with what asking a server has cost."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.compose import Workspace
from quintain.core.people import Actor
from quintain.engine.jobs import LocalEngine
from quintain.services.evaluate.cells.conditions import Conditions
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.submissions.submit import SubmissionRules, submit_folder
from quintain.services.models.environments import Environments
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from tests.endpoint import Server, ok
from tests.evaluation import add_data, add_task
from tests.integration.evaluate.test_submit import CONDITIONS, folder_of
from tests.integration.evaluate.test_submit_environments import wheel


@pytest.fixture(params=["sqlite"])
def database(request: pytest.FixtureRequest) -> str:
    """SQLite is enough: what is shown here lies outside the database."""
    return str(request.param)


@pytest.fixture
def mood(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> str:
    """A task with one data set."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path)
    return "mood"


def run_plain(workspace: Workspace, db: Session, conditions: Conditions, folder: Path) -> queries.CellRow:
    """Compute the plain cell alone and give it."""
    with transaction(db):
        for row in queries.rows(db):
            row.cell.state = "queued" if row.cell.variant == "plain" else "cancelled"
    work(workspace.session, workspace.blobs, LocalEngine(folder), conditions, threading.Event(), until_empty=True)
    db.rollback()
    (found,) = queries.rows(db, variant="plain")
    return found


def test_a_handler_runs_with_its_own_packages(
    workspace: Workspace, db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """What the submission brought along is there when its cell is computed."""
    code = "import tinywords\ndef predict(batch): return [tinywords.WORD] * len(batch)"
    folder = folder_of(tmp_path / "m", code, requirements__txt="tinywords")
    wheel(folder / "wheels")
    made = submit_folder(db, blobs, builder, mood, folder, rules=SubmissionRules(), name="m")
    assert made.version.meta["requirements"] == ["tinywords"]
    conditions = replace(CONDITIONS, environments=Environments(tmp_path / "environments", "none"))
    row = run_plain(workspace, db, conditions, tmp_path / "locks")
    assert row.cell.state == "done", row.cell.reason


def test_requirements_that_cannot_be_had_fail_the_run_and_say_so(
    workspace: Workspace, db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """It is the model's failure, final, with what is missing in the reason."""
    folder = folder_of(tmp_path / "m", requirements__txt="no-such-package==9.9")
    wheel(folder / "wheels")
    submit_folder(db, blobs, builder, mood, folder, rules=SubmissionRules(), name="m")
    conditions = replace(CONDITIONS, environments=Environments(tmp_path / "environments", "none"))
    row = run_plain(workspace, db, conditions, tmp_path / "locks")
    assert row.cell.state == "failed"
    assert "no-such-package" in row.cell.reason


def test_what_a_chat_model_cost_is_kept_with_its_run(
    workspace: Workspace, db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """Tokens and cost per example stand in the cell's measurements."""
    server = Server()
    reply = {"choices": [{"message": {"content": "positive"}}], "usage": {"prompt_tokens": 10, "completion_tokens": 1}}
    server.respond = lambda *_: ok(reply)
    options = f'url = "{server.url}"\nmodel = "m"\nprompt = "{{text}}"\ninput_price = 1.0\n'
    folder = folder_of(tmp_path / "m", manifest=f'adapter = "chat"\nbatch_size = 3\n[options]\n{options}')
    outside = Outside((server.url,), cache=tmp_path / "cache")
    submit_folder(db, blobs, builder, mood, folder, rules=SubmissionRules(outside=outside), name="m")
    row = run_plain(workspace, db, replace(CONDITIONS, outside=outside), tmp_path / "locks")
    server.close()
    assert row.cell.state == "done", row.cell.reason
    assert row.cell.measurements["cost_per_example"] == pytest.approx(10 / 1e6)
    assert row.cell.measurements["requests"] == 6
    secrets = [call[2].get("authorization") for call in server.calls]
    assert set(secrets) == {None}


def test_an_endpoint_that_sends_html_marks_the_run(
    workspace: Workspace, db: Session, blobs: Blobs, builder: Actor, mood: str, tmp_path: Path
) -> None:
    """The reason says what came; the queue is empty afterwards."""
    server = Server()
    server.respond = lambda *_: (200, {"content-type": "text/html"}, b"<html>")
    options = f'url = "{server.url}"\nmodel = "m"\n'
    folder = folder_of(tmp_path / "m", manifest=f'adapter = "open-inference"\n[options]\n{options}')
    outside = Outside((server.url,))
    submit_folder(db, blobs, builder, mood, folder, rules=SubmissionRules(outside=outside), name="m")
    row = run_plain(workspace, db, replace(CONDITIONS, outside=outside), tmp_path / "locks")
    server.close()
    assert row.cell.state == "failed"
    assert "sent text/html where JSON was expected" in row.cell.reason
