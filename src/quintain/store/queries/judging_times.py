"""How long judging takes: the newest times per item."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import Judgement


def recent_seconds(db: Session, validation_id: int, user_id: int | None = None, limit: int = 500) -> list[float]:
    """Give the seconds of the newest judgements of a validation, or of one person's."""
    query = select(Judgement.seconds).where(Judgement.validation_id == validation_id, Judgement.seconds.is_not(None))
    if user_id is not None:
        query = query.where(Judgement.user_id == user_id)
    found = db.scalars(query.order_by(Judgement.id.desc()).limit(limit))
    return [seconds for seconds in found if seconds is not None]
