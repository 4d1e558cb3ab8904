"""Opening again what some judges filled or hold, however much it is: a few statements over whole tables."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.orm import Session

_SETTLED = """
    SELECT t.id FROM validation_items t WHERE t.validation_id = :validation AND t.retired_at IS NOT NULL
    UNION SELECT t.id FROM validation_items g
    JOIN validation_items t ON t.validation_id = g.validation_id AND t.hash = substr(g.hash, 6)
    WHERE g.validation_id = :validation AND g.gold IS NOT NULL AND g.hash LIKE 'gold:%'"""


def _of_users(sql: str) -> TextClause:
    # "items" and "mine" are what the judges judged, and the judgements themselves. What was retracted or withheld is
    # shown to nobody any more. An item that was made a gold item, too, keeps its label: who has seen the gold item
    # must not see it again.
    mine = "FROM judgements WHERE validation_id = :validation AND user_id IN :users"
    own = f"{mine} AND item_id NOT IN ({_SETTLED})"
    parts = {"items": f"SELECT item_id {own}", "mine": f"SELECT id {own}"}
    return text(sql.format(**parts)).bindparams(bindparam("users", expanding=True))


# In the order of their ids, as those who hand in pages take them: nobody waits for the other.
_LOCK = _of_users("""
    SELECT id FROM validation_slots WHERE item_id IN ({items}) OR id IN (
        SELECT o.slot_id FROM judging_offers o JOIN judging_pages p ON p.id = o.page_id
        WHERE p.validation_id = :validation AND p.ended_at IS NULL AND p.user_id IN :users AND o.slot_id IS NOT NULL
    ) ORDER BY id FOR UPDATE""")
_OPEN = _of_users("""
    UPDATE validation_slots SET state = 'open', judgement_id = NULL, lease_until = NULL, generation = generation + 1
    WHERE item_id IN ({items}) AND state = 'filled' AND judgement_id IN ({mine})""")
_RELEASE = _of_users("""
    UPDATE validation_slots SET state = 'open', lease_until = NULL, generation = generation + 1
    WHERE validation_id = :validation AND state = 'leased' AND EXISTS (
        SELECT 1 FROM judging_offers o JOIN judging_pages p ON p.id = o.page_id
        WHERE o.slot_id = validation_slots.id AND o.generation = validation_slots.generation AND p.user_id IN :users
    )""")
_ORDER = _of_users("""
    UPDATE validation_slots SET rank = wanted.place FROM (
        SELECT id AS slot, row_number() OVER (
            PARTITION BY item_id ORDER BY CASE WHEN state = 'filled' THEN 0 ELSE 1 END, rank
        ) - 1 AS place
        FROM validation_slots WHERE item_id IN ({items}) AND state <> 'dropped'
    ) AS wanted
    WHERE wanted.slot = validation_slots.id AND wanted.place <> validation_slots.rank""")


def reopen(db: Session, validation_id: int, user_ids: Sequence[int]) -> int:
    """Open the slots that some judges filled or hold, and give how many.

    A new generation keeps answers on the way from filling them. Filled slots come first in rank afterwards, as ever.
    """
    params = {"validation": validation_id, "users": list(user_ids)}
    connection = db.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(_LOCK, params)
    opened = connection.execute(_OPEN, params).rowcount + connection.execute(_RELEASE, params).rowcount
    connection.execute(_ORDER, params)
    db.expire_all()
    return int(opened)


def judged_items(db: Session, validation_id: int, user_ids: Sequence[int]) -> list[int]:
    """List the items that some judges judged."""
    params = {"validation": validation_id, "users": list(user_ids)}
    return [int(row[0]) for row in db.connection().execute(_JUDGED, params)]


_JUDGED = _of_users("SELECT DISTINCT i.item_id FROM ({items}) AS i ORDER BY i.item_id")
