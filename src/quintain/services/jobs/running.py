"""Doing jobs: a worker leases one, keeps the lease alive, says how far it is, and writes down what came of it.

A worker that dies leaves its lease to run out; the next one goes on from the checkpoint.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.core.errors import QuintainError, reason_of
from quintain.core.people import OPERATOR, Actor
from quintain.core.untrusted import storable
from quintain.engine.loops import Each, Loop, LoopBook, LoopEnd
from quintain.services.access.actors import actor_of
from quintain.services.jobs.lease import LEASE_SECONDS, Sessions, lease_kept
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.jobs import jobs as queries
from quintain.store.tables import User

IDLE_SECONDS = 1.0
LONGEST_PAUSE_S = 60.0
MAX_ATTEMPTS = 5
KEPT = 5  # jobs of a kind and subject that are over
REASON_CHARACTERS = 4_000

log = logging.getLogger("quintain.jobs")


class JobEnded(Exception):
    """The job in hand is to be left: it was cancelled, is somebody else's now, or the worker is to end."""


@dataclass(slots=True)
class JobRun:
    """A job in hand: what it is about, what it works with, and how it says how far it is."""

    number: int
    generation: int
    attempts: int
    kind: str
    subject: str
    params: Mapping[str, Any]
    checkpoint: Mapping[str, Any]
    sessions: Sessions
    blobs: Blobs
    stop: threading.Event
    done: int = 0
    total: int = 0
    asked_by: int | None = None
    lost: threading.Event = field(default_factory=threading.Event)

    def report_progress(self, done: int, total: int) -> None:
        """Note how far it is; raises JobEnded where nobody wants it any more."""
        self.done, self.total = done, total
        if self.lost.is_set() or self.stop.is_set():
            raise JobEnded

    def asker(self, db: Session) -> Actor:
        """Return who asked for it, with the roles that they have now; the operator where no person did."""
        user = db.get(User, self.asked_by) if self.asked_by is not None else None
        return actor_of(db, user) if user is not None else OPERATOR

    def save(self, checkpoint: Mapping[str, Any]) -> None:
        """Write down from where another worker would go on."""
        with self.sessions() as db, transaction(db):
            self.save_within(db, checkpoint)

    def save_within(self, db: Session, checkpoint: Mapping[str, Any]) -> None:
        """Write that down with what was done, in one transaction: a job that is not ours any more undoes both."""
        if not queries.update_held(db, self.number, self.generation, checkpoint=dict(checkpoint)):
            raise JobEnded


Handler = Callable[[JobRun], Mapping[str, Any] | None]
Handlers = Mapping[str, Handler]


def run_next(
    sessions: Sessions,
    blobs: Blobs,
    handlers: Handlers,
    worker: str,
    stop: threading.Event,
    *,
    busy: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> bool:
    """Do the job whose turn it is; False where there is none. *busy* is entered while it is done."""
    with sessions() as db:
        if not queries.any_free(db, handlers.keys(), now()):
            return False
    with sessions() as db, transaction(db):
        until = now() + timedelta(seconds=LEASE_SECONDS)
        row = queries.claim(db, handlers.keys(), worker=worker, now=now(), until=until)
        if row is None:
            return False
        run = JobRun(
            row.id,
            row.generation,
            row.attempts,
            row.kind,
            row.subject,
            row.params,
            row.checkpoint,
            sessions,
            blobs,
            stop,
            row.done,
            row.total,
            row.asked_by,
        )
    if run.attempts > MAX_ATTEMPTS:
        _end(run, CellState.FAILED, reason=f"Its worker was lost {MAX_ATTEMPTS} times.")
        return True
    with busy():
        _run(run, handlers[run.kind])
    return True


def run_all(sessions: Sessions, blobs: Blobs, handlers: Handlers, *, worker: str = "here") -> int:
    """Do every job that may be done now; give how many."""
    number = 0
    while run_next(sessions, blobs, handlers, worker, threading.Event()):
        number += 1
    return number


def keep_running(
    sessions: Sessions,
    blobs: Blobs,
    handlers: Handlers,
    worker: str,
    stop: threading.Event,
    *,
    until_empty: bool = False,
    busy: Callable[[], AbstractContextManager[Any]] = nullcontext,
    book: LoopBook | None = None,
) -> None:
    """Do jobs until *stop* is set or, with *until_empty*, none is left. What goes wrong around them is tried again.

    How that goes on is written into the *book* of this process.
    """

    def step(each: Each) -> float:
        if run_next(sessions, blobs, handlers, worker, stop, busy=busy):
            return 0.0
        if until_empty and not _any_left(sessions, handlers):
            raise LoopEnd
        return IDLE_SECONDS

    loop = Loop("jobs", step, every=IDLE_SECONDS, longest=LONGEST_PAUSE_S, logger=log)
    with (book or LoopBook()).holding(loop):
        loop.run(stop)


def _any_left(sessions: Sessions, handlers: Handlers) -> bool:
    with sessions() as db:
        return queries.any_unfinished(db, handlers.keys())


def _run(run: JobRun, handler: Handler) -> None:
    log.info("job %d: %s %s", run.number, run.kind, run.subject)

    def prolong(db: Session, until: datetime) -> bool:
        values = {"lease_until": until, "done": run.done, "total": run.total}
        return queries.update_held(db, run.number, run.generation, **values)

    with lease_kept(run.sessions, f"job {run.number}", prolong, lost=run.lost):
        try:
            result = handler(run)
        except JobEnded:
            if not run.lost.is_set():
                _back(run)
        except (QuintainError, SQLAlchemyError, OSError) as error:
            log.warning("job %d failed: %s", run.number, error)
            _end(run, CellState.FAILED, reason=reason_of(error))
        except Exception as error:  # one bad job must not end the worker
            log.exception("job %d failed", run.number)
            _end(run, CellState.FAILED, reason=f"{type(error).__name__}: {error}")
        else:
            _end(run, CellState.DONE, result=result)


def _end(run: JobRun, state: CellState, *, reason: str = "", result: Mapping[str, Any] | None = None) -> None:
    """Write down how a job ended."""
    values = {
        "state": state.value,
        "reason": storable(reason, REASON_CHARACTERS),
        "result": dict(result or {}),
        "finished_at": now(),
        "lease_until": None,
        "done": max(run.done, run.total) if state is CellState.DONE else run.done,
        "total": run.total,
    }
    with run.sessions() as db, transaction(db):
        if queries.update_held(db, run.number, run.generation, **values):
            queries.forget_older(db, run.kind, run.subject, KEPT)


def _back(run: JobRun) -> None:
    """Put a job back into the queue, unless its like waits there already: ending on purpose is no failed attempt."""
    with run.sessions() as db, transaction(db):
        waits = queries.waiting(db, run.kind, run.subject) is not None
        state = CellState.CANCELLED if waits else CellState.QUEUED
        values = {"state": state.value, "lease_until": None, "attempts": run.attempts - 1}
        queries.update_held(db, run.number, run.generation, **values)
