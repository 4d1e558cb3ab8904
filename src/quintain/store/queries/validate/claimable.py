"""Queries on what is left for somebody to judge."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, bindparam, column, select, text
from sqlalchemy.orm import Session

from quintain.store.tables import JudgingPage

LOOKED_AT = 500  # open slots, so that the answer costs the same however many there are
_LEFT = text(f"""
    SELECT EXISTS (
        SELECT 1 FROM (
            SELECT item_id FROM validation_slots
            WHERE validation_id = :validation AND state = 'open' LIMIT {LOOKED_AT}
        ) AS s JOIN validation_items i ON i.id = s.item_id
        WHERE (i.author_id IS NULL OR i.author_id <> :user)
        AND NOT EXISTS (SELECT 1 FROM judging_offers o WHERE o.user_id = :user AND o.item_id = i.id)
    ) AS anything""").columns(column("anything", Boolean()))  # noqa: S608 - a number of ours


def is_any_claimable(db: Session, validation_id: int, user_id: int) -> bool:
    """Whether there is an item that somebody may judge: not their own, and never shown to them."""
    return bool(db.execute(_LEFT, {"validation": validation_id, "user": user_id}).scalar_one())


def held_page(db: Session, validation_id: int, user_id: int, moment: datetime) -> str | None:
    """Return the key of the page of a validation that somebody holds; None where they hold none."""
    query = select(JudgingPage.key).where(
        JudgingPage.validation_id == bindparam("validation"),
        JudgingPage.user_id == user_id,
        JudgingPage.ended_at.is_(None),
        JudgingPage.lease_until > moment,
    )
    return db.scalar(query.limit(1), {"validation": validation_id})
