"""Harvests that a worker does: asked for on a page or by a program, followed, cancelled, gone on with."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from typer.testing import Result

from quintain.client import Client
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.data.harvest_rules import NAMED_RULES
from quintain.data.plan import ImportPlan
from quintain.models.baselines.ngram import Ngram
from quintain.models.card import HEADINGS, write_card
from quintain.services.access.links import make_link, redeem_link
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.data.datasets import import_dataset
from quintain.services.harvest import corpus as harvest_corpus
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs.running import run_all, run_next
from quintain.services.models.ask import RUNNERS
from quintain.services.models.registry import register_version
from quintain.services.tasks.definitions import get_task, put_task
from quintain.services.validate.console import harvest_jobs
from quintain.services.validate.console.harvest_jobs import HarvestRequest, ask_harvest, find_harvest
from quintain.store.tables import Job, ValidationItem
from tests.collecting import add_models
from tests.people import make_person
from tests.validation_support import LABELS, TASK
from tests.web_support import PASSWORD, browser_of, csrf_of, on_one_line, running, token_for

MODEL = "mood/words@1"
PAGE = "/tasks/mood/rounds/harvest"
LETTERS = "abcdefghij"


@pytest.fixture
def database() -> str:
    """Nothing here differs between the databases."""
    return "sqlite"


@pytest.fixture
def corpus(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> Path:
    """Forty rated reviews of two sentences; the task and a model of it are there, and so is olga's password."""
    put_task(db, owner, TASK)
    table = pl.DataFrame({"text": [f"{name} it is" for name in LABELS] * 4, "answer": LABELS * 4})
    Ngram.train(get_task(db, "mood"), table).save(tmp_path / "model")
    card = write_card("A model", dict.fromkeys(HEADINGS, "Some words."))
    register_version(
        db, workspace.blobs, owner, "mood", "words", adapter="builtin", folder=tmp_path / "model", card=card
    )
    redeem_link(db, make_link(db, OPERATOR, "olga").token, PASSWORD)
    db.commit()
    rows = [
        {
            "review_id": f"r{at}",
            "stars": 1 + at % 5,
            "text": f"The {_word(at)} of {_word(at + 7)} feels {LABELS[at % 3]}. We met {_word(3 * at)} there.",
        }
        for at in range(40)
    ]
    file = tmp_path / "reviews.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def _word(number: int) -> str:
    """Make a word that is unlike others."""
    return "".join(LETTERS[int(digit)] * 2 for digit in str(number * 7919 % 1000))


def _work(workspace: Workspace) -> int:
    return run_all(workspace.session, workspace.blobs, job_handlers())


def _newest(db: Session) -> Job:
    db.rollback()
    job = db.scalar(select(Job).where(Job.kind == "harvest").order_by(Job.id.desc()).limit(1))
    assert job is not None
    return job


def test_a_page_makes_a_round_of_a_corpus(workspace: Workspace, db: Session, owner: Actor, corpus: Path) -> None:
    """The form queues it, its page follows it, and once a worker was there the sample is a round that can be judged."""
    client = browser_of(workspace, "olga")
    form = {"csrf": csrf_of(client, PAGE), "model": MODEL, "rule": "contradictions", "size": "12", "title": "Reviews"}
    upload = {"file": ("reviews.jsonl", corpus.read_bytes())}
    asked = client.post("/tasks/mood/harvests", data=form, files=upload)
    assert asked.status_code == 303, on_one_line(asked)
    place = str(asked.headers["location"])
    assert "It waits for a worker" in on_one_line(client.get(place))
    again = client.post("/tasks/mood/harvests", data=form, files=upload)
    assert again.headers["location"] == place  # a double click asks once
    assert _work(workspace) >= 1
    done = on_one_line(client.get(place))
    assert "12 sentences of 80 are round 1" in done
    assert "one star, predicted positive" in done
    [info] = list_rounds(db, owner, "mood")
    assert (info.kind, info.spec.title, info.spec.targets.models) == ("harvest", "Reviews", (MODEL,))
    items = db.scalars(select(ValidationItem)).all()
    assert len(items) == 12
    assert all(item.source["rating"] in {1, 2, 3, 4, 5} for item in items)
    assert "Harvest" in client.get("/jobs").text


