"""What became of the items of a validation, as it was counted last: kept in step, and asked for page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import (
    JSON,
    ColumnElement,
    Select,
    UnaryExpression,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session

from quintain.store.database import transaction
from quintain.store.queries.jobs import counts
from quintain.store.queries.jobs.counts import CountKey, validation_count
from quintain.store.queries.validate.items import with_text
from quintain.store.tables import ItemFigure, ValidationItem
from quintain.store.write_queue import sqlite_write_queue

AT_A_TIME = 1000  # rows that one transaction writes: others wait for some milliseconds
CONTESTED = "contested"  # the name of the count
GOLD = "gold"  # the state of rows of gold items, which have a list of their own
_NULLABLE = {"share", "label"}
_PUT = text("""
    INSERT INTO item_figures
    (item_id, validation_id, state, contested, label, judgements, share, sureness, by_expert, votes)
    VALUES (:item_id, :validation_id, :state, :contested, :label, :judgements, :share, :sureness, :by_expert, :votes)
    ON CONFLICT (item_id) DO UPDATE SET state = excluded.state, contested = excluded.contested,
    label = excluded.label, judgements = excluded.judgements, share = excluded.share, sureness = excluded.sureness,
    by_expert = excluded.by_expert, votes = excluded.votes""").bindparams(bindparam("votes", type_=JSON()))


class ItemFigures(NamedTuple):
    """An item as it is kept."""

    item_id: int
    state: str
    contested: bool
    label: str | None
    judgements: int
    share: float | None
    sureness: float
    by_expert: bool
    votes: Mapping[str, int]


_COLUMNS = [getattr(ItemFigure, name) for name in ItemFigures._fields]


class ItemFilter(NamedTuple):
    """Which items: of a *state* or contested ones, with a *label*, whose inputs contain a *text*."""

    state: str = ""
    label: str = ""
    text: str = ""


def keep(db: Session, validation_id: int, rows: Mapping[int, ItemFigures]) -> int:
    """Bring the kept rows of a validation into step with *rows*; give how many were not as they should be."""
    gone: list[int] = []
    same: set[int] = set()
    for known in _stored(db, validation_id):
        fresh = rows.get(known.item_id)
        if fresh is None:
            gone.append(known.item_id)
        elif fresh == known:
            same.add(known.item_id)
    changed = [row for key, row in rows.items() if key not in same]
    for start in range(0, len(changed), AT_A_TIME):
        some = [{**row._asdict(), "validation_id": validation_id} for row in changed[start : start + AT_A_TIME]]
        with sqlite_write_queue(db), _counting(db, validation_id, [row["item_id"] for row in some]):
            db.connection().execute(_PUT, some)
    for start in range(0, len(gone), AT_A_TIME):
        some_gone = gone[start : start + AT_A_TIME]
        with sqlite_write_queue(db), _counting(db, validation_id, some_gone):
            leave = delete(ItemFigure).where(ItemFigure.item_id.in_(some_gone))
            db.execute(leave.execution_options(synchronize_session=False))
    return len(changed) + len(gone)


def _stored(db: Session, validation_id: int) -> Iterator[ItemFigures]:
    query = select(*_COLUMNS).where(ItemFigure.validation_id == validation_id)
    for row in db.connection().execute(query).yield_per(10_000):
        yield ItemFigures(*row)


def page(
    db: Session, validation_id: int, item_filter: ItemFilter, *, order: str, down: bool, offset: int, limit: int
) -> list[ItemFigures]:
    """Return one page of the items; those without a value to sort by come last either way."""
    key = {"item": ItemFigure.item_id}.get(order) or getattr(ItemFigure, order)
    query = select(ItemFigure.item_id).where(*_conditions(validation_id, item_filter))
    item_id = ItemFigure.item_id
    by: list[UnaryExpression[Any]] = [key.desc(), item_id.desc()] if down else [key.asc(), item_id.asc()]
    if order not in _NULLABLE:
        ids = list(db.scalars(query.order_by(*by).limit(limit).offset(offset)))
        return in_order(db, ids)
    with_value = query.where(key.is_not(None))
    ids = list(db.scalars(with_value.order_by(*by).limit(limit).offset(offset)))
    if len(ids) < limit:
        before = 0 if ids else _count(db, with_value)
        missing = query.where(key.is_(None)).order_by(item_id).limit(limit - len(ids))
        ids += db.scalars(missing.offset(0 if ids else offset - before))
    return in_order(db, ids)


def _conditions(validation_id: int, item_filter: ItemFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [ItemFigure.validation_id == validation_id]
    if item_filter.state == "contested":
        conditions.append(_contested())
    elif item_filter.state:
        conditions.append(ItemFigure.state == item_filter.state)
    else:
        conditions.append(ItemFigure.state != GOLD)
    if item_filter.label:
        conditions.append(ItemFigure.label == item_filter.label)
    if item_filter.text:
        conditions.append(ItemFigure.item_id.in_(with_text(validation_id, item_filter.text)))
    return conditions


def _contested() -> ColumnElement[bool]:
    return text("contested")  # type: ignore[return-value]  # SQLite uses a partial index where it sees its condition


def count(db: Session, validation_id: int, item_filter: ItemFilter) -> int:
    """Count the items that are wanted."""
    return _count(db, select(ItemFigure.item_id).where(*_conditions(validation_id, item_filter)))


def _count(db: Session, query: Select[Any]) -> int:
    return db.scalar(select(func.count()).select_from(query.subquery())) or 0


def in_order(db: Session, ids: Sequence[int]) -> list[ItemFigures]:
    """Return the rows of some items, in the order of *ids*; what is not kept is left out."""
    rows_by_item = {
        row.item_id: ItemFigures(*row) for row in db.execute(select(*_COLUMNS).where(ItemFigure.item_id.in_(ids)))
    }
    return [rows_by_item[one] for one in ids if one in rows_by_item]


def contested(db: Session, validation_id: int, but_by: int | None, *, offset: int, limit: int) -> list[ItemFigures]:
    """Return part of the queue of contested items, the least sure ones first; none that *but_by* wrote."""
    query = _queue(validation_id, but_by).order_by(ItemFigure.sureness, ItemFigure.item_id)
    return in_order(db, list(db.scalars(query.limit(limit).offset(offset)))) if limit else []


@contextmanager
def _counting(db: Session, validation_id: int, ids: Sequence[int]) -> Iterator[None]:
    """Write rows of these items in one transaction, and keep the number of contested items in step."""
    disputed = select(func.count()).where(ItemFigure.item_id.in_(ids), ItemFigure.contested.is_(True))
    with transaction(db):
        # Whoever decides on one of them meanwhile has decided before, or waits: what is counted is what changes.
        db.execute(
            select(ItemFigure.item_id).where(ItemFigure.item_id.in_(ids)).order_by(ItemFigure.item_id).with_for_update()
        )
        before = db.scalar(disputed) or 0
        yield
        counts.change(db, {validation_count(validation_id, CONTESTED): (db.scalar(disputed) or 0) - before})


def counted(db: Session) -> dict[CountKey, int]:
    """Count the contested items of every validation."""
    query = select(ItemFigure.validation_id, func.count()).where(ItemFigure.contested.is_(True))
    rows = db.execute(query.group_by(ItemFigure.validation_id))
    return {validation_count(validation_id, CONTESTED): number for validation_id, number in rows}


def count_contested(db: Session, validation_id: int, but_by: int | None) -> int:
    """Return the length of the queue of contested items; none that *but_by* wrote."""
    all_of_them = counts.of_validation(db, validation_id).get(CONTESTED, 0)
    if but_by is None or not all_of_them:
        return all_of_them
    own = select(ItemFigure.item_id).join(ValidationItem, ValidationItem.id == ItemFigure.item_id)
    mine = and_(ValidationItem.author_id == but_by, ValidationItem.validation_id == validation_id)
    return all_of_them - _count(db, own.where(mine, ItemFigure.contested.is_(True)))


def _queue(validation_id: int, but_by: int | None) -> Select[int]:
    query = select(ItemFigure.item_id).where(ItemFigure.validation_id == validation_id, _contested())
    if but_by is None:
        return query
    others = or_(ValidationItem.author_id.is_(None), ValidationItem.author_id != but_by)
    return query.join(ValidationItem, ValidationItem.id == ItemFigure.item_id).where(others)


def decide(db: Session, item_id: int, label: str) -> None:
    """Note an expert's decision on an item until it is counted again: it leaves the queue, or comes back to it."""
    values: dict[str, Any] = {"by_expert": bool(label), "contested": not label, "label": label or None}
    values |= {"state": "labelled" if label else "undecided"}
    it = ItemFigure.item_id == item_id
    before = db.execute(select(ItemFigure.validation_id, ItemFigure.contested).where(it).with_for_update()).first()
    if before is None:
        return
    db.execute(update(ItemFigure).where(it).values(**values).execution_options(synchronize_session=False))
    by = int(not label) - int(before.contested)
    counts.change(db, {validation_count(before.validation_id, CONTESTED): by})
