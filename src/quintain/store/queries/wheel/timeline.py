"""Queries for the timeline of a task."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import Round, TaskRow, Validation


class ValidationPlace(NamedTuple):
    """A validation of a task, with the number of its round."""

    name: str
    round: int | None
    created_at: datetime


def validations(db: Session, task: str) -> list[ValidationPlace]:
    """List the validations of a task, the oldest first."""
    query = (
        select(Validation.name, Round.number, Validation.created_at)
        .join(TaskRow, TaskRow.id == Validation.task_id)
        .outerjoin(Round, Round.id == Validation.round_id)
        .where(TaskRow.name == task)
        .order_by(Validation.id)
    )
    return [ValidationPlace(*row) for row in db.execute(query)]
