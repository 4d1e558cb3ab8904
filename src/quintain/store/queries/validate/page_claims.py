"""Handing out a page: slots are leased, the page and what it shows are written down, and what it shows is read.

PostgreSQL does it in one statement, because each costs a way there and back; SQLite, which cannot change three tables
in one, in four. States are literals: SQLite uses a partial index only where it can see its condition. PostgreSQL skips
slots that somebody else is about to lease; SQLite has one writer at a time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import JSON, Boolean, Integer, String, TextClause, bindparam, column, text
from sqlalchemy.orm import Session

from quintain.store.base import UtcTime
from quintain.store.queries.validate.places import Window


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page that somebody asks for: *count* slots, gold items at given places from 0 to 1, and no page below *least*.

    With a *window*, only it and what came back before it are looked at; with *items*, only they, the first ones first.
    """

    validation_id: int
    user_id: int
    key: str
    count: int
    least: int
    gold: Sequence[tuple[int, float]]
    now: datetime
    until: datetime
    window: Window | None = None
    items: Sequence[int] = ()


class ShownItem(NamedTuple):
    """An item on a page, and what its holder said to it."""

    id: int
    position: int
    inputs: dict[str, Any]
    answer: Any
    label: str | None
    skipped: bool


_SHOWN = (
    column("id", Integer()),
    column("position", Integer()),
    column("inputs", JSON()),
    column("answer", JSON()),
    column("label", String()),
    column("skipped", Boolean()),
)
_CLAIMABLE = """
    SELECT s.id, s.batch, s.rank, s.draw FROM {source}
    WHERE s.validation_id = :validation AND s.state = 'open' {where}
    AND (s.author_id IS NULL OR s.author_id <> :user)
    AND NOT EXISTS (
        SELECT 1 FROM judging_offers o WHERE o.user_id = :user AND o.item_id = s.item_id {{by_index}}
    )
    AND NOT EXISTS (
        SELECT 1 FROM validation_slots e
        WHERE e.item_id = s.item_id AND e.state = 'open' AND e.rank < s.rank {{by_index}}
    )
    ORDER BY {order} LIMIT {{count}} {{lock}}"""
_IN_ORDER = {"source": "validation_slots s", "order": "s.batch, s.rank, s.draw"}
_BEFORE = "AND s.generation > 0 AND (s.batch, s.rank, s.draw) < (:batch, :rank, :draw)"
_WITHIN = """AND (s.batch, s.rank, s.draw) >= (:batch, :rank, :draw)
    AND (s.batch, s.rank, s.draw) < (:end_batch, :end_rank, :end_draw)"""
_PICKED = f"WITH picked AS ({_CLAIMABLE.format(where='', **_IN_ORDER)})"
_PICKED_WITHIN = f"""
    WITH came_back AS ({_CLAIMABLE.format(where=_BEFORE, **_IN_ORDER)}),
    ahead AS ({_CLAIMABLE.format(where=_WITHIN, **_IN_ORDER)}), picked AS (
        SELECT id FROM (SELECT * FROM came_back UNION ALL SELECT * FROM ahead) AS found
        ORDER BY batch, rank, draw LIMIT {{count}}
    )"""  # noqa: S608 - nothing here comes from outside
# By the list of items, which is short: SQLite takes a cross join from left to right.
_LISTED = {"source": "listed l CROSS JOIN validation_slots s", "order": "l.place"}
_PICKED_LISTED = f"""
    WITH listed AS ({{listed}}),
    picked AS ({_CLAIMABLE.format(where="AND s.item_id = l.item", **_LISTED)})"""
_LIST = {
    "sqlite": "SELECT key AS place, value AS item FROM json_each(:items)",
    "postgresql": """
        SELECT place, item::int AS item
        FROM json_array_elements_text(CAST(:items AS json)) WITH ORDINALITY AS given (item, place)""",
}
_LEASE = """
    UPDATE validation_slots SET state = 'leased', lease_until = :until, generation = generation + 1
    WHERE id IN (SELECT id FROM picked) RETURNING id, item_id, generation, rank, draw"""
_PAGE = """
    INSERT INTO judging_pages ("key", validation_id, user_id, size, lease_until, started_at, outcome)"""
_OFFER = "INSERT INTO judging_offers (page_id, position, user_id, item_id, slot_id, generation)"
# A gold item at the place p of n others stands before number p·(n + 1), counted from 0.
_HAND_OUT = f"""
    {{picked}}, leased AS ({_LEASE}), number AS (SELECT count(*) AS leased FROM leased), placed AS (
        SELECT item_id, slot_id, generation, row_number() OVER (ORDER BY place, item_id) AS position FROM (
            SELECT item_id, id AS slot_id, generation, row_number() OVER (ORDER BY rank, draw, id) AS place FROM leased
            UNION ALL
            SELECT (g ->> 0)::int, NULL, 0, floor((g ->> 1)::float * (number.leased + 1)) + 0.5
            FROM json_array_elements(CAST(:gold AS json)) AS g, number
        ) AS everything, number WHERE number.leased >= :least
    ), page AS (
        {_PAGE} SELECT :key, :validation, :user, count(*), :until, :now, '' FROM placed HAVING count(*) > 0
        RETURNING id
    ), offered AS (
        {_OFFER} SELECT page.id, position, :user, item_id, slot_id, generation FROM page, placed
        RETURNING id, position, item_id
    )
    SELECT o.id, o.position, i.inputs, i.answer, NULL AS label, false AS skipped
    FROM offered o JOIN validation_items i ON i.id = o.item_id ORDER BY o.position"""  # noqa: S608 - as above


