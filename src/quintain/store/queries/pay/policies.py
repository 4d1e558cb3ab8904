"""Questions about what owners promise and allow."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import PayPolicy


def newest(db: Session, task_id: int) -> PayPolicy | None:
    """Give the policy that holds for a task."""
    query = select(PayPolicy).where(PayPolicy.task_id == task_id).order_by(PayPolicy.id.desc()).limit(1)
    return db.scalar(query)
