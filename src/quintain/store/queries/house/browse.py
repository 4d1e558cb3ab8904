"""Queries for looking around: how much a task holds, and data sets by name."""

from __future__ import annotations

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.store.tables import Dataset, DatasetVersion, TaskRow


def dataset_counts(db: Session) -> dict[str, tuple[int, int]]:
    """Count the data sets of each task, and the examples in the newest version of each."""
    newest = (
        select(DatasetVersion.dataset_id, func.max(DatasetVersion.number).label("number"))
        .group_by(DatasetVersion.dataset_id)
        .subquery()
    )
    query = (
        select(TaskRow.name, func.count(Dataset.id), func.sum(DatasetVersion.rows))
        .join(Dataset, Dataset.task_id == TaskRow.id)
        .join(newest, newest.c.dataset_id == Dataset.id)
        .join(DatasetVersion, (DatasetVersion.dataset_id == Dataset.id) & (DatasetVersion.number == newest.c.number))
        .group_by(TaskRow.name)
    )
    return {task: (int(sets), int(rows or 0)) for task, sets, rows in db.execute(query)}


def datasets_named(db: Session, word: str, limit: int) -> list[tuple[str, str]]:
    """List task and name of the data sets of tasks in use whose name contains *word*."""
    query = (
        select(TaskRow.name, Dataset.name)
        .join(Dataset, Dataset.task_id == TaskRow.id)
        .where(Dataset.name.icontains(word, autoescape=True), TaskRow.archived_at.is_(None))
        .order_by(TaskRow.name, Dataset.name)
        .limit(limit)
    )
    return [(task, name) for task, name in db.execute(query)]
