"""Items that people were given to grade, and what they graded before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import CrowdEvent, CrowdLease


def of_person(db: Session, arm_ids: Sequence[int], user_id: int) -> Sequence[CrowdLease]:
    """List what somebody was given to grade and has not handed in, the oldest first."""
    query = select(CrowdLease).where(CrowdLease.user_id == user_id, CrowdLease.arm_id.in_(arm_ids))
    return db.scalars(query.order_by(CrowdLease.id)).all()


def live(db: Session, arm_id: int, moment: datetime) -> Sequence[CrowdLease]:
    """List the leases of an arm that have not lapsed."""
    return db.scalars(select(CrowdLease).where(CrowdLease.arm_id == arm_id, CrowdLease.until > moment)).all()


def last_graded(db: Session, arm_ids: Sequence[int], user_id: int, back: int) -> CrowdEvent | None:
    """Return the event with which somebody graded their *back*-newest item."""
    query = select(CrowdEvent).where(
        CrowdEvent.user_id == user_id,
        CrowdEvent.arm_id.in_(arm_ids),
        CrowdEvent.body["kind"].as_string() == "graded",
    )
    return db.scalar(query.order_by(CrowdEvent.id.desc()).offset(back - 1).limit(1))
