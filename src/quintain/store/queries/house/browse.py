"""Queries for looking around: how much a task holds, and what was found of it that is in use."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.store.queries.models.models import ModelSight
from quintain.store.tables import Dataset, DatasetVersion, Model, Round, RoundVersion, TaskRow


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


def tasks_in_use(db: Session, ids: Sequence[int]) -> dict[int, str]:
    """Name those of the tasks that are not archived."""
    query = select(TaskRow.id, TaskRow.name).where(TaskRow.id.in_(ids), TaskRow.archived_at.is_(None))
    return {row.id: row.name for row in db.execute(query)}


def datasets_in_use(db: Session, ids: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    """Return task and name of those of the data sets whose task is not archived."""
    query = (
        select(Dataset.id, TaskRow.name, Dataset.name)
        .join(TaskRow, TaskRow.id == Dataset.task_id)
        .where(Dataset.id.in_(ids), TaskRow.archived_at.is_(None))
    )
    return {number: [(task, name)] for number, task, name in db.execute(query)}


def models_seen(db: Session, sight: ModelSight, ids: Sequence[int]) -> dict[int, list[tuple[str, str]]]:
    """Return task and name of those of the models that are seen, in tasks that are not archived."""
    query = (
        select(Model.id, TaskRow.name, Model.name)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(Model.id.in_(ids), TaskRow.archived_at.is_(None), sight.sees())
    )
    return {number: [(task, name)] for number, task, name in db.execute(query)}


def rounds_in_use(db: Session, ids: Sequence[int]) -> list[tuple[Round, RoundVersion, str]]:
    """Return those of the rounds whose task is not archived, each with its newest version and the task's name."""
    newest = (
        select(func.max(RoundVersion.number))
        .where(RoundVersion.round_id == Round.id)
        .correlate(Round)
        .scalar_subquery()
    )
    query = (
        select(Round, RoundVersion, TaskRow.name)
        .join(TaskRow, TaskRow.id == Round.task_id)
        .join(RoundVersion, (RoundVersion.round_id == Round.id) & (RoundVersion.number == newest))
        .where(Round.id.in_(ids), TaskRow.archived_at.is_(None))
    )
    return [(row, version, task) for row, version, task in db.execute(query)]
