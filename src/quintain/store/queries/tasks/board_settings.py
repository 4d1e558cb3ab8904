"""Queries on what an owner sets for a board, and on the data sets that can score on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.store.tables import (
    BoardSettings,
    Dataset,
    DatasetVersion,
    TaskRow,
)


def newest_settings(db: Session, task: str, at: datetime | None = None) -> BoardSettings | None:
    """Return the settings of a task's board that hold now, or held at a moment."""
    query = select(BoardSettings).join(TaskRow, TaskRow.id == BoardSettings.task_id).where(TaskRow.name == task)
    if at is not None:
        query = query.where(BoardSettings.created_at <= at)
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
