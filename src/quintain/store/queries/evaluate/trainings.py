"""Questions about trainings, and the lease of one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.orm import Session

from quintain.core.cells import WAITING, CellState
from quintain.store.tables import TaskRow, TrainingRow, User

QUEUED, RUNNING = CellState.QUEUED.value, CellState.RUNNING.value
UNFINISHED = [state.value for state in WAITING]
Found = tuple[TrainingRow, str, str | None]


def trainings(db: Session, task: str, *, number: int | None = None, limit: int = 100) -> Sequence[Found]:
    """Return the trainings of a task with its name and that of who started each, the newest first."""
    query = (
        select(TrainingRow, TaskRow.name, User.name)
        .join(TaskRow, TaskRow.id == TrainingRow.task_id)
        .outerjoin(User, User.id == TrainingRow.created_by)
        .where(TaskRow.name == task)
        .order_by(TrainingRow.id.desc())
        .limit(limit)
    )
    if number is not None:
        query = query.where(TrainingRow.id == number)
    return [(row, name, person) for row, name, person in db.execute(query)]


def task_name(db: Session, task_id: int) -> str:
    """Return the name of a training's task."""
    return db.get_one(TaskRow, task_id).name


def unfinished_of(db: Session, task_id: int, user_id: int | None) -> int:
    """Count the trainings of somebody that are not over."""
    own = (TrainingRow.task_id == task_id, TrainingRow.created_by == user_id, TrainingRow.state.in_(UNFINISHED))
    return db.scalar(select(func.count()).select_from(TrainingRow).where(*own)) or 0


def any_unfinished(db: Session, task: str | None) -> bool:
    """Whether a training waits, or is running and may come back to the queue."""
    query = select(TrainingRow.id).where(TrainingRow.state.in_(UNFINISHED))
    return db.scalar(_of(query, task).limit(1)) is not None


def any_waiting(db: Session, now: datetime, task: str | None) -> bool:
    """Whether there is a training that a worker may take."""
    return db.scalar(_of(select(TrainingRow.id).where(_free(now)), task).limit(1)) is not None


def claim(db: Session, *, worker: str, now: datetime, until: datetime, task: str | None) -> TrainingRow | None:
    """Lease the oldest training that nobody holds, of *task* or of any. Inside a writing transaction."""
    query = select(TrainingRow).where(_free(now)).order_by(TrainingRow.id).limit(1)
    training: TrainingRow | None = db.scalar(_of(query, task).with_for_update(of=TrainingRow, skip_locked=True))
    if training is not None:
        training.generation += 1
        training.attempts += 1
        training.state, training.worker, training.lease_until = RUNNING, worker, until
        training.started_at = training.started_at or now
        db.flush()
    return training


def update_held(db: Session, number: int, generation: int, **values: Any) -> bool:
    """Change a training for the holder of its newest lease; False where it is not ours any more, or was cancelled."""
    held = (TrainingRow.id == number, TrainingRow.generation == generation, TrainingRow.state == RUNNING)
    result = db.execute(update(TrainingRow).where(*held).values(**values).execution_options(synchronize_session=False))
    return bool(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE gives a CursorResult


def _of(query: Any, task: str | None) -> Any:
    if task is None:
        return query
    return query.where(TrainingRow.task_id == select(TaskRow.id).where(TaskRow.name == task).scalar_subquery())


def _free(now: datetime) -> ColumnElement[bool]:
    waits = and_(TrainingRow.state == QUEUED, or_(TrainingRow.lease_until.is_(None), TrainingRow.lease_until <= now))
    return or_(waits, and_(TrainingRow.state == RUNNING, TrainingRow.lease_until <= now))
