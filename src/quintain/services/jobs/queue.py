"""Asking for a job, following it, and cancelling it.

A job is asked for where a fact is written, inside the same transaction, or by somebody who wants its result. While one
of its kind and subject waits, asking again adds nothing: it will see what is new.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.core.errors import Conflict, NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records.jobs import JobList, JobStanding
from quintain.services.access import audit
from quintain.services.access.permissions import require_signed_in
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.jobs import jobs as queries
from quintain.store.tables import Job

LISTED = 200


def enqueue(
    db: Session,
    kind: str,
    subject: str,
    *,
    task: str = "",
    by: Actor | None = None,
    params: Mapping[str, Any] | None = None,
    rest: float = 0.0,
) -> JobStanding:
    """Have a worker do a job; give the one that waits already, where there is one.

    With *rest*, it begins no sooner than so many times as long after the last one as that one took: what new facts wake
    again and again leaves the machine to others in between.
    """
    waiting = queries.waiting(db, kind, subject)
    if waiting is not None:  # who only looks writes nothing
        return standing_of(waiting)
    with transaction(db):
        known = queries.waiting(db, kind, subject)
        if known is None:
            lock(db, f"job {kind} {subject}")
            known = queries.waiting(db, kind, subject)
        if known is None:
            known = Job(
                kind=kind,
                subject=subject,
                task=task,
                params=dict(params or {}),
                asked_by=by.user_id if by else None,
                not_before=now() + _pause(db, kind, subject, rest),
            )
            db.add(known)
            db.flush()
        return standing_of(known)


def _pause(db: Session, kind: str, subject: str, rest: float) -> timedelta:
    last = queries.newest_ended(db, kind, subject) if rest else None
    if last is None or last.started_at is None or last.finished_at is None:
        return timedelta()
    return max(last.finished_at + rest * (last.finished_at - last.started_at) - now(), timedelta())


def is_waiting(db: Session, kind: str, subject: str) -> bool:
    """Whether a job waits."""
    return queries.is_waiting(db, kind, subject)


def newest(db: Session, kind: str, subject: str) -> JobStanding | None:
    """Return the job of a kind and subject that was asked for last; who may see it has been asked by the caller."""
    row = queries.newest(db, kind, subject)
    return standing_of(row) if row else None


def get_job(db: Session, actor: Actor, number: int) -> JobStanding:
    """Return how far a job is, for who asked for it, the owners of its task, and admins; NotFound for others."""
    return standing_of(_find(db, actor, number))


def list_jobs(db: Session, actor: Actor, *, unfinished: bool = False) -> JobList:
    """List the newest jobs of the tasks that somebody owns; admins and owners of all tasks see all."""
    require_signed_in(actor)
    owns_all = actor.has(RoleName.OWNER)
    tasks = None if owns_all else {grant.task for grant in actor.grants if grant.role is RoleName.OWNER and grant.task}
    rows = queries.listed(db, tasks=tasks, unfinished=unfinished, limit=LISTED)
    return JobList(tuple(map(standing_of, rows)))


def cancel(db: Session, actor: Actor, number: int) -> JobStanding:
    """Cancel a job that is not over; what it has written so far stays."""
    with transaction(db):
        row = _find(db, actor, number)
        if CellState(row.state).ended:
            raise Conflict("Job {number} is over.", number=number)
        row.state, row.finished_at, row.lease_until = CellState.CANCELLED.value, now(), None
        audit.record(db, actor, "job.cancel", f"{row.kind} {row.subject}", job=row.id)
    return standing_of(row)


def _find(db: Session, actor: Actor, number: int) -> Job:
    require_signed_in(actor)
    row = db.get(Job, number, populate_existing=True)
    mine = row is not None and row.asked_by is not None and row.asked_by == actor.user_id
    owned = row is not None and actor.has(RoleName.OWNER, row.task or None)
    if row is None or not (mine or owned):
        raise NotFound("There is no job {number}.", number=number)
    return row


def standing_of(row: Job) -> JobStanding:
    """Return a job as others see it."""
    return JobStanding(
        id=row.id,
        kind=row.kind,
        subject=row.subject,
        task=row.task,
        state=row.state,
        done=row.done,
        total=row.total,
        asked_at=row.asked_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        reason=row.reason,
        result=row.result,
    )
