"""Questions about uploads, and about how much somebody has submitted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, exists, func, or_, select
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN, CellState
from quintain.store.queries.models.tried import refused
from quintain.store.tables import Cell, Model, ModelVersion, TaskRow, Upload


def upload(db: Session, upload_id: str, *, lock: bool = False) -> Upload | None:
    """Return the upload *upload_id*; with *lock*, nobody else changes it until the transaction ends."""
    query = select(Upload).where(Upload.id == upload_id)
    return db.scalar(query.with_for_update().execution_options(populate_existing=True) if lock else query)


def uploads_of(db: Session, user_id: int) -> Sequence[Upload]:
    """List the uploads of one person, oldest first."""
    return db.scalars(select(Upload).where(Upload.user_id == user_id).order_by(Upload.created_at)).all()


def uploads_before(db: Session, moment: datetime) -> Sequence[Upload]:
    """List the uploads that were begun before *moment*."""
    return db.scalars(select(Upload).where(Upload.created_at < moment)).all()


def remove_upload(db: Session, upload_id: str) -> None:
    """Forget an upload."""
    db.execute(delete(Upload).where(Upload.id == upload_id))


def submitted_since(db: Session, user_id: int, task: str, moment: datetime, *, excused: str) -> int:
    """Count the versions that somebody has submitted to *task* since *moment*.

    A version with a cell that failed for the reason *excused*, through no fault of its own, does not count, unless it
    has answered a data set all the same: then its builder has learned how well. One that was refused when it was tried
    does not count either; one that failed by its own fault does.
    """
    failed = exists().where(
        Cell.model_version_id == ModelVersion.id,
        Cell.state == CellState.FAILED,
        Cell.reason.startswith(excused, autoescape=True),
    )
    answered = exists().where(
        Cell.model_version_id == ModelVersion.id, Cell.state == CellState.DONE, Cell.variant == PLAIN
    )
    query = (
        select(func.count())
        .select_from(ModelVersion)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(ModelVersion.created_by == user_id, TaskRow.name == task, ModelVersion.created_at >= moment)
        .where(or_(~failed, answered), ~refused())
    )
    return db.scalar(query) or 0
