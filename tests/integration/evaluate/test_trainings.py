"""Trainings by workers: started on the page or by a program, followed, cancelled, and gone on with."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor
from quintain.data.plan import ImportPlan
from quintain.reports.line_charts import line_chart
from quintain.services.data.datasets import import_dataset
from quintain.services.evaluate.submissions.submit import SubmissionRules
from quintain.services.evaluate.training import trainings
from quintain.services.evaluate.training.train_recipe import TrainingPlace
from quintain.services.evaluate.training.trainings import Trainer, train_next
from quintain.services.models import registry as models
from quintain.services.tasks.definitions import put_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import TrainingRow

TASK = """
name = "mood"
kind = "text-classification"
title = "Mood"
labels = ["negative", "positive"]
"""
RECIPE = 'task = "mood"\nname = "next"\ndev = ["mood/dev"]\n[[mix]]\ndata = "mood/train"\n'


@pytest.fixture
def trainer(db: Session, blobs: Blobs, tmp_path: Path) -> Trainer:
    """A task with data to train on, and a place to train in."""
    put_task(db, OPERATOR, TASK)
    for role in ("train", "dev"):
        rows = [
            {"text": f"{word} {n} {role}", "answer": label}
            for n in range(20)
            for word, label in (("great", "positive"), ("awful", "negative"))
        ]
        path = tmp_path / f"{role}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_dataset(db, blobs, OPERATOR, "mood", role, path, ImportPlan(role=role))
    return Trainer(TrainingPlace(tmp_path / "training"), SubmissionRules())


def take(workspace: Workspace, trainer: Trainer, stop: threading.Event | None = None) -> bool:
    """Let a worker take the next training."""
    return train_next(workspace.session, workspace.blobs, trainer, "worker:1:a", stop or threading.Event())


def test_a_worker_trains_what_somebody_started(
    workspace: Workspace, db: Session, blobs: Blobs, builder: Actor, worker: Actor, trainer: Trainer
) -> None:
    """From queued to done, as the person who started it; the result has the version, and others do not see it."""
    with pytest.raises(Forbidden):
        trainings.start(db, blobs, worker, "mood", RECIPE, trainer)
    made = trainings.start(db, blobs, builder, "mood", RECIPE, trainer)
    assert (made.state, made.progress, made.name) == ("queued", 0.0, "next")
    assert take(workspace, trainer)
    assert not take(workspace, trainer)
    db.rollback()
    db.expire_all()
    done = trainings.get_training(db, builder, "mood", made.id)
    assert (done.state, done.progress) == ("done", 1.0)
    assert done.result is not None
    assert [one.ref for one in done.result.models] == ["mood/next@1"]
    assert done.result.cells > 0
    assert models.get_model(db, OPERATOR, "mood/next").owner == builder.name
    with pytest.raises(Conflict, match="over already"):
        trainings.cancel(db, builder, "mood", made.id)
    with pytest.raises(NotFound):
        trainings.get_training(db, builder, "mood", 99)


def test_what_is_wrong_is_said_when_it_is_started(
    db: Session, blobs: Blobs, builder: Actor, owner: Actor, trainer: Trainer
) -> None:
    """A recipe of another task, with data that is not there, or a training too many: nothing is queued."""
    with pytest.raises(BadInput, match="is for task 'other'"):
        trainings.start(db, blobs, builder, "mood", RECIPE.replace('"mood"', '"other"'), trainer)
    with pytest.raises(NotFound):
        trainings.start(db, blobs, builder, "mood", RECIPE.replace("mood/train", "mood/none"), trainer)
    assert trainings.list_trainings(db, owner, "mood").trainings == []
    for _ in range(trainings.AT_ONCE):
        trainings.start(db, blobs, builder, "mood", RECIPE, trainer)
    with pytest.raises(Conflict, match="not over yet"):
        trainings.start(db, blobs, builder, "mood", RECIPE, trainer)
    assert len(trainings.list_trainings(db, owner, "mood").trainings) == trainings.AT_ONCE


def test_a_cancelled_training_stops_and_makes_no_model(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled while it runs, it ends at the next report of progress and leaves no version."""
    made = trainings.start(db, blobs, owner, "mood", RECIPE, trainer)
    monkeypatch.setattr(trainings, "BEAT_SECONDS", 0.01)

    def slow(*_: Any, progress: Any, **__: Any) -> None:
        with workspace.session() as other:
            trainings.cancel(other, owner, "mood", made.id)
        for _number in range(10_000):
            progress(0.5)
            threading.Event().wait(0.01)
        raise AssertionError("it went on")

    monkeypatch.setattr(trainings, "train_recipe", slow)
    assert take(workspace, trainer)
    db.rollback()
    db.expire_all()
    assert trainings.get_training(db, owner, "mood", made.id).state == "cancelled"
    assert models.list_models(db, OPERATOR) == []


def test_a_worker_that_ends_leaves_the_training_to_the_next(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, trainer: Trainer
) -> None:
    """Stopped on purpose it goes back to the queue; one whose lease has lapsed is taken; both end as one training."""
    made = trainings.start(db, blobs, owner, "mood", RECIPE, trainer)
    stopped = threading.Event()
    stopped.set()
    assert take(workspace, trainer, stopped)
    db.rollback()
    db.expire_all()
    assert trainings.get_training(db, owner, "mood", made.id).state == "queued"
    with transaction(db):
        row = db.get_one(TrainingRow, made.id)
        row.state, row.lease_until = "running", row.created_at
    assert take(workspace, trainer)
    db.rollback()
    db.expire_all()
    assert trainings.get_training(db, owner, "mood", made.id).state == "done"


def test_a_training_that_fails_says_why(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, trainer: Trainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the recipe that shows only now, and one of ours: the worker goes on, the reason is kept."""
    for error in (BadInput("No example of the mix is left."), ZeroDivisionError("ours")):
        made = trainings.start(db, blobs, owner, "mood", RECIPE, trainer)

        def fail(*_: Any, error: Exception = error, **__: Any) -> None:
            raise error

        monkeypatch.setattr(trainings, "train_recipe", fail)
        assert take(workspace, trainer)
        db.rollback()
        db.expire_all()
        found = trainings.get_training(db, owner, "mood", made.id)
        assert found.state == "failed"
        assert str(error).split(" ")[0] in found.reason


def test_curves_are_drawn_by_class() -> None:
    """A line for each class over the sizes, told apart by dash as well."""
    rows = [{"size": 0, "f1": 0.5, "class": "a", "n": None}]
    chart = line_chart(rows, x="size", y="f1", series="class", titles=("n", "F1", "c"))
    encoding = chart["layer"][0]["encoding"]
    assert encoding["strokeDash"]["field"] == encoding["color"]["field"] == "class"
    assert chart["data"]["values"] == rows
