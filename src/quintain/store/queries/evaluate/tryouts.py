"""Questions about trials of models, and the lease of one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, or_, select, update
from sqlalchemy.orm import Session

from quintain.store.queries.models.tried import QUEUED
from quintain.store.tables import Model, ModelVersion, TaskRow, Tryout


def any_waiting(db: Session, now: datetime) -> bool:
    """Whether there is a trial that a worker may take."""
    return db.scalar(select(Tryout.version_id).where(Tryout.state == QUEUED, _free(now)).limit(1)) is not None


def _free(now: datetime) -> ColumnElement[bool]:
    return or_(Tryout.lease_until.is_(None), Tryout.lease_until <= now)


def claim(db: Session, *, worker: str, now: datetime, until: datetime, task: str | None) -> Tryout | None:
    """Lease the oldest trial that nobody holds, of *task* or of any. Inside a writing transaction."""
    query = (
        select(Tryout)
        .join(ModelVersion, ModelVersion.id == Tryout.version_id)
        .join(Model, Model.id == ModelVersion.model_id)
        .where(
            Tryout.state == QUEUED,
            _free(now),
            ModelVersion.withdrawn_at.is_(None),
        )
        .order_by(Tryout.version_id)
        .limit(1)
        .with_for_update(of=Tryout, skip_locked=True)
    )
    if task is not None:
        query = query.where(Model.task_id == select(TaskRow.id).where(TaskRow.name == task).scalar_subquery())
    tryout = db.scalar(query)
    if tryout is not None:
        tryout.generation += 1
        tryout.attempts += 1
        tryout.worker = worker
        tryout.lease_until = until
        db.flush()
    return tryout


def update_held(db: Session, version_id: int, generation: int, **values: Any) -> bool:
    """Change a trial for the holder of its newest lease; False where it is not ours any more."""
    held = (Tryout.version_id == version_id, Tryout.generation == generation, Tryout.state == QUEUED)
    result = db.execute(update(Tryout).where(*held).values(**values).execution_options(synchronize_session=False))
    return bool(result.rowcount)  # type: ignore[attr-defined]  # an UPDATE gives a CursorResult
