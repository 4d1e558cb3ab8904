"""Questions about boards: settings, forks, snapshots, and the data sets they show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.store.tables import BoardFork, BoardSettings, BoardSnapshot, Dataset, DatasetVersion, TaskRow


def newest_settings(db: Session, task: str) -> BoardSettings | None:
    """Give the settings of a task's board that hold now."""
    query = select(BoardSettings).join(TaskRow, TaskRow.id == BoardSettings.task_id).where(TaskRow.name == task)
    return db.scalar(query.order_by(BoardSettings.id.desc()).limit(1))


def evaluated_versions(
    db: Session, task: str, *, before: datetime | None = None
) -> Sequence[tuple[DatasetVersion, str]]:
    """List the newest version of each data set that is not for training, as it was at *before*, with its name."""
    number = select(func.max(DatasetVersion.number)).where(DatasetVersion.dataset_id == Dataset.id)
    if before is not None:
        number = number.where(DatasetVersion.created_at <= before)
    query = (
        select(DatasetVersion, Dataset.name)
        .join(Dataset, Dataset.id == DatasetVersion.dataset_id)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
        .where(
            TaskRow.name == task,
            DatasetVersion.role != "train",
            DatasetVersion.number == number.correlate(Dataset).scalar_subquery(),
        )
        .order_by(Dataset.name)
    )
    return [(version, name) for version, name in db.execute(query)]


def forks(db: Session, task_id: int) -> Sequence[BoardFork]:
    """List the views that are kept under a name."""
    query = select(BoardFork).where(BoardFork.task_id == task_id, BoardFork.deleted_at.is_(None))
    return db.scalars(query.order_by(BoardFork.name)).all()


def snapshots(db: Session, task_id: int) -> Sequence[BoardSnapshot]:
    """List a task's snapshots, newest first."""
    query = select(BoardSnapshot).where(BoardSnapshot.task_id == task_id)
    return db.scalars(query.order_by(BoardSnapshot.id.desc())).all()


def snapshot(db: Session, prefix: str) -> BoardSnapshot | None:
    """Give the snapshot whose hash begins with *prefix*."""
    return db.scalar(select(BoardSnapshot).where(BoardSnapshot.hash.startswith(prefix, autoescape=True)).limit(1))
