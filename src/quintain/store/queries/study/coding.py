"""Queries for hand coding: what may be drawn, who codes what, how far it is, and what was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, insert, or_, select
from sqlalchemy.orm import Session, aliased

from quintain.store.queries.validate.intake import gone
from quintain.store.tables import Attempt, CodingCode, CodingItem, CodingPlace, CodingRow, TaskRow


class WrittenItem(NamedTuple):
    """An attempt that stands, as far as coding needs it."""

    id: int
    inputs: dict[str, Any]
    target: Any
    condition: str
    origin: str
    user_id: int | None


def of_round(db: Session, round_id: int) -> list[WrittenItem]:
    """List the attempts of a round that were neither retracted nor withheld, in order."""
    query = select(
        Attempt.id, Attempt.inputs, Attempt.target, Attempt.condition, Attempt.origin, Attempt.user_id
    ).where(Attempt.round_id == round_id, ~gone())
    return [WrittenItem(*row) for row in db.execute(query.order_by(Attempt.id))]


def find(db: Session, task: str, name: str) -> tuple[CodingRow, str] | None:
    """Find a coding by its task and name."""
    row = db.execute(_codings().where(TaskRow.name == task, CodingRow.name == name)).one_or_none()
    return (row[0], row[1]) if row else None


def all_of(db: Session, task: str, *, limit: int, offset: int) -> tuple[list[tuple[CodingRow, str]], int]:
    """List the codings of a task, the newest first; and count them."""
    total = select(func.count()).select_from(CodingRow).join(TaskRow, TaskRow.id == CodingRow.task_id)
    query = _codings().where(TaskRow.name == task).order_by(CodingRow.id.desc()).limit(limit).offset(offset)
    codings = [(row[0], row[1]) for row in db.execute(query)]
    return codings, db.scalar(total.where(TaskRow.name == task)) or 0


def refs_with_figures(db: Session) -> list[str]:
    """Name the codings of all tasks that figures are kept of, the oldest first."""
    query = select(TaskRow.name, CodingRow.name).join(TaskRow, TaskRow.id == CodingRow.task_id)
    names = db.execute(query.where(CodingRow.figured > 0).order_by(CodingRow.id))
    return [f"{task}/{name}" for task, name in names]


def newest_open(db: Session, limit: int) -> list[tuple[CodingRow, str]]:
    """List the newest codings that are open."""
    query = _codings().where(CodingRow.state == "open").order_by(CodingRow.id.desc()).limit(limit)
    return [(row[0], row[1]) for row in db.execute(query)]


def add_items(db: Session, coding_id: int, rows: Sequence[Mapping[str, Any]], coders: int) -> None:
    """Add the items of a sample, in their mixed order, and places for so many coders of each."""
    db.execute(insert(CodingItem), [{**row, "coding_id": coding_id} for row in rows])
    ids = list(db.scalars(select(CodingItem.id).where(CodingItem.coding_id == coding_id).order_by(CodingItem.draw)))
    places = [
        {"coding_id": coding_id, "item_id": item, "turn": turn * len(ids) + at, "done": False}
        for turn in range(coders)
        for at, item in enumerate(ids)
    ]
    db.execute(insert(CodingPlace), places)


def _left(item: Any) -> ColumnElement[bool]:
    """Return a condition on the item with the id *item*: what it shows was taken back or is withheld."""
    shown = aliased(CodingItem)
    taken = select(shown.id).join(Attempt, Attempt.id == shown.attempt_id)
    return taken.where(shown.id == item, gone()).exists()


def gone_among(db: Session, attempt_ids: Sequence[int]) -> set[int]:
    """Return which of these attempts were taken back or are withheld."""
    return set(db.scalars(select(Attempt.id).where(Attempt.id.in_(attempt_ids), gone())))


def left_items(db: Session, coding_id: int) -> list[CodingItem]:
    """List the items of a sample that are out of it, since what they show was taken back or is withheld."""
    query = select(CodingItem).join(Attempt, Attempt.id == CodingItem.attempt_id)
    return list(db.scalars(query.where(CodingItem.coding_id == coding_id, gone())))


def counts(db: Session, coding_ids: Sequence[int]) -> dict[int, tuple[int, int, int]]:
    """Count the places of codings, those that are done, and the people who did them; without what left the sample."""
    query = (
        select(
            CodingPlace.coding_id,
            func.count(),
            func.count().filter(CodingPlace.done.is_(True)),
            func.count(CodingPlace.holder_id.distinct()).filter(CodingPlace.done.is_(True)),
        )
        .where(CodingPlace.coding_id.in_(coding_ids), ~_left(CodingPlace.item_id))
        .group_by(CodingPlace.coding_id)
    )
    return {row[0]: (row[1], row[2], row[3]) for row in db.execute(query)}


def count_said(db: Session, coding_id: int) -> int:
    """Count all that was ever said in a coding, also what was said anew later."""
    query = select(func.count(CodingCode.id)).join(CodingPlace, CodingPlace.id == CodingCode.place_id)
    return db.scalar(query.where(CodingPlace.coding_id == coding_id)) or 0


def count_by(db: Session, coding_id: int, user_id: int) -> int:
    """Count what somebody has coded."""
    query = select(func.count()).where(
        CodingPlace.coding_id == coding_id, CodingPlace.holder_id == user_id, CodingPlace.done.is_(True)
    )
    return db.scalar(query) or 0


def draw(db: Session, coding_id: int, user_id: int, at: datetime, until: datetime) -> CodingPlace | None:
    """Return the place that somebody has in hand, or lease them the next. Inside a writing transaction."""
    held = select(CodingPlace).where(
        CodingPlace.coding_id == coding_id,
        CodingPlace.holder_id == user_id,
        CodingPlace.done.is_(False),
        CodingPlace.lease_until > at,
        ~_left(CodingPlace.item_id),
    )
    coding_place = db.scalar(held.limit(1).execution_options(populate_existing=True))
    if coding_place is None:
        query = (
            select(CodingPlace)
            .where(_open_to(coding_id, user_id, at))
            .order_by(CodingPlace.turn)
            .limit(1)
            .with_for_update(skip_locked=True)
            .execution_options(populate_existing=True)
        )
        coding_place = db.scalar(query)
        if coding_place is None:
            return None
        coding_place.holder_id, coding_place.held_since = user_id, at
    coding_place.lease_until = until
    db.flush()
    return coding_place


def any_open_to(db: Session, coding_id: int, user_id: int, at: datetime) -> bool:
    """Whether there is something to code for somebody."""
    mine = (CodingPlace.coding_id == coding_id) & (CodingPlace.holder_id == user_id) & CodingPlace.done.is_(False)
    held = mine & (CodingPlace.lease_until > at) & ~_left(CodingPlace.item_id)
    open_places = select(CodingPlace.id).where(or_(held, _open_to(coding_id, user_id, at)))
    return db.scalar(select(open_places.exists())) or False


def _open_to(coding_id: int, user_id: int, at: datetime) -> ColumnElement[bool]:
    """Ask for places that nobody has, of items that somebody neither wrote nor has said anything of."""
    other = aliased(CodingPlace)
    mine = select(other.id).where(
        other.item_id == CodingPlace.item_id, other.holder_id == user_id, other.id != CodingPlace.id, other.done
    )
    own = select(CodingItem.id).where(CodingItem.id == CodingPlace.item_id, CodingItem.author_id == user_id)
    return (
        (CodingPlace.coding_id == coding_id)
        & CodingPlace.done.is_(False)
        & or_(CodingPlace.lease_until.is_(None), CodingPlace.lease_until <= at)
        & ~mine.exists()
        & ~own.exists()
        & ~_left(CodingPlace.item_id)
    )


def place_of(db: Session, coding_id: int, place_id: int) -> CodingPlace | None:
    """Return a place of a coding, as it is now."""
    query = select(CodingPlace).where(CodingPlace.coding_id == coding_id, CodingPlace.id == place_id)
    return db.scalar(query.execution_options(populate_existing=True))


def newest_code(db: Session, place_id: int) -> CodingCode | None:
    """Return what was last said in a place."""
    query = select(CodingCode).where(CodingCode.place_id == place_id)
    return db.scalar(query.order_by(CodingCode.id.desc()).limit(1))


def last_of(db: Session, coding_id: int, user_id: int, before: int | None) -> int | None:
    """Return the place of which somebody last said something for the first time; with *before*, the one before that."""
    first = select(CodingCode.place_id, func.min(CodingCode.id).label("first")).group_by(CodingCode.place_id).subquery()
    query = (
        select(CodingPlace.id)
        .join(first, first.c.place_id == CodingPlace.id)
        .where(CodingPlace.coding_id == coding_id, CodingPlace.holder_id == user_id, CodingPlace.done.is_(True))
        .where(~_left(CodingPlace.item_id))
    )
    if before is not None:
        earlier = select(func.min(CodingCode.id)).where(CodingCode.place_id == before).scalar_subquery()
        query = query.where(first.c.first < earlier)
    return db.scalar(query.order_by(first.c.first.desc()).limit(1))


class CodedRow(NamedTuple):
    """What one person says of one item in the end."""

    item_id: int
    key: str
    arm: str
    user_id: int
    categories: list[str]
    note: str
    seconds: float | None
    created_at: datetime


def codes(db: Session, coding_id: int) -> list[CodedRow]:
    """Return all that people say in the end, item by item in the mixed order."""
    return [CodedRow(*row) for row in db.execute(_newest_codes(coding_id))]


def codes_in_parts(db: Session, coding_id: int, size: int) -> Iterator[list[CodedRow]]:
    """Yield the same, *size* at a time."""
    for rows in db.execute(_newest_codes(coding_id), execution_options={"yield_per": size}).partitions():
        yield [CodedRow(*row) for row in rows]


def _newest_codes(coding_id: int) -> Select[int, str, str, int, list[str], str, float | None, datetime]:
    newer = aliased(CodingCode)
    later = select(newer.id).where(newer.place_id == CodingCode.place_id, newer.id > CodingCode.id)
    return (
        select(
            CodingItem.id,
            CodingItem.key,
            CodingItem.arm,
            CodingCode.user_id,
            CodingCode.categories,
            CodingCode.note,
            CodingCode.seconds,
            CodingCode.created_at,
        )
        .join(CodingPlace, CodingPlace.id == CodingCode.place_id)
        .join(CodingItem, CodingItem.id == CodingPlace.item_id)
        .where(CodingPlace.coding_id == coding_id, CodingPlace.done.is_(True), ~later.exists())
        .where(~_left(CodingItem.id))
        .order_by(CodingItem.draw, CodingPlace.turn)
    )


def contents(db: Session, item_ids: Sequence[int]) -> dict[int, tuple[dict[str, Any], str]]:
    """Return the inputs of items, and their justifications where those are coded."""
    query = select(CodingItem.id, CodingItem.inputs, CodingItem.text).where(CodingItem.id.in_(item_ids))
    return {row[0]: (row[1], row[2]) for row in db.execute(query)}


def _codings() -> Select[CodingRow, str]:
    return (
        select(CodingRow, TaskRow.name)
        .join(TaskRow, TaskRow.id == CodingRow.task_id)
        .execution_options(populate_existing=True)
    )
