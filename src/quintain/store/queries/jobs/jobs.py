"""Questions about jobs, and the lease of one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, or_, select, text, update
from sqlalchemy.orm import Session, aliased

from quintain.core.cells import WAITING, CellState
from quintain.store.tables import Job

QUEUED, RUNNING = CellState.QUEUED.value, CellState.RUNNING.value
UNFINISHED = [state.value for state in WAITING]
# Asked by all who add to what a figure rests on. The state is a literal: SQLite sees that the index of these will do.
_WAITS = text(f"SELECT 1 FROM jobs WHERE kind = :kind AND subject = :subject AND state = '{QUEUED}'")  # noqa: S608 - a word of ours


def waiting(db: Session, kind: str, subject: str) -> Job | None:
    """Return the job of a kind and subject that nobody has begun."""
    return db.scalar(select(Job).where(Job.kind == kind, Job.subject == subject, Job.state == QUEUED))


def is_waiting(db: Session, kind: str, subject: str) -> bool:
    """Whether a job of a kind and subject waits."""
    return db.connection().execute(_WAITS, {"kind": kind, "subject": subject}).first() is not None


def newest(db: Session, kind: str, subject: str) -> Job | None:
    """Return the job of a kind and subject that was asked for last."""
    return db.scalar(select(Job).where(Job.kind == kind, Job.subject == subject).order_by(Job.id.desc()).limit(1))


def newest_ended(db: Session, kind: str, subject: str) -> Job | None:
    """Return the job of a kind and subject that was asked for last among those that are over."""
    over = (Job.kind == kind, Job.subject == subject, Job.state.not_in(UNFINISHED))
    return db.scalar(select(Job).where(*over).order_by(Job.id.desc()).limit(1))


def listed(db: Session, *, tasks: Collection[str] | None, unfinished: bool, limit: int) -> Sequence[Job]:
    """List jobs, the newest first; of *tasks*, or of all where there are None."""
    query = select(Job).order_by(Job.id.desc()).limit(limit)
    if tasks is not None:
        query = query.where(Job.task.in_(tasks), Job.task != "")
    if unfinished:
        query = query.where(Job.state.in_(UNFINISHED))
    return db.scalars(query).all()


def any_unfinished(db: Session, kinds: Collection[str]) -> bool:
    """Whether a job of *kinds* waits, also for its time, or is running and may come back to the queue."""
    return db.scalar(select(Job.id).where(Job.state.in_(UNFINISHED), Job.kind.in_(kinds)).limit(1)) is not None


def any_free(db: Session, kinds: Collection[str], now: datetime) -> bool:
    """Whether there is a job that a worker may take."""
    return db.scalar(select(Job.id).where(_free(now), Job.kind.in_(kinds)).limit(1)) is not None


def claim(db: Session, kinds: Collection[str], *, worker: str, now: datetime, until: datetime) -> Job | None:
    """Lease the oldest job of *kinds* that nobody holds. Inside a writing transaction.

    A job whose like is being done waits for it: what it would read is what that one writes.
    """
    other = aliased(Job)
    like = select(other.id).where(
        other.kind == Job.kind,
        other.subject == Job.subject,
        other.id != Job.id,
        other.state == RUNNING,
        other.lease_until > now,
    )
    query = select(Job).where(_free(now), Job.kind.in_(kinds), ~like.exists()).order_by(Job.id).limit(1)
    job: Job | None = db.scalar(query.with_for_update(of=Job, skip_locked=True))
    if job is not None:
        job.generation += 1
        job.attempts += 1
        job.state, job.worker, job.lease_until = RUNNING, worker, until
        job.started_at = now
        db.flush()
    return job


def update_held(db: Session, number: int, generation: int, **values: Any) -> bool:
    """Change a job for the holder of its newest lease; False where it is not ours any more, or was cancelled."""
    held = (Job.id == number, Job.generation == generation, Job.state == RUNNING)
    result = db.execute(update(Job).where(*held).values(**values).execution_options(synchronize_session=False))
    return bool(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE gives a CursorResult


def forget_older(db: Session, kind: str, subject: str, keep: int) -> None:
    """Remove the jobs of a kind and subject that are over, except for the newest *keep*."""
    over = (Job.kind == kind, Job.subject == subject, Job.state.not_in(UNFINISHED))
    last = db.scalar(select(Job.id).where(*over).order_by(Job.id.desc()).offset(keep).limit(1))
    if last is not None:
        db.execute(delete(Job).where(*over, Job.id <= last).execution_options(synchronize_session=False))


def _free(now: datetime) -> ColumnElement[bool]:
    waits = and_(Job.state == QUEUED, Job.not_before <= now)
    return or_(waits, and_(Job.state == RUNNING, Job.lease_until <= now))
