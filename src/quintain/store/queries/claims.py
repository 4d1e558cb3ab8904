"""The way of a claim, written out as SQL: many people ask for pages at once, and each statement must cost little.

States are literals: SQLite uses a partial index only where it can see its condition. PostgreSQL skips slots that
somebody else is about to lease; SQLite has one writer at a time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import JSON, Boolean, Integer, String, TextClause, bindparam, column, text
from sqlalchemy.orm import Session

from quintain.store.base import UtcTime
from quintain.store.queries.places import SEASONED, Window

RECLAIM = 200  # lapsed leases that one claim takes back at most, so that none waits for a sweep


class Leased(NamedTuple):
    """A slot that has just been leased."""

    id: int
    item_id: int
    generation: int
    rank: int
    draw: int


class Held(NamedTuple):
    """A page that somebody has not ended."""

    id: int
    key: str
    size: int
    lease_until: datetime


class Outlook(NamedTuple):
    """Whether a person has seen so much that they have a place, and whether there are lapsed leases and gold items."""

    seasoned: bool
    lapsed: bool
    gold: bool


class Shown(NamedTuple):
    """An item on a page, and what its holder said to it."""

    id: int
    position: int
    inputs: dict[str, Any]
    answer: Any
    label: str | None
    skipped: bool


def _both(sql: str, *times: str) -> Mapping[str, TextClause]:
    """Make a statement for each kind of database: what it locks, and what keeps its planner on the index."""
    made = {
        "sqlite": text(sql.format(lock="", by_index="")),
        # An offset keeps PostgreSQL from gathering all that a person was ever shown before it looks at ten slots.
        "postgresql": text(sql.format(lock="FOR UPDATE SKIP LOCKED", by_index="OFFSET 0")),
    }
    return {name: query.bindparams(*(bindparam(one, type_=UtcTime()) for one in times)) for name, query in made.items()}


_RECLAIM = _both(
    f"""
    UPDATE validation_slots SET state = 'open', lease_until = NULL WHERE id IN (
        SELECT id FROM validation_slots
        WHERE validation_id = :validation AND state = 'leased' AND lease_until < :now
        ORDER BY lease_until LIMIT {RECLAIM} {{lock}}
    )""",  # noqa: S608 - nothing here comes from outside
    "now",
)
_CLAIMABLE = """
    SELECT s.id, s.batch, s.rank, s.draw FROM validation_slots s
    WHERE s.validation_id = :validation AND s.state = 'open' {where}
    AND (s.author_id IS NULL OR s.author_id <> :user)
    AND NOT EXISTS (
        SELECT 1 FROM judging_offers o WHERE o.user_id = :user AND o.item_id = s.item_id {{by_index}}
    )
    AND NOT EXISTS (
        SELECT 1 FROM validation_slots e
        WHERE e.item_id = s.item_id AND e.state = 'open' AND e.rank < s.rank {{by_index}}
    )
    ORDER BY s.batch, s.rank, s.draw LIMIT :count {{lock}}"""
_LEASE = """
    UPDATE validation_slots SET state = 'leased', lease_until = :until, generation = generation + 1
    WHERE id IN (SELECT id FROM picked) RETURNING id, item_id, generation, rank, draw"""
_CLAIM = _both(f"WITH picked AS ({_CLAIMABLE.format(where='')}) {_LEASE}", "until")
_BEFORE = "AND s.generation > 0 AND (s.batch, s.rank, s.draw) < (:batch, :rank, :draw)"
_WITHIN = """AND (s.batch, s.rank, s.draw) >= (:batch, :rank, :draw)
    AND (s.batch, s.rank, s.draw) < (:end_batch, :end_rank, :end_draw)"""
_CLAIM_WITHIN = _both(
    f"""
    WITH came_back AS ({_CLAIMABLE.format(where=_BEFORE)}), ahead AS ({_CLAIMABLE.format(where=_WITHIN)}),
    picked AS (
        SELECT id FROM (SELECT * FROM came_back UNION ALL SELECT * FROM ahead) AS found
        ORDER BY batch, rank, draw LIMIT :count
    ) {_LEASE}""",  # noqa: S608 - nothing here comes from outside
    "until",
)
_GOLD = text("""
    SELECT g.id FROM validation_items g
    WHERE g.validation_id = :validation AND g.gold IS NOT NULL AND g.retired_at IS NULL
    AND (g.author_id IS NULL OR g.author_id <> :user)
    AND NOT EXISTS (SELECT 1 FROM judging_offers o WHERE o.user_id = :user AND o.item_id = g.id)
    AND NOT EXISTS (
        SELECT 1 FROM validation_items t JOIN judging_offers o ON o.item_id = t.id AND o.user_id = :user
        WHERE g.hash LIKE 'gold:%' AND t.validation_id = g.validation_id AND t.hash = substr(g.hash, 6)
    )
    AND (SELECT count(*) FROM judging_offers o WHERE o.item_id = g.id AND o.slot_id IS NULL) < :exposures
    AND (
        SELECT count(*) FROM judging_offers o JOIN validation_items i ON i.id = o.item_id
        WHERE o.user_id = :user AND o.slot_id IS NULL AND i.validation_id = :validation
    ) < :per_worker
    ORDER BY (SELECT count(*) FROM judging_offers o WHERE o.item_id = g.id AND o.slot_id IS NULL), g.hash
    LIMIT :count""")
_OUTLOOK = (
    text(f"""
    SELECT (
        SELECT 1 FROM judging_offers WHERE user_id = :user LIMIT 1 OFFSET {SEASONED}
    ) IS NOT NULL AS seasoned, EXISTS (
        SELECT 1 FROM validation_slots WHERE validation_id = :validation AND state = 'leased' AND lease_until < :now
    ) AS lapsed, EXISTS (
        SELECT 1 FROM validation_items WHERE validation_id = :validation AND gold IS NOT NULL AND retired_at IS NULL
    ) AS gold""")  # noqa: S608 - a number of ours
    .bindparams(bindparam("now", type_=UtcTime()))
    .columns(column("seasoned", Boolean()), column("lapsed", Boolean()), column("gold", Boolean()))
)
_QUALIFIED = text("""
    SELECT held, reason FROM qualifications WHERE task_id = :task AND user_id = :user AND name = :name
    ORDER BY id DESC LIMIT 1""").columns(column("held", Boolean()), column("reason", String()))
_STANDING = text("""
    SELECT qualified FROM judge_standings WHERE validation_id = :validation AND user_id = :user
    ORDER BY id DESC LIMIT 1""").columns(column("qualified", Boolean()))
_HELD = text("""
    SELECT id, "key", size, lease_until FROM judging_pages
    WHERE validation_id = :validation AND user_id = :user AND ended_at IS NULL ORDER BY id DESC LIMIT 1""").columns(
    column("id", Integer()), column("key", String()), column("size", Integer()), column("lease_until", UtcTime())
)
_END = text("UPDATE judging_pages SET ended_at = :now, outcome = :outcome WHERE id = :page").bindparams(
    bindparam("now", type_=UtcTime())
)
_PAGE_OF = {
    "sqlite": text('SELECT id, user_id, ended_at FROM judging_pages WHERE "key" = :key'),
    "postgresql": text('SELECT id, user_id, ended_at FROM judging_pages WHERE "key" = :key FOR UPDATE'),
}
_PAGE = text("""
    INSERT INTO judging_pages ("key", validation_id, user_id, size, lease_until, started_at, outcome)
    VALUES (:key, :validation, :user, :size, :until, :now, '') RETURNING id""").bindparams(
    bindparam("until", type_=UtcTime()), bindparam("now", type_=UtcTime())
)
# All rows in one statement, as JSON: ten statements take longer than all else in a claim.
_OFFER_COLUMNS = """
    INSERT INTO judging_offers (page_id, position, user_id, item_id, slot_id, generation)
    SELECT :page, {place}, :user, {item}, {slot}, {generation} FROM """
_OFFER = {
    "sqlite": text(
        _OFFER_COLUMNS.format(place="key + 1", item="value ->> 0", slot="value ->> 1", generation="value ->> 2")
        + "json_each(:rows)"
    ),
    "postgresql": text(
        _OFFER_COLUMNS.format(
            place="ordinality", item="(value ->> 0)::int", slot="(value ->> 1)::int", generation="(value ->> 2)::int"
        ).replace("::", "\\:\\:")
        + "json_array_elements(CAST(:rows AS json)) WITH ORDINALITY"
    ),
}
_SHOW = text("""
    SELECT o.id, o.position, i.inputs, i.answer, j.label, EXISTS (
        SELECT 1 FROM judging_notes n WHERE n.offer_id = o.id AND n.kind = 'skip'
    ) AS skipped
    FROM judging_offers o JOIN validation_items i ON i.id = o.item_id LEFT JOIN judgements j ON j.offer_id = o.id
    WHERE o.page_id = :page ORDER BY o.position""").columns(
    column("id", Integer()),
    column("position", Integer()),
    column("inputs", JSON()),
    column("answer", JSON()),
    column("label", String()),
    column("skipped", Boolean()),
)


def _kind(db: Session) -> str:
    return db.get_bind().dialect.name


def qualified(db: Session, task_id: int, user_id: int, name: str) -> tuple[bool, str] | None:
    """Say whether a person holds the qualification *name* now, and why; None where nothing was ever said."""
    row = db.connection().execute(_QUALIFIED, {"task": task_id, "user": user_id, "name": name}).first()
    return (row[0], row[1]) if row else None


def set_aside(db: Session, validation_id: int, user_id: int) -> bool:
    """Say whether a person was unqualified for a validation, so that nothing they judge in it counts."""
    row = db.connection().execute(_STANDING, {"validation": validation_id, "user": user_id}).first()
    return row is not None and not row[0]


def outlook(db: Session, validation_id: int, user_id: int, now: datetime) -> Outlook:
    """Say what a claim has to look at, and what it need not."""
    given = {"validation": validation_id, "user": user_id, "now": now}
    return Outlook(*db.connection().execute(_OUTLOOK, given).one())


def reclaim(db: Session, validation_id: int, now: datetime) -> None:
    """Open slots whose lease has lapsed. The generation stays: a late answer still fits a slot that nobody took."""
    db.connection().execute(_RECLAIM[_kind(db)], {"validation": validation_id, "now": now})


def claim(
    db: Session, validation_id: int, user_id: int, *, count: int, until: datetime, window: Window | None = None
) -> list[Leased]:
    """Lease up to *count* slots of items that the person did not write and was never shown.

    Items with the fewest judgements (had or under way) come first, then chance decides. Only the first open slot of an
    item is taken, so that no page has an item twice. With a *window*, only it and what came back before it are looked
    at.
    """
    given = {"validation": validation_id, "user": user_id, "count": count, "until": until}
    query = _CLAIM[_kind(db)]
    if window is not None:
        query = _CLAIM_WITHIN[_kind(db)]
        given |= window.start._asdict() | {f"end_{name}": value for name, value in window.end._asdict().items()}
    found = [Leased(*row) for row in db.connection().execute(query, given)]
    return sorted(found, key=lambda slot: (slot.rank, slot.draw))


def gold_for(
    db: Session, validation_id: int, user_id: int, *, exposures: int, per_worker: int, count: int
) -> list[int]:
    """Choose up to *count* gold items that the person was never shown, the least shown first, within the limits."""
    given = {
        "validation": validation_id,
        "user": user_id,
        "exposures": exposures,
        "per_worker": per_worker,
        "count": count,
    }
    return [int(row[0]) for row in db.connection().execute(_GOLD, given)]


def held_page(db: Session, validation_id: int, user_id: int) -> Held | None:
    """Give the page that a person holds, lapsed or not."""
    row = db.connection().execute(_HELD, {"validation": validation_id, "user": user_id}).first()
    return Held(*row) if row else None


def page_of(db: Session, key: str) -> tuple[int, int, bool] | None:
    """Give id, holder and whether it has ended of the page with this key; nobody else changes it meanwhile."""
    row = db.connection().execute(_PAGE_OF[_kind(db)], {"key": key}).first()
    return (int(row[0]), int(row[1]), row[2] is not None) if row else None


def end_page(db: Session, page_id: int, now: datetime, outcome: str) -> None:
    """End a page."""
    db.connection().execute(_END, {"page": page_id, "now": now, "outcome": outcome})


def add_page(
    db: Session, validation_id: int, user_id: int, *, key: str, size: int, now: datetime, until: datetime
) -> Held:
    """Add a page."""
    given = {"key": key, "validation": validation_id, "user": user_id, "size": size, "now": now, "until": until}
    return Held(int(db.connection().execute(_PAGE, given).scalar_one()), key, size, until)


def add_offers(db: Session, page_id: int, user_id: int, rows: Sequence[tuple[int, int | None, int]]) -> None:
    """Note that items (with slot and generation) are shown to a person; the database refuses to show one twice."""
    db.connection().execute(_OFFER[_kind(db)], {"page": page_id, "user": user_id, "rows": json.dumps(rows)})


def shown(db: Session, page_id: int) -> list[Shown]:
    """List what a page shows, in order."""
    return [Shown(*row) for row in db.connection().execute(_SHOW, {"page": page_id})]
