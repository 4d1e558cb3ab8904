"""Everything that was collected for a validation, judged or not: what error rates are divided by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from quintain.store.queries.validate.intake import gone
from quintain.store.tables import Attempt, Round, Validation, ValidationItem, ValidationReview

FETCHED = 2000  # rows that are read at a time


class Collected(NamedTuple):
    """An item or attempt: *item_id* is None where it is not judged, *written* says whether a person aimed it."""

    item_id: int | None
    attempt_id: int | None
    author_id: int | None
    aim: str
    answer: Any
    predictions: list[dict[str, Any]]
    written: bool


def collected(db: Session, validation_id: int, round_id: int | None) -> Iterator[Collected]:
    """Yield all attempts of a round that stand, and all items that come from elsewhere, such as harvested ones.

    Of no round are also pools: items that were written in several. All come some at a time.
    """
    if round_id is not None:
        yield from _some(db, _attempts(validation_id, round_id).order_by(Attempt.id))
    elsewhere = _items(validation_id)
    if round_id is not None:
        elsewhere = elsewhere.where(ValidationItem.attempt_id.is_(None))
    yield from _some(db, elsewhere.order_by(ValidationItem.id))


def own_items(
    db: Session, validation_id: int, round_id: int | None, author_id: int, *, limit: int, offset: int = 0
) -> list[Collected]:
    """Return some of what a person wrote that is judged in a validation and stands, the newest first."""
    if round_id is not None:
        mine = _attempts(validation_id, round_id).where(Attempt.user_id == author_id).order_by(Attempt.id.desc())
    else:
        mine = _items(validation_id).where(*_own_items(author_id)).order_by(ValidationItem.attempt_id.desc())
    return list(_some(db, mine.limit(limit).offset(offset)))


def count_own_items(db: Session, validation_id: int, round_id: int | None, author_id: int) -> int:
    """Count what a person wrote that is judged in a validation and stands."""
    if round_id is not None:
        query = select(func.count()).select_from(Attempt)
        mine = query.where(Attempt.user_id == author_id, Attempt.round_id == round_id, ~gone())
    else:
        query = select(func.count()).select_from(ValidationItem)
        mine = query.where(ValidationItem.validation_id == validation_id, *_own_items(author_id))
        mine = mine.where(ValidationItem.gold.is_(None), ValidationItem.retired_at.is_(None))
    return db.scalar(mine) or 0


def _own_items(author_id: int) -> tuple[ColumnElement[bool], ...]:
    return ValidationItem.author_id == author_id, ValidationItem.attempt_id.is_not(None)


def _attempts(validation_id: int, round_id: int) -> Select[Any]:
    judged = (ValidationItem.validation_id == validation_id) & (ValidationItem.hash == Attempt.hash)
    columns = (Attempt.id, Attempt.user_id, Attempt.aim, Attempt.target, Attempt.predictions)
    query = select(ValidationItem.id, *columns, Attempt.origin == "written").select_from(Attempt)
    return query.outerjoin(ValidationItem, judged).where(Attempt.round_id == round_id, ~gone())


def _items(validation_id: int) -> Select[Any]:
    item = ValidationItem
    columns = (item.id, item.attempt_id, item.author_id, item.aim, item.answer, item.predictions, item.aim != "")
    return select(*columns).where(item.validation_id == validation_id, item.gold.is_(None), item.retired_at.is_(None))


def _some(db: Session, query: Select[Any]) -> Iterator[Collected]:
    for item, attempt, author, aim, answer, predictions, written in db.execute(query).yield_per(FETCHED):
        yield Collected(item, attempt, author, aim, answer, predictions or [], bool(written))


def standing_attempts(db: Session, attempt_ids: Sequence[int]) -> set[int]:
    """Return which of some attempts are neither retracted nor withheld."""
    return set(db.scalars(select(Attempt.id).where(Attempt.id.in_(attempt_ids), ~gone())))


def rounds_of(db: Session, validation_id: int, round_id: int | None) -> dict[int, tuple[int, int]]:
    """Return the id and the number of the round of each attempt: those of a round or, in a pool, those of its items."""
    query = select(Attempt.id, Round.id, Round.number).join(Round, Round.id == Attempt.round_id)
    if round_id is not None:
        query = query.where(Attempt.round_id == round_id)
    else:
        query = query.join(ValidationItem, ValidationItem.attempt_id == Attempt.id)
        query = query.where(ValidationItem.validation_id == validation_id)
    return {int(attempt): (int(key), int(number)) for attempt, key, number in db.execute(query)}


def writers_elsewhere(db: Session, task_id: int, validation_id: int) -> list[dict[str, list[int]]]:
    """Return what the newest reviews of a task's other validations say about the writers."""
    newest = (
        select(func.max(ValidationReview.id))
        .join(Validation, Validation.id == ValidationReview.validation_id)
        .where(Validation.task_id == task_id, Validation.id != validation_id)
        .group_by(ValidationReview.validation_id)
    )
    rows = db.scalars(select(ValidationReview.summary).where(ValidationReview.id.in_(newest)))
    return [dict(summary.get("writers", {})) for summary in rows]
