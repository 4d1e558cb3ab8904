"""What is read and written as a page is handed in, written out as SQL: judges do it all day long, many at once.

Rows are plain values: objects of whole rows with all that an item carries would take longer than the database does.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import JSON, Boolean, Integer, String, bindparam, column, text
from sqlalchemy.orm import Session

from quintain.store.base import UtcTime
from quintain.store.queries.validate.page_claims import OFFERED, SAID


class PageRow(NamedTuple):
    """A page with whoever holds it. *outcome* is empty while it lasts."""

    id: int
    key: str
    validation_id: int
    user_id: int
    size: int
    lease_until: datetime
    started_at: datetime
    ended_at: datetime | None
    outcome: str


class OfferRow(NamedTuple):
    """An offer with what matters of its item, and what the person said to it."""

    id: int
    item_id: int
    slot_id: int | None
    generation: int
    inputs: dict[str, Any]
    author_id: int | None
    attempt_id: int | None
    gold: str | None
    label: str | None
    skipped: bool


_PAGE = """
    SELECT id, "key", validation_id, user_id, size, lease_until, started_at, ended_at, outcome
    FROM judging_pages WHERE "key" = :key"""
_PAGES = {
    lock: text(_PAGE + lock).columns(
        column("id", Integer()),
        column("key", String()),
        column("validation_id", Integer()),
        column("user_id", Integer()),
        column("size", Integer()),
        *(column(name, UtcTime()) for name in ("lease_until", "started_at", "ended_at")),
        column("outcome", String()),
    )
    for lock in ("", " FOR UPDATE")
}
_OFFERS = text(f"""
    SELECT o.id, o.item_id, o.slot_id, o.generation, i.inputs, i.author_id, i.attempt_id, i.gold, {SAID}
    FROM {OFFERED} JOIN validation_items i ON i.id = o.item_id ORDER BY o.position""").columns(  # noqa: S608 - nothing here comes from outside
    *(column(name, Integer()) for name in ("id", "item_id", "slot_id", "generation")),
    column("inputs", JSON()),
    *(column(name, Integer()) for name in ("author_id", "attempt_id")),
    *(column(name, String()) for name in ("gold", "label")),
    column("skipped", Boolean()),
)
_END = text("UPDATE judging_pages SET ended_at = :now, outcome = :outcome WHERE id = :page").bindparams(
    bindparam("now", type_=UtcTime())
)
_LENGTHEN = text("UPDATE judging_pages SET lease_until = :until WHERE id = :page").bindparams(
    bindparam("until", type_=UtcTime())
)


def page_by_key(db: Session, key: str, *, locked: bool = False) -> PageRow | None:
    """Return a page by its key; *locked* keeps others from changing it until the transaction ends."""
    lock = " FOR UPDATE" if locked and db.get_bind().dialect.name == "postgresql" else ""
    row = db.connection().execute(_PAGES[lock], {"key": key}).first()
    return PageRow(*row) if row else None


def offers(db: Session, page_id: int) -> list[OfferRow]:
    """List what a page offers, with what was said to it."""
    return [OfferRow(*row) for row in db.connection().execute(_OFFERS, {"page": page_id})]


def end_page(db: Session, page_id: int, now: datetime, outcome: str) -> None:
    """End a page."""
    db.connection().execute(_END, {"page": page_id, "now": now, "outcome": outcome})


def lengthen_page(db: Session, page_id: int, until: datetime) -> None:
    """Let a page be held for longer."""
    db.connection().execute(_LENGTHEN, {"page": page_id, "until": until})
