"""What is asked before a page is handed out, written out as SQL: many people ask at once, and each must cost little.

States are literals: SQLite uses a partial index only where it can see its condition. PostgreSQL skips slots that
somebody else is about to change; SQLite has one writer at a time.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Boolean, Integer, String, bindparam, column, func, select, text
from sqlalchemy.orm import Session

from quintain.store.base import UtcTime
from quintain.store.queries.validate.places import SEASONED
from quintain.store.queries.validate.tails import NO_TAIL
from quintain.store.tables import JudgingPage

RECLAIM = 200  # lapsed leases that one claim takes back at most, so that none waits for a sweep


class HeldPageRow(NamedTuple):
    """A page that somebody has not ended."""

    id: int
    key: str
    size: int
    lease_until: datetime


class Outlook(NamedTuple):
    """Whether a person has seen so much that they have a place, whether there are lapsed leases and gold items.

    In a *tail*, few slots are open, and it matters who takes which. *held* is the page that the person has not ended,
    lapsed or not.
    """

    seasoned: bool
    lapsed: bool
    gold: bool
    tail: bool
    held: HeldPageRow | None


_RECLAIM = {
    name: text(f"""
    UPDATE validation_slots SET state = 'open', lease_until = NULL WHERE id IN (
        SELECT id FROM validation_slots
        WHERE validation_id = :validation AND state = 'leased' AND lease_until < :now
        ORDER BY lease_until LIMIT {RECLAIM} {lock}
    )""").bindparams(bindparam("now", type_=UtcTime()))  # noqa: S608 - nothing here comes from outside
    for name, lock in (("sqlite", ""), ("postgresql", "FOR UPDATE SKIP LOCKED"))
}
GOLD_COMPARED = 32  # gold items of which the least shown are taken: counting that of all takes longer than a claim
GOLD_LOOKS = 4
_GOLD_IDS = text("""
    SELECT id FROM validation_items WHERE validation_id = :validation AND gold IS NOT NULL AND retired_at IS NULL""")
_GOLD_SEEN = text("""
    SELECT count(*) FROM judging_offers o JOIN validation_items i ON i.id = o.item_id
    WHERE o.user_id = :user AND o.slot_id IS NULL AND i.validation_id = :validation""")
_GOLD = text("""
    SELECT id FROM (
        SELECT g.id, g.hash, (
            SELECT count(*) FROM judging_offers o WHERE o.item_id = g.id AND o.slot_id IS NULL
        ) AS shown
        FROM validation_items g WHERE g.id IN :some AND (g.author_id IS NULL OR g.author_id <> :user)
        AND NOT EXISTS (SELECT 1 FROM judging_offers o WHERE o.user_id = :user AND o.item_id = g.id)
        AND NOT EXISTS (
            SELECT 1 FROM validation_items t JOIN judging_offers o ON o.item_id = t.id AND o.user_id = :user
            WHERE g.hash LIKE 'gold:%' AND t.validation_id = g.validation_id AND t.hash = substr(g.hash, 6)
        )
    ) AS unseen WHERE shown < :exposures ORDER BY shown, hash LIMIT :count""").bindparams(
    bindparam("some", expanding=True)
)
_OUTLOOK = (
    text(f"""
    SELECT (
        SELECT 1 FROM judging_offers WHERE user_id = :user LIMIT 1 OFFSET {SEASONED}
    ) IS NOT NULL AS seasoned, EXISTS (
        SELECT 1 FROM validation_slots WHERE validation_id = :validation AND state = 'leased' AND lease_until < :now
    ) AS lapsed, EXISTS (
        SELECT 1 FROM validation_items WHERE validation_id = :validation AND gold IS NOT NULL AND retired_at IS NULL
    ) AS gold, ({NO_TAIL}) IS NULL AS tail, p.id, p."key", p.size, p.lease_until
    FROM (SELECT 1 AS one) AS always LEFT JOIN (
        SELECT id, "key", size, lease_until FROM judging_pages
        WHERE validation_id = :validation AND user_id = :user AND ended_at IS NULL
    ) AS p ON 1 = 1""")  # noqa: S608 - a number of ours
    .bindparams(bindparam("now", type_=UtcTime()))
    .columns(
        *(column(name, Boolean()) for name in ("seasoned", "lapsed", "gold", "tail")),
        column("id", Integer()),
        column("key", String()),
        column("size", Integer()),
        column("lease_until", UtcTime()),
    )
)
_QUALIFIED = text("""
    SELECT held, reason FROM qualifications WHERE task_id = :task AND user_id = :user AND name = :name
    ORDER BY id DESC LIMIT 1""").columns(column("held", Boolean()), column("reason", String()))
_STANDING = text("""
    SELECT qualified FROM judge_standings WHERE validation_id = :validation AND user_id = :user
    ORDER BY id DESC LIMIT 1""").columns(column("qualified", Boolean()))
_LAPSE = text("""
    UPDATE judging_pages SET ended_at = :now, outcome = 'lapsed'
    WHERE id = :page AND ended_at IS NULL AND lease_until <= :now""").bindparams(bindparam("now", type_=UtcTime()))


def _kind(db: Session) -> str:
    return db.get_bind().dialect.name


def qualified(db: Session, task_id: int, user_id: int, name: str) -> tuple[bool, str] | None:
    """Return whether a person holds the qualification *name* now, and why; None where nothing was ever said."""
    row = db.connection().execute(_QUALIFIED, {"task": task_id, "user": user_id, "name": name}).first()
    return (row[0], row[1]) if row else None


def set_aside(db: Session, validation_id: int, user_id: int) -> bool:
    """Whether a person was unqualified for a validation, so that nothing they judge in it counts."""
    row = db.connection().execute(_STANDING, {"validation": validation_id, "user": user_id}).first()
    return row is not None and not row[0]


def outlook(db: Session, validation_id: int, user_id: int, now: datetime) -> Outlook:
    """Return what a claim has to look at, and what it need not."""
    params = {"validation": validation_id, "user": user_id, "now": now}
    seasoned, lapsed, gold, tail, *held = db.connection().execute(_OUTLOOK, params).one()
    return Outlook(seasoned, lapsed, gold, tail, HeldPageRow(*held) if held[0] is not None else None)


def reclaim(db: Session, validation_id: int, now: datetime) -> None:
    """Open slots whose lease has lapsed. The generation stays: a late answer still fits a slot that nobody took."""
    db.connection().execute(_RECLAIM[_kind(db)], {"validation": validation_id, "now": now})


def gold_for(
    db: Session, validation_id: int, user_id: int, *, exposures: int, per_worker: int, count: int, chance: float
) -> list[int]:
    """Choose up to *count* gold items that the person was never shown, within the limits.

    From a place by *chance* (0 to 1) on, some are looked at, and the least shown of them taken: of few, of all.
    """
    connection, whose = db.connection(), {"validation": validation_id, "user": user_id}
    if connection.execute(_GOLD_SEEN, whose).scalar_one() >= per_worker:
        return []
    ids = sorted(int(row[0]) for row in connection.execute(_GOLD_IDS, whose))  # in SQL it would choose a longer index
    first = int(chance * len(ids))
    ids = ids[first:] + ids[:first]
    chosen: list[int] = []
    for start in range(0, min(len(ids), GOLD_LOOKS * GOLD_COMPARED), GOLD_COMPARED):
        some = {"user": user_id, "some": ids[start : start + GOLD_COMPARED], "exposures": exposures}
        chosen += [int(row[0]) for row in connection.execute(_GOLD, {**some, "count": count - len(chosen)})]
        if len(chosen) == count:
            break
    return chosen


def lapse(db: Session, page_id: int, now: datetime) -> bool:
    """End a page whose lease is over; say whether it was there to be ended, neither ended nor kept alive meanwhile."""
    return bool(db.connection().execute(_LAPSE, {"page": page_id, "now": now}).rowcount)


def ended_pages(db: Session, validation_id: int, user_id: int) -> tuple[int, int]:
    """Count the pages of a validation that somebody has submitted, and those that they gave back."""
    query = select(JudgingPage.outcome, func.count()).where(
        JudgingPage.validation_id == validation_id,
        JudgingPage.user_id == user_id,
        JudgingPage.outcome.in_(("submitted", "returned")),
    )
    counts = {row[0]: int(row[1]) for row in db.execute(query.group_by(JudgingPage.outcome))}
    return counts.get("submitted", 0), counts.get("returned", 0)
