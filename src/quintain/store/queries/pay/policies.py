"""Questions about what owners promise and allow."""

from __future__ import annotations

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from quintain.store.tables import PayPolicy

_NEWEST = select(PayPolicy).where(PayPolicy.task_id == bindparam("task_id")).order_by(PayPolicy.id.desc()).limit(1)


def newest(db: Session, task_id: int) -> PayPolicy | None:
    """Return the policy that holds for a task; None where none was set."""
    return db.scalar(_NEWEST, {"task_id": task_id})
