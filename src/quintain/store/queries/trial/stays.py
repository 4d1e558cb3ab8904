"""What people from panels have done in a trial since they came."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.store.tables import CrowdAnswer, CrowdEvent, CrowdRound, WritingSession

GRADED = ("graded", "graded late")


def finished_since(db: Session, arm_id: int, user_id: int, since: datetime) -> bool:
    """Whether somebody has ended a session that they began after a moment, or the tutorial with answers of then."""
    rounds = select(CrowdRound.round_id).where(CrowdRound.arm_id == arm_id)
    session = select(WritingSession.id).where(
        WritingSession.round_id.in_(rounds),
        WritingSession.user_id == user_id,
        WritingSession.started_at >= since,
        WritingSession.ended_at.is_not(None),
    )
    answered = select(CrowdAnswer.id).where(
        CrowdAnswer.arm_id == arm_id, CrowdAnswer.user_id == user_id, CrowdAnswer.created_at >= since
    )
    tutorial = select(CrowdEvent.id).where(
        CrowdEvent.arm_id == arm_id,
        CrowdEvent.user_id == user_id,
        CrowdEvent.created_at >= since,
        CrowdEvent.body["kind"].as_string() == "finished",
        CrowdEvent.body["unit"].as_string() == "tutorial",
        answered.exists(),
    )
    return bool(db.scalar(select(session.exists())) or db.scalar(select(tutorial.exists())))


def graded_since(db: Session, arm_ids: Sequence[int], user_id: int, since: datetime) -> int:
    """Count what somebody has graded since a moment."""
    query = select(func.count(CrowdEvent.id)).where(
        CrowdEvent.arm_id.in_(arm_ids),
        CrowdEvent.user_id == user_id,
        CrowdEvent.created_at >= since,
        CrowdEvent.body["kind"].as_string().in_(GRADED),
    )
    return db.scalar(query) or 0
