"""Classes of machines and provisional orders over the API, the client, the commands and the pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

import quintain
from quintain.compose import Workspace
from quintain.conditions import conditions_here
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor, Scope
from quintain.core.records.board import Remeasured
from quintain.services.access import tokens
from quintain.settings import Settings
from quintain.store.blobs import Blobs
from quintain.web.app import create_app
from tests.boards import add_sentences, add_version, evaluated, sentences, up_to
from tests.evaluation import add_task
from tests.web_support import on_one_line, running

CALL = "/api/v1/tasks/mood/board"


@pytest.fixture(autouse=True)
def site(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> None:
    """Two models that were measured here, one that was measured elsewhere, and one that was not run."""
    add_task(db, owner)
    add_sentences(db, blobs, owner, tmp_path, "test", sentences(60))
    for name, machine in (("one", "here"), ("two", "here"), ("three", "there")):
        evaluated(db, blobs, add_version(db, blobs, builder, tmp_path, name), up_to(70), machine=machine)
    add_version(db, blobs, builder, tmp_path, "four")


def test_over_the_api(workspace: Workspace, db: Session, owner: Actor, builder: Actor) -> None:
    """The board and its ranking say that they are provisional; owners measure again, builders may not."""
    client = TestClient(create_app(workspace))
    made = client.get(CALL).json()
    assert (made["provisional"], made["runs"]) == (True, {"needed": 48, "done": 36, "waiting": 12})
    assert made["machine"] == {"name": "here", "named": False, "models": {"here": 2, "there": 1}}
    ranked = client.get(f"{CALL}/rank").json()
    assert (ranked["provisional"], ranked["runs"]["waiting"]) == (True, 12)
    assert ranked["machine"]["name"] == "here"
    called = {person.name: tokens.create_token(db, person, "test", scopes=Scope)[0] for person in (owner, builder)}
    for name, status in ((None, 401), (builder.name, 403), (owner.name, 200)):
        headers = {"authorization": f"Bearer {called[name]}"} if name else {}
        answer = client.post(f"{CALL}/remeasure", headers=headers)
        assert answer.status_code == status, answer.text
    assert answer.json() == {"machine": "here", "queued": 1}
    assert client.get(CALL).json()["runs"]["waiting"] == 13
    found = client.get("/api/v1/tasks/mood/models/three/results").json()["datasets"][0]
    assert found["gaps"]["throughput"]["kind"] == "waiting"
    assert found["runs"] == {"needed": 12, "done": 11, "waiting": 1}


def test_over_the_client(workspace: Workspace, db: Session, owner: Actor) -> None:
    """A client names the class, has the others measured again, and reads that the order is provisional."""
    token = tokens.create_token(db, owner, "test", scopes=Scope)[0]
    with running(workspace) as url, quintain.Client(url, token) as client:
        assert client.board("mood").provisional
        assert client.rank("mood").runs["waiting"] == 12
        assert client.set_board("mood", {"machine": "there"})["machine"] == "there"
        assert client.remeasure("mood") == Remeasured("there", 2)
        assert not client.board("mood").machine["named"]  # the last complete ranking stays
        assert client.board("mood", live=True).machine["named"]
        assert client.rank("mood", live=True).runs["waiting"] == 14
        assert client.results("mood/two")[0].gaps["memory"]["kind"] == "waiting"


def test_on_the_command_line(workspace: Workspace, cli: Callable[..., Result], database: str, tmp_path: Path) -> None:
    """`board show` says that the order is provisional and on what it ranks; `evaluate remeasure` queues the rest."""
    if database != "sqlite":
        pytest.skip("the command line reads the address of the database from the environment")
    folder = ("-w", workspace.settings.workspace)
    shown = cli(*folder, "board", "show", "mood", "--no-sure")
    assert "The order is provisional: 12 of 48 runs are still to come." in shown.stdout
    assert "measured on another machine: there" in shown.stdout
    assert "rank as measured on here" in shown.stderr
    taken = cli(*folder, "board", "snapshot", "mood", "-o", tmp_path / "board.json")
    assert taken.exit_code == 0, taken.output
    assert "provisional" in cli("board", "verify", tmp_path / "board.json").stderr
    queued = cli(*folder, "evaluate", "remeasure", "mood", "--json")
    assert json.loads(queued.stdout) == {"machine": "here", "queued": 1}
    assert "Everything was measured on 'here'" in cli(*folder, "evaluate", "remeasure", "mood").stdout
    lines = cli(*folder, "evaluate", "results", "mood/four")
    assert lines.exit_code == 0, lines.output
    why = cli(*folder, "evaluate", "why", "mood/three", "mood/test", "--variant", "measure")
    assert "Only a worker on a machine of class 'here' takes it." in why.stdout


def test_a_worker_has_a_class_by_its_setting_or_by_its_processor(tmp_path: Path) -> None:
    """On a cluster nothing is known of the machine before it has run; a name that is none is refused."""
    named = conditions_here(Settings(workspace=tmp_path, machine_class=" lab "))
    assert named.machine == "lab"
    assert "CPU" in conditions_here(Settings(workspace=tmp_path)).machine
    assert conditions_here(Settings(workspace=tmp_path, engine="ray://head:6379")).machine == ""
    with pytest.raises(BadInput, match="QUINTAIN_MACHINE_CLASS"):
        conditions_here(Settings(workspace=tmp_path, machine_class="x" * 121))


def test_a_page_of_results_says_why_a_figure_is_missing(
    workspace: Workspace, db: Session, blobs: Blobs, tmp_path: Path
) -> None:
    """A model that has met one perturbation of ten has that one's figure and no mean, and the page says why."""
    half = add_version(db, blobs, OPERATOR, tmp_path, "half")
    evaluated(db, blobs, half, up_to(70), perturbed=["typos", "ocr"], broken=["ocr"], measured=False)
    page = TestClient(create_app(workspace)).get("/tasks/mood/models/half/results/test")
    assert page.status_code == 200
    assert "it needs every perturbation that counts. 2 of 8 runs done" in on_one_line(page)
    assert "the model failed" in page.text