def _timed(sql: str, *times: str) -> TextClause:
    return text(sql).bindparams(*(bindparam(one, type_=UtcTime()) for one in times))


def _picked(request: PageRequest) -> str:
    if request.items:
        return "listed"
    return "within" if request.window is not None else "all"


_WAYS = {"all": _PICKED, "within": _PICKED_WITHIN, "listed": _PICKED_LISTED}


@lru_cache(maxsize=192)
def claim_statement(way: str, count: int) -> Any:
    """Make PostgreSQL's statement.

    The number of slots is part of it: where it is a parameter, PostgreSQL thinks that a plan for any number would be
    a bad one, and makes a new one each time, which takes as long as the rest. An offset keeps it from gathering all
    that a person was ever shown before it looks at ten slots.
    """
    lock = "FOR UPDATE OF s SKIP LOCKED"
    picked = _WAYS[way].format(count=count, lock=lock, by_index="OFFSET 0", listed=_LIST["postgresql"])
    sql = _HAND_OUT.format(picked=picked)
    return _timed(sql.replace("::", "\\:\\:"), "until", "now").columns(*_SHOWN)


@lru_cache(maxsize=3)
def lease_statement(way: str) -> TextClause:
    """Make SQLite's statement that leases slots."""
    picked = _WAYS[way].format(count=":count", lock="", by_index="", listed=_LIST["sqlite"])
    return _timed(f"{picked} {_LEASE}", "until")


_SQLITE_PAGE = _timed(
    f"{_PAGE} VALUES (:key, :validation, :user, :size, :until, :now, '') RETURNING id", "until", "now"
)
# All rows in one statement, as JSON: ten statements take longer than all else in a claim.
_SQLITE_OFFERS = text(f"""{_OFFER}
    SELECT :page, key + 1, :user, value ->> 0, value ->> 1, value ->> 2 FROM json_each(:rows)""")  # noqa: S608 - as above
# What a page offers, and what was said to it. A limit that no page comes near, and questions about one offer at a time,
# tell PostgreSQL that these are few: where it knows little of a table yet, it would read all of the others.
OFFERED = "(SELECT * FROM judging_offers WHERE page_id = :page ORDER BY position LIMIT 200) AS o"
SAID = """(SELECT j.label FROM judgements j WHERE j.offer_id = o.id) AS label, (
        SELECT 1 FROM judging_notes n WHERE n.offer_id = o.id AND n.kind = 'skip' LIMIT 1
    ) IS NOT NULL AS skipped"""
_SHOW = text(f"""
    SELECT o.id, o.position, i.inputs, i.answer, {SAID}
    FROM {OFFERED} JOIN validation_items i ON i.id = o.item_id ORDER BY o.position""").columns(*_SHOWN)  # noqa: S608 - as above


def claim_slots(db: Session, request: PageRequest) -> list[ShownItem]:
    """Lease slots of items that the person did not write and was never shown, and make a page of them.

    Items with the fewest judgements (had or under way) come first, then chance decides. Only the first open slot of an
    item is taken, so that no page has an item twice. Where fewer than *least* are found there is no page: the caller
    undoes the transaction, or finds that nothing was done where there are none. That a person holds one page at most,
    and is shown nothing twice, is for the database to refuse.
    """
    params: dict[str, Any] = {"validation": request.validation_id, "user": request.user_id, "until": request.until}
    if request.window is not None and not request.items:
        end = {f"end_{name}": value for name, value in request.window.end._asdict().items()}
        params |= request.window.start._asdict() | end
    if request.items:
        params["items"] = json.dumps(list(request.items))
    if db.get_bind().dialect.name == "sqlite":
        return _hand_out_in_steps(db, request, params)
    params |= {"key": request.key, "least": request.least, "gold": json.dumps(request.gold), "now": request.now}
    query = claim_statement(_picked(request), request.count)
    return [ShownItem(*row) for row in db.connection().execute(query, params)]


def _hand_out_in_steps(db: Session, request: PageRequest, params: Mapping[str, Any]) -> list[ShownItem]:
    connection = db.connection()
    query = lease_statement(_picked(request))
    leased = sorted(connection.execute(query, {**params, "count": request.count}), key=lambda slot: (slot[3:], slot[0]))
    if len(leased) < request.least:
        return []
    places = [(place, slot[1], slot[0], slot[2]) for place, slot in enumerate(leased, start=1)]
    gold = [(int(chance * (len(leased) + 1)) + 0.5, item_id, None, 0) for item_id, chance in request.gold]
    rows = [row[1:] for row in sorted([*places, *gold], key=lambda row: row[:2])]
    page = {"key": request.key, "size": len(rows), "now": request.now, "until": request.until}
    page_id = connection.execute(
        _SQLITE_PAGE, {"validation": request.validation_id, "user": request.user_id, **page}
    ).scalar_one()
    connection.execute(_SQLITE_OFFERS, {"page": page_id, "user": request.user_id, "rows": json.dumps(rows)})
    return shown_items(db, page_id)


def shown_items(db: Session, page_id: int) -> list[ShownItem]:
    """List what a page shows, in order."""
    return [ShownItem(*row) for row in db.connection().execute(_SHOW, {"page": page_id})]
