"""How much somebody has judged, and how long it takes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import Judgement, JudgingPage, TaskRow, Validation


def recent_seconds(db: Session, validation_id: int, user_id: int | None = None, limit: int = 500) -> list[float]:
    """Return the seconds of the newest judgements of a validation, or of one person's."""
    query = select(Judgement.seconds).where(Judgement.validation_id == validation_id, Judgement.seconds.is_not(None))
    if user_id is not None:
        query = query.where(Judgement.user_id == user_id)
    times = db.scalars(query.order_by(Judgement.id.desc()).limit(limit))
    return [seconds for seconds in times if seconds is not None]


def handed_in_since(db: Session, validation_id: int, user_id: int, since: datetime) -> bool:
    """Whether somebody has handed in a page of a validation since then."""
    mine = (JudgingPage.validation_id == validation_id, JudgingPage.user_id == user_id)
    query = select(JudgingPage.id).where(*mine, JudgingPage.outcome == "submitted", JudgingPage.ended_at >= since)
    return db.scalar(query.limit(1)) is not None


def name_of(db: Session, validation_id: int) -> str:
    """Return the name that means a validation: `task/name`."""
    query = select(TaskRow.name, Validation.name).join(TaskRow, TaskRow.id == Validation.task_id)
    task, name = db.execute(query.where(Validation.id == validation_id)).one()
    return f"{task}/{name}"
