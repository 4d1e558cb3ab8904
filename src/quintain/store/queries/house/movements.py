"""Queries for the front page: what moved each task last, and how many models there are."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from quintain.store.tables import Model, ModelVersion, ReleaseRow, TaskRow, Validation


def newest_releases(db: Session) -> dict[str, tuple[str, datetime]]:
    """Return the newest release of each task: the name of its validation, and when it was made."""
    newest = (
        select(func.max(ReleaseRow.id))
        .join(Validation, Validation.id == ReleaseRow.validation_id)
        .group_by(Validation.task_id)
    )
    query = (
        select(TaskRow.name, Validation.name, ReleaseRow.created_at)
        .join(Validation, Validation.id == ReleaseRow.validation_id)
        .join(TaskRow, TaskRow.id == Validation.task_id)
        .where(ReleaseRow.id.in_(newest))
    )
    return {task: (name, at) for task, name, at in db.execute(query)}


def newest_models(db: Session) -> dict[str, tuple[str, datetime]]:
    """Return the newest model of each task that everybody may see, and when its version came."""
    newest = (
        select(func.max(ModelVersion.id))
        .join(Model, Model.id == ModelVersion.model_id)
        .where(Model.visibility != "private", ModelVersion.withdrawn_at.is_(None))
        .group_by(Model.task_id)
    )
    query = (
        select(TaskRow.name, Model.name, ModelVersion.created_at)
        .join(Model, Model.id == ModelVersion.model_id)
        .join(TaskRow, TaskRow.id == Model.task_id)
        .where(ModelVersion.id.in_(newest))
    )
    return {task: (name, at) for task, name, at in db.execute(query)}


def model_counts(db: Session, user_id: int | None, owned: Collection[str] | None) -> dict[str, int]:
    """Count the models of each task that somebody may see: public ones, their own, all of the tasks they own.

    *owned* is None for those who own every task.
    """
    query = (
        select(TaskRow.name, func.count())
        .join(Model, Model.task_id == TaskRow.id)
        .where(select(ModelVersion.id).where(ModelVersion.model_id == Model.id).exists())
        .group_by(TaskRow.name)
    )
    if owned is not None:
        seen = [Model.visibility != "private", TaskRow.name.in_(owned)]
        query = query.where(or_(*seen, *([] if user_id is None else [Model.owner_id == user_id])))
    return {str(task): int(count) for task, count in db.execute(query)}
