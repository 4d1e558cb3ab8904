"""Slots: adding, extending, giving back, dropping and counting them. Claiming is in `claims`.

States are written as literals, not as parameters: SQLite uses a partial index only where it can see its condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import ColumnElement, bindparam, func, literal_column, or_, select, text, update
from sqlalchemy.orm import Session

from quintain.core.validation import SlotState
from quintain.store.base import UtcTime
from quintain.store.tables import Slot, ValidationItem

MANY = 10_000  # slots from which on PostgreSQL is told that the table has changed
NEW = ("validation_id", "item_id", "k", "batch", "rank", "draw", "author_id")  # what is said of a slot that is added
_ARRAYS = {"draw": "bigint"}  # the columns whose values are no int for PostgreSQL

NewSlot = tuple[int, int, int, int, int, int, int | None]
# The columns that make a `SlotRow`, in its order.
_COLUMNS = "id, item_id, author_id, batch, rank, state, generation, judgement_id"
_OF_ITEMS = {
    lock: text(f"SELECT {_COLUMNS} FROM validation_slots WHERE item_id IN :items ORDER BY id{lock}").bindparams(  # noqa: S608 - nothing here comes from outside
        bindparam("items", expanding=True)
    )
    for lock in ("", " FOR UPDATE")
}
# Only who holds a lease has one that ends.
_SAVE = text("""
    UPDATE validation_slots SET author_id = :author, rank = :rank, state = CAST(:state AS VARCHAR(8)),
    generation = :generation, judgement_id = :judgement,
    lease_until = CASE WHEN CAST(:state AS VARCHAR(8)) = 'leased' THEN lease_until END
    WHERE id = :id""")
# Written out: pages are kept alive and given back all the time, and an expression is built anew each time.
_HELD = """
    WHERE id IN (SELECT slot_id FROM judging_offers WHERE page_id = :page) AND generation = (
        SELECT o.generation FROM judging_offers o WHERE o.page_id = :page AND o.slot_id = validation_slots.id
    ) AND state IN ('leased', 'open')"""
# One order for all who change several slots: those of higher ids wait for those of lower ones, and nobody in a ring.
_LOCK_HELD = text("""
    SELECT id FROM validation_slots WHERE id IN (SELECT slot_id FROM judging_offers WHERE page_id = :page)
    ORDER BY id FOR UPDATE""")
_GIVE_BACK = text("UPDATE validation_slots SET state = 'open', lease_until = NULL" + _HELD)  # noqa: S608 - nothing here comes from outside
_GOLD_LEFT = text("""
    SELECT count(*) FILTER (WHERE o.slot_id IS NULL), count(*) FILTER (WHERE o.slot_id IS NOT NULL)
    FROM judging_offers o WHERE o.page_id = :page
    AND NOT EXISTS (SELECT 1 FROM judgements j WHERE j.offer_id = o.id)""")
_OPEN_IN = text("""
    SELECT 1 FROM validation_slots WHERE validation_id = :validation AND batch = :batch AND state = 'open' LIMIT 1""")
_EXTEND = text("UPDATE validation_slots SET state = 'leased', lease_until = :until" + _HELD).bindparams(  # noqa: S608 - as above
    bindparam("until", type_=UtcTime())
)


@dataclass(slots=True)
class SlotRow:
    """What matters of a slot, to be looked at and changed; `save` writes the changes of many at once."""

    id: int
    item_id: int
    author_id: int | None
    batch: int
    rank: int
    state: str
    generation: int
    judgement_id: int | None
    known: tuple[Any, ...] = ()

    @property
    def _now(self) -> tuple[Any, ...]:
        return self.author_id, self.rank, self.state, self.generation, self.judgement_id

    @property
    def changed(self) -> bool:
        """Whether it is other than it was when it was read or saved."""
        return self.known != self._now

    def keep(self) -> SlotRow:
        """Take it as it is now for what the database has."""
        self.known = self._now
        return self


def _is(state: SlotState, slot: Any = Slot) -> ColumnElement[bool]:
    return slot.state == literal_column(f"'{state.value}'")  # type: ignore[no-any-return]  # a column gives a condition


def add(db: Session, rows: Sequence[NewSlot], *, generation: int = 0) -> None:
    """Add open slots, of which there are several for every item.

    They go to the database as plain values, which no layer in between looks at one by one.
    """
    if not rows:
        return
    into = f"INSERT INTO validation_slots ({', '.join(NEW)}, state, generation)"
    if db.get_bind().dialect.name == "postgresql":
        arrays = ", ".join(f"CAST(:{name} AS {_ARRAYS.get(name, 'int')}[])" for name in NEW)
        columns: dict[str, Any] = dict(zip(NEW, map(list, zip(*rows, strict=True)), strict=True))
        query = text(f"{into} SELECT slot.*, 'open', {generation:d} FROM unnest({arrays}) AS slot")  # noqa: S608 - names of ours
        db.connection().execute(query, columns)
    else:
        marks = ", ".join("?" * len(NEW))
        db.connection().exec_driver_sql(f"{into} VALUES ({marks}, 'open', {generation:d})", list(rows))
    if len(rows) >= MANY:
        analyse(db)


def analyse(db: Session) -> None:
    """Tell PostgreSQL that the table has changed much; SQLite is told about all tables by the hour."""
    if db.get_bind().dialect.name == "postgresql":
        db.execute(text("ANALYZE validation_slots"))


def extend(db: Session, page_id: int, until: datetime) -> int:
    """Lengthen the leases of a page, also of slots that lapsed and nobody took; give how many items it still holds.

    Gold items count like all others, although they have no slots: the number must not tell which they are.
    """
    connection = db.connection()
    _lock_held(db, page_id)
    held = int(connection.execute(_EXTEND, {"page": page_id, "until": until}).rowcount)
    gold, others = connection.execute(_GOLD_LEFT, {"page": page_id}).one()
    return held + int(gold) if held or not others else 0


def give_back(db: Session, page_id: int) -> int:
    """Open the slots that a page still holds."""
    _lock_held(db, page_id)
    return int(db.connection().execute(_GIVE_BACK, {"page": page_id}).rowcount)


def _lock_held(db: Session, page_id: int) -> None:
    if db.get_bind().dialect.name == "postgresql":
        db.connection().execute(_LOCK_HELD, {"page": page_id})


def drop(db: Session, item_ids: Sequence[int]) -> None:
    """Ask for no more judgements of some items."""
    for start in range(0, len(item_ids), 5000):
        unfinished = Slot.item_id.in_(item_ids[start : start + 5000]) & or_(_is(SlotState.OPEN), _is(SlotState.LEASED))
        db.execute(select(Slot.id).where(unfinished).order_by(Slot.id).with_for_update())
        _change(db, unfinished, state=SlotState.DROPPED.value, lease_until=None)


def of_items(db: Session, item_ids: Sequence[int]) -> list[SlotRow]:
    """Return every slot of some items, locked until the transaction ends."""
    if not item_ids:
        return []
    lock = " FOR UPDATE" if db.get_bind().dialect.name == "postgresql" else ""
    rows = db.connection().execute(_OF_ITEMS[lock], {"items": list(item_ids)})
    return [SlotRow(*row).keep() for row in rows]


def save(db: Session, slots: Iterable[SlotRow]) -> None:
    """Write down what was changed of slots that `of_items` gave."""
    changed = [slot for slot in slots if slot.changed]
    rows = [
        {
            "id": slot.id,
            "author": slot.author_id,
            "rank": slot.rank,
            "state": slot.state,
            "generation": slot.generation,
            "judgement": slot.judgement_id,
        }
        for slot in changed
    ]
    if rows:
        db.connection().execute(_SAVE, rows)
    for slot in changed:
        slot.keep()


def counts(db: Session, validation_id: int) -> dict[SlotState, int]:
    """Count the slots of a validation by state."""
    query = select(Slot.state, func.count()).where(Slot.validation_id == validation_id).group_by(Slot.state)
    return {SlotState(state): int(number) for state, number in db.execute(query)}


def batch_counts(db: Session, validation_id: int) -> dict[int, dict[SlotState, int]]:
    """Count the slots of each batch by state."""
    query = (
        select(Slot.batch, Slot.state, func.count())
        .where(Slot.validation_id == validation_id)
        .group_by(Slot.batch, Slot.state)
        .order_by(Slot.batch)
    )
    counts_by_batch: dict[int, dict[SlotState, int]] = {}
    for batch, state, number in db.execute(query):
        counts_by_batch.setdefault(int(batch), {})[SlotState(state)] = int(number)
    return counts_by_batch


def has_any(db: Session, validation_id: int) -> bool:
    """Whether a validation has items to judge, and so slots."""
    item = select(ValidationItem.id).where(ValidationItem.validation_id == validation_id)
    return db.scalar(item.where(ValidationItem.gold.is_(None)).limit(1)) is not None


def anything_wanted(db: Session, validation_id: int) -> bool:
    """Whether any slot of a validation is still to be filled."""
    left = select(Slot.id).where(Slot.validation_id == validation_id)
    return any(db.scalar(left.where(_is(state)).limit(1)) is not None for state in SlotState if state.is_pending)


def batch_has_open(db: Session, validation_id: int, batch: int) -> bool:
    """Whether a slot of a batch is open; one that is leased may come back yet."""
    return db.connection().execute(_OPEN_IN, {"validation": validation_id, "batch": batch}).first() is not None


def batch_is_done(db: Session, validation_id: int, batch: int) -> bool:
    """Whether no slot of a batch is open or leased."""
    left = select(Slot.id).where(Slot.validation_id == validation_id, Slot.batch == batch)
    return all(db.scalar(left.where(_is(state)).limit(1)) is None for state in SlotState if state.is_pending)


def is_leased(db: Session, validation_id: int, moment: datetime) -> bool:
    """Whether somebody holds a slot whose lease still runs."""
    held = select(Slot.id).where(Slot.validation_id == validation_id, _is(SlotState.LEASED), Slot.lease_until >= moment)
    return db.scalar(held.limit(1)) is not None


def waiting_items(db: Session, validation_id: int) -> npt.NDArray[np.int64]:
    """List the items that have open or leased slots."""
    query = select(Slot.item_id).where(Slot.validation_id == validation_id)
    item_ids = [*db.scalars(query.where(_is(SlotState.OPEN))), *db.scalars(query.where(_is(SlotState.LEASED)))]
    return np.unique(np.array(item_ids, dtype=np.int64))


def _change(db: Session, condition: ColumnElement[bool], **values: Any) -> int:
    change = update(Slot).where(condition).values(**values).execution_options(synchronize_session=False)
    return int(db.execute(change).rowcount)  # type: ignore[attr-defined]  # an UPDATE gives a CursorResult
