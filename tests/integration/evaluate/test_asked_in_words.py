"""A chat model from submission to pages: what it is shown, how it was asked, samples, refusals."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from quintain.adapters.contract import Outside
from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.base import to_json
from quintain.engine.jobs import LocalEngine
from quintain.services.board.assemble import board
from quintain.services.data.inputs import set_inputs
from quintain.services.evaluate.cells.worker import work
from quintain.services.evaluate.results.answers import list_answers
from quintain.services.evaluate.results.compute import model_results
from quintain.services.evaluate.submissions.submit import SubmissionRules, submit_folder
from quintain.services.models.registry import get_model
from quintain.services.tasks.board_settings import set_board
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as queries
from tests.endpoint import Answer, Server, completion
from tests.evaluation import add_data, add_task
from tests.integration.evaluate.test_submit import CONDITIONS, folder_of
from tests.web_support import browser_of

TRAIN = [(f"Course {number} of our dinner was as dull as number {number + 9}", "negative") for number in range(4)]
TRAIN += [(f"Course {number} of our lunch was a joy like number {number + 9}", "positive") for number in range(4)]
FEW = 'few_shot = { data = "train", examples = 2, seed = 1, balanced = true }\n'


@pytest.fixture
def server() -> Iterator[Server]:
    """An endpoint that refuses to speak of one thing, and else cannot make up its mind."""
    endpoint = Server()
    turn = [0]

    def respond(path: str, body: Any, headers: dict[str, str]) -> Answer:
        turn[0] += 1
        if "James" in body["messages"][-1]["content"]:
            return completion("I'm sorry, but I can't help with that.")
        return completion("positive" if turn[0] % 2 else "<think>Hm.</think>negative", finish_reason="stop")

    endpoint.respond = respond
    yield endpoint
    endpoint.close()


@pytest.fixture
def mood(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> str:
    """A task with training data and one data set of six examples, whose inputs are open."""
    add_task(db, owner)
    add_data(db, blobs, owner, tmp_path, name="train", rows=TRAIN, hidden=False, role="train")
    add_data(db, blobs, owner, tmp_path, hidden=False)
    set_inputs(db, OPERATOR, "mood/test", "open")
    return "mood"


def submit(workspace: Workspace, db: Session, builder: Actor, server: Server, folder: Path, options: str) -> Outside:
    """Submit a chat model and run what is queued."""
    outside = Outside((server.url,), cache=folder / "cache")
    given = f'url = "{server.url}"\nmodel = "m"\nprompt = "{{text}}"\nconcurrency = 1\n{options}'
    model = folder_of(folder / "model", manifest=f'adapter = "chat"\n[options]\n{given}')
    submit_folder(db, workspace.blobs, builder, "mood", model, rules=SubmissionRules(outside=outside), name="m")
    engine = LocalEngine(folder / "locks")
    conditions = replace(CONDITIONS, outside=outside)
    work(workspace.session, workspace.blobs, engine, conditions, threading.Event(), until_empty=True)
    db.rollback()
    db.expire_all()
    return outside


def test_how_a_model_was_asked_is_public(
    workspace: Workspace, db: Session, owner: Actor, builder: Actor, server: Server, mood: str, tmp_path: Path
) -> None:
    """Samples, examples shown, outcomes and parameters stand on its pages, in its record, on the board."""
    submit(
        workspace,
        db,
        builder,
        server,
        tmp_path,
        f'{FEW}samples = 2\ntemperature = 1\nreduce = "mean"\nmax_tokens = 7\n',
    )
    cells = {row.cell.variant: row.cell for row in queries.rows(db)}
    assert cells["plain"].state == "done", cells["plain"].reason
    request = get_model(db, builder, "mood/m").version.meta["request"]
    assert request["few_shot"]["data"] == "mood/train@1"
    assert len(request["few_shot"]["ids"]) == 2
    assert request["parameters"]["max_tokens"] == 7
    assert "url" not in request
    result = model_results(db, workspace.blobs, builder, "mood/m")[0]
    asked = result.record().asked
    assert asked is not None
    assert (asked.samples, asked.reduce, sum(asked.outcomes.values())) == (2, "mean", 12)
    assert asked.outcomes["refused"] >= 2
    assert asked.spread is not None
    assert 0 < asked.spread.differ <= 1
    assert len(asked.spread.values["accuracy"]) == 2
    mean = sum(value or 0 for value in asked.spread.values["accuracy"]) / 2
    assert result.metrics["accuracy"]["value"] == pytest.approx(mean)
    assert (result.examples, result.refusals) == (6, None)
    matrix = to_json(board(db, workspace.blobs, owner, "mood").record())
    assert '"method":"read: exact"' in matrix
    client = browser_of(workspace)
    page = client.get("/tasks/mood/models/m").text
    assert "How it is asked" in page
    assert "mood/train@1" in page
    assert server.url not in page
    results = client.get("/tasks/mood/models/m/results/test?version=1").text
    assert "Examples whose samples differ" in results
    answers = list_answers(db, workspace.blobs, builder, "mood/m", "test").answers
    assert all(answer.samples is not None and len(answer.samples) == 2 for answer in answers)
    example = client.get(f"/tasks/mood/models/m/results/test/answers/{answers[0].id}?version=1")
    assert example.status_code == 200, example.text


def test_an_owner_leaves_refusals_apart(
    workspace: Workspace, db: Session, owner: Actor, builder: Actor, server: Server, mood: str, tmp_path: Path
) -> None:
    """Out of the metrics, and in their bounds; said so on the result."""
    submit(workspace, db, builder, server, tmp_path, "")
    wrong = model_results(db, workspace.blobs, builder, "mood/m")[0]
    refused = wrong.asked["outcomes"]["refused"]  # type: ignore[index]
    assert refused >= 1
    set_board(db, owner, "mood", {"refusals": "apart"})
    apart = model_results(db, workspace.blobs, builder, "mood/m")[0]
    before, after = (result.metrics["accuracy"]["value"] for result in (wrong, apart))
    assert (apart.refusals, after) == ("apart", pytest.approx(before * 6 / (6 - refused)))
    assert apart.bounds["accuracy"]["low"] == pytest.approx(before)
    assert apart.bounds["accuracy"]["high"] == pytest.approx(before + refused / 6)


def test_examples_are_never_those_that_are_evaluated(
    workspace: Workspace, db: Session, owner: Actor, builder: Actor, server: Server, mood: str, tmp_path: Path
) -> None:
    """Evaluated data cannot be named; data that comes later and has one of the examples is not run."""
    with pytest.raises(BadInput, match="is test data"):
        submit(workspace, db, builder, server, tmp_path, FEW.replace('"train"', '"test"'))
    submit(workspace, db, builder, server, tmp_path, FEW)
    add_data(db, workspace.blobs, owner, tmp_path, name="late", rows=TRAIN, hidden=False)
    conditions = replace(CONDITIONS, outside=Outside((server.url,), cache=tmp_path / "cache"))
    engine = LocalEngine(tmp_path / "locks")
    work(workspace.session, workspace.blobs, engine, conditions, threading.Event(), until_empty=True)
    db.rollback()
    db.expire_all()
    cells = {(row.dataset.name, row.cell.variant): row.cell for row in queries.rows(db)}
    assert cells["test", "plain"].state == "done"
    assert cells["late", "plain"].state == "failed"
    assert "nearly the same" in cells["late", "plain"].reason
