"""Trainings that workers do: a recipe is looked at when it is started, then trained in the background.

It can be followed and cancelled. A worker that ends, or dies, leaves what it has done behind, and the next one on that
machine goes on with it.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, QuintainError, reason_of
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records import training as records
from quintain.core.records.base import decode, to_json
from quintain.core.texts import Text
from quintain.core.untrusted import storable
from quintain.services.access import audit
from quintain.services.access.actors import actor_of
from quintain.services.access.notify import notify
from quintain.services.access.permissions import require_role
from quintain.services.evaluate.cells.run_cell import Sessions
from quintain.services.evaluate.submissions.submit import SubmissionRules
from quintain.services.evaluate.training.train_recipe import TrainingPlace, look_at_recipe, parse_recipe, train_recipe
from quintain.services.jobs.lease import BEAT_SECONDS, LEASE_SECONDS, lease_kept
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import trainings as queries
from quintain.store.tables import TrainingRow, User

AT_ONCE = 5  # trainings of one person and task that are not over
MAX_ATTEMPTS = 5
REASON_CHARACTERS = 4_000
ROLES = (RoleName.BUILDER, RoleName.OWNER)

log = logging.getLogger("quintain.worker")


@dataclass(frozen=True, slots=True)
class Trainer:
    """What a worker needs to train: where, and the rules that models are held to."""

    place: TrainingPlace
    rules: SubmissionRules


def start(db: Session, blobs: Blobs, actor: Actor, task: str, text: str, trainer: Trainer) -> records.Training:
    """Queue the recipe in *text*; what is wrong with it, or missing, is said now."""
    require_role(actor, *ROLES, task=task)
    recipe = parse_recipe(text)
    if recipe.task != task:
        raise BadInput("The recipe is for task '{other}', not for '{task}'.", other=recipe.task, task=task)
    look_at_recipe(db, blobs, actor, recipe, folders=trainer.place, rules=trainer.rules)
    with transaction(db):
        task_id = find_row(db, task).id
        if queries.unfinished_of(db, task_id, actor.user_id) >= AT_ONCE:
            raise Conflict(
                "{n} of your trainings for task '{task}' are not over yet.",
                n=AT_ONCE,
                task=task,
                remedy="Wait for one, or cancel it.",
            )
        row = TrainingRow(task_id=task_id, name=recipe.name, recipe=text, created_by=actor.user_id)
        db.add(row)
        db.flush()
        audit.record(db, actor, "training.start", f"{task}/{recipe.name}", training=row.id)
    return get_training(db, actor, task, row.id)


def list_trainings(db: Session, actor: Actor, task: str) -> records.Trainings:
    """List the trainings of a task that *actor* may see, the newest first: owners all, builders their own."""
    require_role(actor, *ROLES, task=task)
    return records.Trainings([_record(training) for training in queries.trainings(db, task) if _may(actor, training)])


def get_training(db: Session, actor: Actor, task: str, number: int) -> records.Training:
    """Return one training; NotFound where *actor* may not know of it."""
    return _record(_find_training(db, actor, task, number))


def cancel(db: Session, actor: Actor, task: str, number: int) -> records.Training:
    """Cancel a training; one that is running stops within seconds, and what it has done is lost."""
    with transaction(db):
        row, _, _ = _find_training(db, actor, task, number)
        if CellState(row.state).ended:
            raise Conflict("Training {number} is over already.", number=number)
        row.state, row.finished_at, row.lease_until = CellState.CANCELLED.value, now(), None
        row.generation += 1
        audit.record(db, actor, "training.cancel", f"{task}/{row.name}", training=number)
    return get_training(db, actor, task, number)


def _find_training(db: Session, actor: Actor, task: str, number: int) -> queries.Found:
    require_role(actor, *ROLES, task=task)
    rows = queries.trainings(db, task, number=number)
    if not rows:
        raise NotFound("Task '{task}' has no training {number}.", task=task, number=number)
    if not _may(actor, rows[0]):
        raise Forbidden("Training {number} is somebody else's.", number=number)
    return rows[0]


def _may(actor: Actor, training: queries.Found) -> bool:
    row, task, _ = training
    return actor.has(RoleName.OWNER, task) or (actor.user_id is not None and row.created_by == actor.user_id)


def _record(training: queries.Found) -> records.Training:
    row, task, person = training
    return records.Training(
        row.id,
        task,
        row.name,
        row.state,
        row.progress,
        row.reason,
        row.recipe,
        person,
        row.created_at,
        row.started_at,
        row.finished_at,
        decode(records.TrainingResult, row.result) if row.result else None,
    )


class _Ended(Exception):
    """The training in hand was cancelled, taken by another worker, or is to be left to one."""


@dataclass(slots=True)
class _Held:
    """A training in hand: how far it is, and whether it is still ours."""

    number: int
    generation: int
    attempts: int
    done: float = 0.0
    lost: threading.Event = field(default_factory=threading.Event)


def train_next(
    sessions: Sessions,
    blobs: Blobs,
    trainer: Trainer,
    worker: str,
    stop: threading.Event,
    *,
    task: str | None = None,
    tell: Callable[[str], None] = log.info,
) -> bool:
    """Train the recipe whose turn it is; False where there is none. When *stop* is set it is left to the next one."""
    with sessions() as db:
        if not queries.any_waiting(db, now(), task):
            return False
    with sessions() as db, transaction(db):
        until = now() + timedelta(seconds=LEASE_SECONDS)
        row = queries.claim(db, worker=worker, now=now(), until=until, task=task)
        if row is None:
            return False
        held, text, person = _Held(row.id, row.generation, row.attempts), row.recipe, row.created_by
    tell(f"training {held.number}")
    if held.attempts > MAX_ATTEMPTS:
        _end(sessions, held, CellState.FAILED, reason=f"Its worker was lost {MAX_ATTEMPTS} times.")
    else:
        _train(sessions, blobs, trainer, held, stop, text=text, person=person)
    return True


def _train(
    sessions: Sessions,
    blobs: Blobs,
    trainer: Trainer,
    held: _Held,
    stop: threading.Event,
    *,
    text: str,
    person: int | None,
) -> None:
    """Train what is in hand, as the person who started it, and record how that went."""

    def progress(done: float) -> None:
        held.done = done
        if held.lost.is_set() or stop.is_set():
            raise _Ended

    def prolong(db: Session, until: datetime) -> bool:
        return queries.update_held(db, held.number, held.generation, lease_until=until, progress=round(held.done, 4))

    with lease_kept(sessions, f"training {held.number}", prolong, lost=held.lost, every=BEAT_SECONDS):
        try:
            with sessions() as db:
                actor = OPERATOR if person is None else actor_of(db, db.get_one(User, person))
                result = train_recipe(
                    db, blobs, actor, parse_recipe(text), folders=trainer.place, rules=trainer.rules, progress=progress
                )
        except _Ended:
            if not held.lost.is_set():
                _back(sessions, held)
        except (QuintainError, SQLAlchemyError, OSError) as error:
            _end(sessions, held, CellState.FAILED, reason=reason_of(error))
        except Exception as error:  # one bad training must not end the worker
            log.exception("training %d failed", held.number)
            _end(sessions, held, CellState.FAILED, reason=f"{type(error).__name__}: {error}")
        else:
            _end(sessions, held, CellState.DONE, result=result)


def _end(
    sessions: Sessions,
    held: _Held,
    state: CellState,
    *,
    reason: str = "",
    result: records.TrainingResult | None = None,
) -> None:
    """Write down how a training ended, and tell who started it."""
    values = {
        "state": state.value,
        "reason": storable(reason, REASON_CHARACTERS),
        "result": json.loads(to_json(result)) if result else None,
        "finished_at": now(),
        "lease_until": None,
        **({"progress": 1.0} if result else {}),
    }
    with sessions() as db, transaction(db):
        if not queries.update_held(db, held.number, held.generation, **values):
            return
        row = db.get_one(TrainingRow, held.number)
        if row.created_by is not None:
            task = queries.task_name(db, row.task_id)
            words = (
                Text("{name} is trained.", name=row.name)
                if result
                else Text("The training of {name} failed: {reason}", name=row.name, reason=values["reason"])
            )
            notify(db, row.created_by, "training", words, f"/tasks/{task}/trainings/{row.id}")


def _back(sessions: Sessions, held: _Held) -> None:
    """Put the training back into the queue: a worker that ends on purpose is no failed attempt."""
    values = {"state": CellState.QUEUED.value, "lease_until": None, "attempts": held.attempts - 1}
    with sessions() as db, transaction(db):
        queries.update_held(db, held.number, held.generation, **values)