def test_what_is_wrong_is_said_on_the_form(workspace: Workspace, db: Session, corpus: Path) -> None:
    """No corpus, two, a rule that looks at ratings that are not there, and a policy with a fault: no job is queued."""
    client = browser_of(workspace, "olga")
    form = {"csrf": csrf_of(client, PAGE), "model": MODEL, "rule": "labels"}
    good = corpus.read_bytes()
    texts = ("reviews.txt", b"It feels positive. It feels negative.")
    for changes, file, reason in (
        ({}, None, "The corpus is a file or a data set."),
        ({"dataset": "mood/none@1"}, ("reviews.jsonl", good), "The corpus is a file or a data set."),
        ({"rule": "contradictions"}, texts, "has no column for"),
        ({"rule": "own", "rules": "[[strata]]\nshare = 2"}, ("reviews.jsonl", good), "strata"),
        ({"policy": "judgments = 5"}, ("reviews.jsonl", good), "judgments"),
        ({"model": "mood/none"}, ("reviews.jsonl", good), "mood/none"),
        ({"column-text": "body"}, ("reviews.jsonl", good), "body"),
        ({"size": "0"}, ("reviews.jsonl", good), "The size is 0"),
    ):
        refused = client.post("/tasks/mood/harvests", data={**form, **changes}, files={"file": file} if file else None)
        assert refused.status_code >= 400, changes
        assert reason in on_one_line(refused), changes
        assert "--column" not in refused.text
    assert db.scalars(select(Job)).all() == []


def test_a_program_harvests_from_a_data_set(workspace: Workspace, db: Session, owner: Actor, corpus: Path) -> None:
    """A version of a data set is a corpus, its ratings are those of its tags; a program follows the job."""
    rows = [json.loads(line) for line in corpus.read_text().splitlines()]
    source = corpus.with_name("data.jsonl")
    source.write_text(
        "".join(
            json.dumps({"text": row["text"], "answer": "neutral", "tags": [f"rating:{row['stars']}"]}) + "\n"
            for row in rows
        )
    )
    import_dataset(db, workspace.blobs, owner, "mood", "old", source, ImportPlan(role="train"))
    import_dataset(db, workspace.blobs, owner, "mood", "secret", source, ImportPlan(role="test", hidden=True))
    db.rollback()
    with pytest.raises(Conflict, match="would show them"):
        ask_harvest(db, workspace.blobs, owner, "mood", HarvestRequest(MODEL, dataset="mood/secret"))
    db.rollback()
    with running(workspace) as url, Client(url, token_for(workspace, "olga")) as client:
        job = client.start_harvest("mood", "mood/words", dataset="mood/old", size=10, title="From data")
        assert (job.state, job.task) == ("queued", "mood")
        other = client.start_harvest("mood", "mood/words", corpus, rules="labels", columns={"text": "text"}, size=6)
        client.cancel_job(other.id)
        _work(workspace)
        done = client.job(job.id)
        assert (done.state, done.result["round"], done.result["taken"]) == ("done", "mood/1", 10), done.reason
        assert client.job(other.id).state == "cancelled"
        assert [one.title for one in client.rounds("mood")] == ["From data"]
        with pytest.raises(Conflict, match="thrown away"):
            raise _reason_of(client.start_harvest("mood", MODEL, corpus, rules="labels"), workspace, client)
    assert {item.source["rating"] for item in db.scalars(select(ValidationItem))} <= {1, 2, 3, 4, 5}


def _reason_of(job: Any, workspace: Workspace, client: Client) -> Conflict:
    """Throw the file of a job away, have a worker try it, and give why it failed."""
    with workspace.session() as db:
        path = workspace.blobs.passing(db.get_one(Job, job.id).params["kept"])
    assert path is not None
    path.unlink()
    _work(workspace)
    return Conflict(client.job(job.id).reason)


