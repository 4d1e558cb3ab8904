"""Questions about what owners answered for datasheets."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import DatasheetAnswers


def newest(db: Session, task_id: int) -> DatasheetAnswers | None:
    """Return the answers that hold for a task; None where none were given."""
    query = select(DatasheetAnswers).where(DatasheetAnswers.task_id == task_id)
    return db.scalar(query.order_by(DatasheetAnswers.id.desc()).limit(1))
