"""Answers that are saved while a page is held. Written out as SQL: there is one for every key that a judge presses."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, select, text
from sqlalchemy.orm import Session

from quintain.store.base import UtcTime
from quintain.store.tables import JudgingDraft


class AnswerDraft(NamedTuple):
    """What was answered so far to an item: *number* is that of the change."""

    label: str | None
    skip: str | None
    flag: str | None
    seconds: float | None
    number: int

    @property
    def empty(self) -> bool:
        """Whether nothing is answered, because it was undone."""
        return self.label is None and self.skip is None and self.flag is None


_SAVE = text("""
    INSERT INTO judging_drafts (offer_id, page_id, user_id, label, skip, flag, seconds, number, saved_at)
    VALUES (:offer, :page, :user, :label, :skip, :flag, :seconds, :number, :now)
    ON CONFLICT (offer_id) DO UPDATE SET label = excluded.label, skip = excluded.skip, flag = excluded.flag,
    seconds = excluded.seconds, number = excluded.number, saved_at = excluded.saved_at
    WHERE excluded.number > judging_drafts.number""").bindparams(bindparam("now", type_=UtcTime()))
_TAKEN_OVER = text("""
    SELECT 1 FROM judging_offers o JOIN validation_slots s ON s.id = o.slot_id
    WHERE o.page_id = :page AND s.generation <> o.generation LIMIT 1""")
_DISCARD = text("DELETE FROM judging_drafts WHERE page_id = :page")
_LAPSED = text("""
    DELETE FROM judging_drafts WHERE page_id IN (
        SELECT id FROM judging_pages WHERE validation_id = :validation AND ended_at IS NULL AND lease_until < :now
    )""").bindparams(bindparam("now", type_=UtcTime()))


def save(db: Session, page_id: int, user_id: int, offer_id: int, draft: AnswerDraft, now: datetime) -> None:
    """Keep an answer; one with a number that is not above what is there changes nothing."""
    params = {"offer": offer_id, "page": page_id, "user": user_id, "now": now, **draft._asdict()}
    db.connection().execute(_SAVE, params)


def of_page(db: Session, page_id: int) -> dict[int, AnswerDraft]:
    """Return the answers of a page by the ids of its offers."""
    query = select(JudgingDraft).where(JudgingDraft.page_id == page_id).execution_options(populate_existing=True)
    return {
        row.offer_id: AnswerDraft(row.label, row.skip, row.flag, row.seconds, row.number) for row in db.scalars(query)
    }


def is_taken_over(db: Session, page_id: int) -> bool:
    """Whether a slot of a page was leased anew since: by somebody else, or again."""
    return db.connection().execute(_TAKEN_OVER, {"page": page_id}).first() is not None


def discard(db: Session, page_id: int) -> None:
    """Forget what was saved of a page."""
    db.connection().execute(_DISCARD, {"page": page_id})


def discard_lapsed(db: Session, validation_id: int, now: datetime) -> None:
    """Forget what was saved of the pages of a validation whose leases are over."""
    db.connection().execute(_LAPSED, {"validation": validation_id, "now": now})