def test_another_worker_goes_on(
    workspace: Workspace, db: Session, owner: Actor, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that ends keeps what it did; the next asks about the rest, and the round is as it would have been."""
    monkeypatch.setattr(harvest_corpus, "ROWS", 8)
    wanted = HarvestRequest(MODEL, rules="labels", size=9)
    ask_harvest(db, workspace.blobs, owner, "mood", wanted, file=corpus)
    assert _work(workspace) >= 1
    first = {item.inputs["text"] for item in db.scalars(select(ValidationItem))}
    db.rollback()
    ask_harvest(db, workspace.blobs, owner, "mood", wanted, file=corpus)
    stop, pieces = threading.Event(), []
    monkeypatch.setattr(harvest_jobs._Work, "keep", _stopping(harvest_jobs._Work.keep, stop, pieces))
    run_next(workspace.session, workspace.blobs, job_handlers(), "first", stop)
    job = _newest(db)
    assert (job.state, job.checkpoint["state"]["pieces"]) == ("queued", 3)
    stop.clear()
    pieces.clear()
    run_next(workspace.session, workspace.blobs, job_handlers(), "second", threading.Event())
    job = _newest(db)
    assert (job.state, job.result["round"]) == ("done", "mood/2"), job.reason
    assert pieces[0] == 3  # those that were done are read once more, and counted
    second = {item.inputs["text"] for item in db.scalars(select(ValidationItem)) if item.id > len(first)}
    assert second == first


def _stopping(keep: Any, stop: threading.Event, pieces: list[int]) -> Any:
    """Keep as it does, and have the first worker end after three pieces."""

    def keep_and_stop(self: Any, state: Any) -> None:
        pieces.append(state().pieces)
        if len(pieces) == 3 and self.run.attempts == 1 and not self.run.checkpoint:
            stop.set()
        keep(self, state)

    return keep_and_stop


def test_only_owners_harvest(workspace: Workspace, db: Session, owner: Actor, corpus: Path) -> None:
    """Neither asking nor following is anybody else's."""
    worker = make_person(db, "sid", RoleName.WORKER)
    with pytest.raises(Forbidden):
        ask_harvest(db, workspace.blobs, worker, "mood", HarvestRequest(MODEL), file=corpus)
    job = ask_harvest(
        db, workspace.blobs, owner, "mood", HarvestRequest(MODEL, columns={"rating": "stars"}), file=corpus
    )
    with pytest.raises(Forbidden):
        find_harvest(db, worker, "mood", job.id)
    with pytest.raises(BadInput, match="no column 'grade'"):
        ask_harvest(db, workspace.blobs, owner, "mood", HarvestRequest(MODEL, columns={"rating": "grade"}), file=corpus)


def test_a_submitted_model_is_asked_everywhere(
    workspace: Workspace,
    db: Session,
    owner: Actor,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cli: Callable[..., Result],
) -> None:
    """A fine-tuned model runs apart: page, API, worker and command harvest with it, some texts in a call."""
    calls: list[int] = []

    def answer(version: Any, blobs: Any, batch: Sequence[Mapping[str, Any]]) -> list[Any]:
        calls.append(len(batch))
        return [next((label for label in LABELS if label in one["text"]), "neutral") for one in batch]

    monkeypatch.setattr(Workspace, "runners", property(lambda self: {**RUNNERS, "handler": answer}))
    add_models(db, workspace.blobs, owner, tmp_path, "tuned")
    db.commit()
    model = "mood/tuned@1"
    client = browser_of(workspace, "olga")
    assert f'<option value="{model}"' in client.get(PAGE).text
    form = {"csrf": csrf_of(client, PAGE), "model": model, "rule": "labels", "size": "6"}
    asked = client.post("/tasks/mood/harvests", data=form, files={"file": ("reviews.jsonl", corpus.read_bytes())})
    assert asked.status_code == 303, on_one_line(asked)
    ground = ("--workspace", workspace.settings.workspace)
    assert cli(*ground, "jobs", "run").exit_code == 0
    assert [info.spec.targets.models for info in list_rounds(db, owner, "mood")] == [(model,)]
    with running(workspace) as url, Client(url, token_for(workspace, "olga")) as distant:
        assert distant.start_harvest("mood", model, corpus, rules="labels", size=5).state == "queued"
    out = tmp_path / "out.jsonl"
    rules = tmp_path / "rules.toml"
    rules.write_text(NAMED_RULES["labels"])
    done = cli(*ground, "harvest", corpus, "--model", model, "--out", out, "--size", 6, "--rules", rules)
    assert done.exit_code == 0, done.stderr
    assert len(out.read_text().splitlines()) == 6
    assert max(calls) <= 64
