"""Rounds: put, open, close, clone; by whom; and from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import ANONYMOUS, Actor
from quintain.services.board.assemble import board
from quintain.services.board.ranking import rank
from quintain.services.collect.rounds import targets as round_targets
from quintain.services.collect.rounds.manage import (
    clone_round,
    close_round,
    get_round,
    list_rounds,
    open_round,
    put_round,
    round_history,
)
from quintain.services.collect.rounds.prompts import list_prompts
from quintain.services.collect.writing.sessions import start_session
from quintain.services.collect.writing.submit_attempt import confirm
from quintain.services.models.registry import get_model, set_visibility, withdraw
from quintain.services.tasks.board_settings import set_board
from quintain.services.tasks.definitions import put_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from tests.boards import add_version, evaluated, small_board, up_to
from tests.collecting import ONE, ROUND, TASK, add_models, add_round, submit, write_prompts, writers
from tests.refusals import refusal


def text(more: str = "", targets: str = ONE, tables: str = "") -> str:
    """Write a round's file."""
    return ROUND.format(more=more, targets=targets, tables=tables)


@pytest.mark.both_databases
def test_a_round_is_a_draft_then_open_then_closed(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Workers see it from its opening; there is no way back but a clone, which has the same file and no prompts."""
    put_task(db, owner, TASK)
    add_models(db, blobs, owner, tmp_path)
    draft = put_round(db, owner, text())
    assert (draft.ref, draft.state.value, list_rounds(db, worker)) == ("mood/1", "draft", [])
    with pytest.raises(NotFound):
        get_round(db, worker, "mood/1")
    with refusal(Conflict, "no_prompts"):
        open_round(db, owner, "mood/1")
    info = add_round(db, blobs, owner, tmp_path)
    assert get_round(db, worker, info.ref).state.value == "open"
    with pytest.raises(Conflict, match="is open already"):
        open_round(db, owner, info.ref)
    assert close_round(db, owner, info.ref).state.value == "closed"
    with pytest.raises(Conflict, match="closed"):
        put_round(db, owner, text(f"number = {info.number}\nattempts = 3"))
    copy = clone_round(db, owner, info.ref, title="Again")
    assert (copy.number, copy.state.value, copy.spec.title, copy.spec.reward) == (3, "draft", "Again", info.spec.reward)
    assert list_prompts(db, owner, copy.ref) == []


def test_an_open_round_keeps_its_promises(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Reward and attempts cannot change while people write; its end and caps can, and the history shows it."""
    info = add_round(db, blobs, owner, tmp_path)
    with pytest.raises(Conflict, match="'attempts' was promised"):
        put_round(db, owner, text("number = 1\nattempts = 3"))
    changed = put_round(db, owner, text("number = 1", tables="[caps]\nworker = 2"))
    assert (changed.spec.caps.worker, changed.version) == (2, 2)
    assert [one.number for one in round_history(db, owner, info.ref)] == [2, 1]


def test_a_round_must_fit_its_task(db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path) -> None:
    """Unknown and foreign models, unknown quizzes and rules for other kinds are named."""
    put_task(db, owner, TASK)
    add_models(db, blobs, owner, tmp_path)
    for wrong, message in (
        (text(targets='models = ["mood/none"]'), "There is no model 'mood/none'"),
        (text("quizzes = ['intro']"), "task 'mood' has no quiz 'intro'"),
        (text(tables='[fooled]\nrule = "token_f1"'), "'token_f1' compares texts"),
        (text(tables='[fooled]\nrule = "worker"'), "the worker decides on free texts"),
    ):
        with pytest.raises(BadInput) as caught:
            put_round(db, owner, wrong)
        assert message in str(caught.value)
    withdraw(db, owner, "mood/counter")
    with pytest.raises(BadInput, match="was withdrawn"):
        put_round(db, owner, text())
    with pytest.raises(Forbidden):
        put_round(db, builder, text())


def test_only_owners_open_close_and_clone(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Roles are checked in the services."""
    info = add_round(db, blobs, owner, tmp_path)
    for act in (open_round, close_round, clone_round, round_history):
        with pytest.raises(Forbidden):
            act(db, worker, info.ref)


@pytest.mark.both_databases
def test_dates_open_and_end_a_round(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """Before it begins and after it ends nobody can start, and the message says when."""
    early = add_round(db, blobs, owner, tmp_path, more="starts = 2999-01-01T00:00:00Z")
    with pytest.raises(Conflict, match="begins on 01 January 2999"):
        start_session(db, blobs, worker, early.ref)
    info = get_round(db, worker, early.ref)
    assert info.closed_because(info.created_at.replace(year=3000)) == ""
    late = put_round(
        db, owner, text("ends = 2020-01-01T00:00:00Z", tables='[[conditions]]\nname = "b"\nprompt = false')
    )
    open_round(db, owner, late.ref)
    with pytest.raises(Conflict, match="ended on 01 January 2020"):
        start_session(db, blobs, worker, late.ref)


@pytest.mark.both_databases
def test_the_best_of_the_board_is_found_once_a_day(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With mode `best` the first writer of a day settles the model for that day."""
    info = add_round(db, blobs, owner, tmp_path, targets='mode = "best"')
    asked = []
    version = get_model(db, owner, "mood/counter").version.id
    monkeypatch.setattr(round_targets, "_best", lambda *_: asked.append(1) or version)
    session = start_session(db, blobs, worker, info.ref)
    assert start_session(db, blobs, worker, info.ref).models == session.models == ("mood/counter@1",)
    assert submit(db, blobs, worker, session.key, "Bad.").number == 1
    assert asked == [1]


def test_a_board_without_ranked_models_is_said_so(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Mode `best` needs an evaluated model."""
    info = add_round(db, blobs, owner, tmp_path, targets='mode = "best"')
    with pytest.raises(Exception, match="ranks no model that can be asked"):
        start_session(db, blobs, worker, info.ref)


@pytest.mark.both_databases
def test_the_command_line_leads_through_a_round(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path,
    cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """new, prompts, open, status, export, close and clone, each with JSON for programs."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    put_task(db, owner, TASK)
    add_models(db, blobs, owner, tmp_path)
    file = tmp_path / "round.toml"
    file.write_text(text())
    assert cli("round", "new", file, "--check").exit_code == 0
    made = json.loads(cli("round", "new", file, "--json").stdout)
    assert (made["ref"], made["state"]) == ("mood/1", "draft")
    prompts = write_prompts(tmp_path, ["One fine day.", "Another day."])
    assert json.loads(cli("round", "prompts", "mood/1", prompts, "--part", "a", "--json").stdout)["added"] == 2
    opened = cli("round", "open", "mood/1")
    assert opened.exit_code == 0
    assert "3.60 USD an hour" in opened.stderr
    db.commit()  # end the reading from before the commands
    key = start_session(db, blobs, worker, "mood/1").key
    confirm(db, worker, submit(db, blobs, worker, key, "It was good for nothing.").attempt_id, True)
    status = json.loads(cli("round", "status", "mood/1", "--json").stdout)
    counters = status["counters"]
    assert (counters["attempts"], counters["fooled"], counters["rate"], counters["prompts"]["used"]) == (1, 1, 1.0, 1)
    assert (status["round"]["ref"], status["round"]["state"]) == ("mood/1", "open")
    assert "fooled the model" in cli("round", "status", "mood/1").stdout
    target = tmp_path / "out.csv"
    assert json.loads(cli("round", "export", "mood/1", target, "--json").stdout)["rows"] == 1
    assert "It was good for nothing." in target.read_text()
    assert json.loads(cli("round", "close", "mood/1", "--json").stdout)["state"] == "closed"
    assert json.loads(cli("round", "clone", "mood/1", "--json").stdout)["ref"] == "mood/2"
    assert [one["ref"] for one in json.loads(cli("round", "status", "--json").stdout)["rounds"]] == ["mood/1", "mood/2"]
    file.write_text("attempts = 0")
    failed = cli("round", "new", file)
    assert failed.exit_code == 1
    assert "field 'attempts': is 0" in failed.stderr


def test_the_best_of_a_real_board_is_the_target_of_the_day(
    db: Session, blobs: Blobs, owner: Actor, builder: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of the public board that can be asked; the same all day, whatever comes; tomorrow the new best."""
    small_board(db, blobs, owner, builder, tmp_path)
    add_ranked(db, blobs, builder, tmp_path, "secret", 100, throughput=1000.0, memory=0.1)
    set_visibility(db, builder, "mood/secret", "private")
    add_ranked(db, blobs, builder, tmp_path, "file-only", 100, adapter="predictions")
    set_board(db, owner, "mood", {"weights": {"performance": 1}})
    blank = '[[conditions]]\nname = "blank"\nprompt = false'
    info = open_round(db, owner, put_round(db, owner, text(targets='mode = "best"', tables=blank)).ref)
    ranked = rank(board(db, blobs, ANONYMOUS, "mood"))
    order = [ranked.board.models[row].ref for row in ranked.order()]
    assert order[0] == "mood/file-only@1"
    ann, bob, cem = writers(db, 3)
    assert start_session(db, blobs, ann, info.ref).models == (order[1],)
    add_ranked(db, blobs, builder, tmp_path, "better", 99, throughput=1000.0, memory=0.1)
    assert start_session(db, blobs, bob, info.ref).models == (order[1],)
    monkeypatch.setattr(round_targets, "now", lambda: now() + timedelta(days=1))
    assert start_session(db, blobs, cem, info.ref).models == ("mood/better@1",)
    answer = {"handler": lambda version, blobs, batch: ["negative" for _ in batch]}
    said = submit(
        db, blobs, cem, start_session(db, blobs, cem, info.ref).key, "A fine day.", target="positive", runners=answer
    )
    assert (said.fooled, said.answers[0].model) == (True, "mood/better@1")


def add_ranked(
    db: Session, blobs: Blobs, builder: Actor, folder: Path, name: str, level: int, *, adapter: str = "handler",
    **measured: float,
) -> None:  # fmt: skip
    """Add an evaluated model to the small board."""
    evaluated(db, blobs, add_version(db, blobs, builder, folder, name, adapter=adapter), up_to(level), **measured)
