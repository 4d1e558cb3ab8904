"""The last open slots of a validation, and who may still fill them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import BigInteger, Boolean, Integer, bindparam, column, text
from sqlalchemy.orm import Session

from quintain.store.base import UtcTime

TAIL = 400  # open slots from which on it matters who takes which
MOST_PEOPLE = 40  # of those who judged lately, the last so many are reckoned with


class TailItem(NamedTuple):
    """An item with open slots: how many, and who wrote it."""

    id: int
    author_id: int | None
    open: int


class Helper(NamedTuple):
    """Somebody who judges: how many items they were shown."""

    user_id: int
    shown: int


# Counted by the index of open slots alone; where there are more than that, nothing else is asked.
NO_TAIL = f"""
    SELECT 1 FROM validation_slots WHERE validation_id = :validation AND state = 'open' LIMIT 1 OFFSET {TAIL}"""  # noqa: S608 - a number of ours
# A claim takes lapsed leases back before it leases anew. Two parts, because each has an index of its own.
_TAIL = text("""
    SELECT item_id, max(author_id), count(*) FROM (
        SELECT item_id, author_id, batch, rank, draw FROM validation_slots
        WHERE validation_id = :validation AND state = 'open'
        UNION ALL SELECT item_id, author_id, batch, rank, draw FROM validation_slots
        WHERE validation_id = :validation AND state = 'leased' AND lease_until < :now
    ) AS free GROUP BY item_id ORDER BY min(batch), min(rank), min(draw)""").bindparams(
    bindparam("now", type_=UtcTime())
)
_LONG = text(f"SELECT ({NO_TAIL}) IS NOT NULL").columns(column("long", Boolean()))
# A sign before the column keeps SQLite from grouping by an index of all pages ever: those since then are few.
_HELPERS_SQL = """
    SELECT p.user_id, sum(p.size) FROM judging_pages p JOIN (
        SELECT +user_id AS user_id, max(started_at) AS last FROM judging_pages
        WHERE validation_id = :validation AND started_at >= :since
        GROUP BY +user_id ORDER BY last DESC LIMIT :most
    ) AS lately ON lately.user_id = p.user_id
    WHERE p.validation_id = :validation
    AND NOT EXISTS (
        SELECT 1 FROM judge_standings s WHERE s.validation_id = :validation AND s.user_id = p.user_id
        AND s.qualified = :no AND NOT EXISTS (
            SELECT 1 FROM judge_standings n WHERE n.validation_id = s.validation_id AND n.user_id = s.user_id
            AND n.id > s.id
        )
    )
    AND NOT EXISTS (
        SELECT 1 FROM qualifications q WHERE q.task_id = :task AND q.user_id = p.user_id AND q.name = :name
        AND q.held = :no AND NOT EXISTS (
            SELECT 1 FROM qualifications n WHERE n.task_id = q.task_id AND n.user_id = q.user_id AND n.name = q.name
            AND n.id > q.id
        )
    )
    AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = p.user_id AND u.deleted_at IS NOT NULL)
    GROUP BY p.user_id, lately.last ORDER BY lately.last DESC, p.user_id"""
_HELPERS = (
    text(_HELPERS_SQL)
    .bindparams(bindparam("since", type_=UtcTime()), bindparam("no", False, type_=Boolean()))
    .columns(column("user_id", Integer()), column("shown", BigInteger()))
)
_SEEN = text("""
    SELECT user_id, item_id FROM judging_offers WHERE user_id IN :users AND item_id IN :items""").bindparams(
    bindparam("users", expanding=True), bindparam("items", expanding=True)
)


def is_long(db: Session, validation_id: int) -> bool:
    """Whether more slots are open than a tail has."""
    return bool(db.connection().execute(_LONG, {"validation": validation_id}).scalar())


def tail(db: Session, validation_id: int, now: datetime) -> list[TailItem]:
    """List the items with slots that are open, or whose lease has lapsed, in the order in which they are handed out."""
    params = {"validation": validation_id, "now": now}
    return [TailItem(*row) for row in db.connection().execute(_TAIL, params)]


def helpers(
    db: Session, validation_id: int, task_id: int, name: str, since: datetime, most: int = MOST_PEOPLE
) -> list[Helper]:
    """List who took a page since then and may judge on, the last one first; *name* is the qualification."""
    params = {"validation": validation_id, "task": task_id, "name": name, "since": since, "most": most}
    return [Helper(int(user), int(shown)) for user, shown in db.connection().execute(_HELPERS, params)]


def seen(db: Session, user_ids: Sequence[int], item_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return person and item of all that these people were shown of these items."""
    if not user_ids or not item_ids:
        return []
    params = {"users": list(user_ids), "items": list(item_ids)}
    return [(int(user), int(item)) for user, item in db.connection().execute(_SEEN, params)]
