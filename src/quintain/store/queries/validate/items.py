"""The items of validations, gold ones too: by id, by writer, by text, and how many there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import ColumnElement, Select, Text, cast, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from quintain.store.queries.validate.validation import touch
from quintain.store.tables import Judgement, Validation, ValidationItem

SEARCHED = 10_000  # the newest items, among which a text is looked for
GOLD_COPY = "gold:"  # before the hash of an item that was made a gold item, too


class PartCount(NamedTuple):
    """The items of a part: all, those that are judged more often, and how many judgements these were to get."""

    part: str
    items: int
    often: int
    asked: int


def items_of_attempt(db: Session, attempt_id: int) -> list[ValidationItem]:
    """List the items that an attempt became, gold copies too."""
    return list(db.scalars(select(ValidationItem).where(ValidationItem.attempt_id == attempt_id)))


def retire_items(db: Session, ids: Sequence[int], at: datetime) -> None:
    """Take items out of what is judged and counted."""
    change = update(ValidationItem).where(ValidationItem.id.in_(ids), ValidationItem.retired_at.is_(None))
    db.execute(change.values(retired_at=at).execution_options(synchronize_session=False))
    for validation_id in db.scalars(select(ValidationItem.validation_id).where(ValidationItem.id.in_(ids)).distinct()):
        touch(db, validation_id)


def count_items(db: Session, validation_id: int) -> int:
    """Count the items that were ever taken in to be judged; gold items are not. Both counts read an index alone."""
    all_of_it = select(func.count()).where(ValidationItem.validation_id == validation_id)
    gold = all_of_it.where(ValidationItem.gold.is_not(None))
    return (db.scalar(all_of_it) or 0) - (db.scalar(gold) or 0)


def count_items_to(db: Session, validation_id: int, most: int) -> int:
    """Count the items of a validation, gold ones too, and no further than *most*."""
    some = select(ValidationItem.id).where(ValidationItem.validation_id == validation_id).limit(most).subquery()
    return db.scalar(select(func.count()).select_from(some)) or 0


def draw_judged(db: Session, validation_id: int, *, least: int, number: int, among: int) -> list[int]:
    """Draw *number* items that stand and have *least* judgements, from *among* so many, in the order of their hashes.

    A hash says nothing of when an item came or what it is, and an index has them in that order.
    """
    some = (
        select(ValidationItem.id, ValidationItem.hash)
        .where(
            ValidationItem.validation_id == validation_id,
            ValidationItem.gold.is_(None),
            ValidationItem.retired_at.is_(None),
        )
        .order_by(ValidationItem.hash)
        .limit(among)
        .subquery()
    )
    judgements = select(func.count()).where(Judgement.item_id == some.c.id).scalar_subquery()
    return list(db.scalars(select(some.c.id).where(judgements >= least).order_by(some.c.hash).limit(number)))


def gone_ids(db: Session, validation_id: int) -> list[int]:
    """List the items that were taken out: retracted or withheld; gold items are not among them."""
    query = select(ValidationItem.id).where(
        ValidationItem.validation_id == validation_id,
        ValidationItem.gold.is_(None),
        ValidationItem.retired_at.is_not(None),
    )
    return list(db.scalars(query.order_by(ValidationItem.id)))


def count_gold(db: Session, validation_id: int) -> int:
    """Count the gold items that are still shown."""
    query = select(func.count()).where(
        ValidationItem.validation_id == validation_id,
        ValidationItem.gold.is_not(None),
        ValidationItem.retired_at.is_(None),
    )
    return db.scalar(query) or 0


def items(db: Session, ids: Sequence[int]) -> dict[int, ValidationItem]:
    """Return items by their ids."""
    items_by_id: dict[int, ValidationItem] = {}
    for start in range(0, len(ids), 5000):
        query = select(ValidationItem).where(ValidationItem.id.in_(ids[start : start + 5000]))
        items_by_id |= {item.id: item for item in db.scalars(query)}
    return items_by_id


def hashes(db: Session, ids: Sequence[int]) -> dict[int, str]:
    """Return the hashes of items by their ids."""
    hashes_by_id: dict[int, str] = {}
    for start in range(0, len(ids), 5000):
        query = select(ValidationItem.id, ValidationItem.hash).where(ValidationItem.id.in_(ids[start : start + 5000]))
        hashes_by_id |= {int(key): name for key, name in db.execute(query)}
    return hashes_by_id


def contents(db: Session, ids: Sequence[int]) -> list[tuple[str, dict[str, Any]]]:
    """Return hash and inputs of items, in the order of their ids as given."""
    contents_by_id: dict[int, tuple[str, dict[str, Any]]] = {}
    for start in range(0, len(ids), 5000):
        query = select(ValidationItem.id, ValidationItem.hash, ValidationItem.inputs)
        rows = db.execute(query.where(ValidationItem.id.in_(ids[start : start + 5000])))
        contents_by_id |= {int(key): (name, inputs) for key, name, inputs in rows}
    return [contents_by_id[one] for one in ids]


def item_by_id(db: Session, validation_id: int, item_id: int) -> ValidationItem | None:
    """Return one item of a validation; None without one."""
    query = select(ValidationItem).where(ValidationItem.validation_id == validation_id, ValidationItem.id == item_id)
    return db.scalar(query)


def item_ids(db: Session, validation_id: int) -> npt.NDArray[np.int64]:
    """List the ids of the items that are judged and stand, in order."""
    query = select(ValidationItem.id).where(
        ValidationItem.validation_id == validation_id,
        ValidationItem.gold.is_(None),
        ValidationItem.retired_at.is_(None),
    )
    return np.array(db.scalars(query.order_by(ValidationItem.id)).all(), dtype=np.int64)


def writers(db: Session, validation_id: int, item_ids: Sequence[int] | None = None) -> dict[int, tuple[int, str]]:
    """Return who wrote items and what they aimed at, by the items' ids; items that nobody wrote are left out."""
    query = select(ValidationItem.id, ValidationItem.author_id, ValidationItem.aim)
    written = query.where(ValidationItem.validation_id == validation_id, ValidationItem.author_id.is_not(None))
    if item_ids is not None:
        written = written.where(ValidationItem.id.in_(item_ids))
    return {int(key): (int(author or 0), aim) for key, author, aim in db.execute(written)}


def aims(db: Session, validation_id: int) -> list[str]:
    """List the different labels that writers of items aimed at."""
    written = (ValidationItem.validation_id == validation_id) & ValidationItem.author_id.is_not(None)
    return [*db.scalars(select(ValidationItem.aim).where(written).distinct())]


def asked_often(db: Session, validation_id: int) -> dict[int, int]:
    """Return how many judgements the items were drawn to get that are judged more often than others."""
    query = select(ValidationItem.id, ValidationItem.asked).where(
        ValidationItem.validation_id == validation_id, ValidationItem.asked.is_not(None)
    )
    return {int(key): int(asked or 0) for key, asked in db.execute(query)}


def parts(db: Session, validation_id: int) -> list[PartCount]:
    """Count the items of each part that stand, those that are judged more often, and what is asked of these."""
    query = (
        select(
            ValidationItem.part,
            func.count(),
            func.count(ValidationItem.asked),
            func.coalesce(func.sum(ValidationItem.asked), 0),
        )
        .where(
            ValidationItem.validation_id == validation_id,
            ValidationItem.gold.is_(None),
            ValidationItem.retired_at.is_(None),
        )
        .group_by(ValidationItem.part)
        .order_by(ValidationItem.part)
    )
    return [PartCount(part, int(items), int(often), int(asked or 0)) for part, items, often, asked in db.execute(query)]


def with_text(validation_id: int, search: str) -> Select[int]:
    """Choose the items in whose inputs *search* occurs, whatever its case, among the newest that are searched.

    No index knows what is within a text, so that only so many are read as take some tens of milliseconds.
    """
    mine = ValidationItem.validation_id == validation_id
    before = select(ValidationItem.id).where(mine).order_by(ValidationItem.id.desc()).limit(1).offset(SEARCHED)
    return select(ValidationItem.id).where(
        mine,
        ValidationItem.id > func.coalesce(before.scalar_subquery(), 0),
        has_text(search),
    )


def has_text(search: str) -> ColumnElement[bool]:
    """Return a condition on an item: *search* occurs in its inputs, whatever its case."""
    inputs = func.lower(cast(ValidationItem.inputs, Text))
    # JSON is kept with or without escapes; either way of writing the text may be the one.
    forms = {search.lower(), json.dumps(search.lower())[1:-1], json.dumps(search.lower(), ensure_ascii=False)[1:-1]}
    return or_(*(inputs.contains(form, autoescape=True) for form in sorted(forms)))


def settled(db: Session, ids: Sequence[int]) -> set[int]:
    """Return which items nobody is asked about again: retracted, withheld, or made gold items, too."""
    copy = aliased(ValidationItem)
    copies = select(copy.id).where(
        copy.validation_id == ValidationItem.validation_id, copy.hash == GOLD_COPY + ValidationItem.hash
    )
    settled_ids: set[int] = set()
    for start in range(0, len(ids), 5000):
        query = select(ValidationItem.id).where(ValidationItem.id.in_(ids[start : start + 5000]))
        settled_ids |= set(db.scalars(query.where(or_(ValidationItem.retired_at.is_not(None), copies.exists()))))
    return settled_ids


def known_hashes(db: Session, validation_id: int, hashes: Sequence[str]) -> set[str]:
    """Return which of *hashes* are items already."""
    query = select(ValidationItem.hash).where(ValidationItem.validation_id == validation_id)
    known: set[str] = set()
    for start in range(0, len(hashes), 5000):
        known |= set(db.scalars(query.where(ValidationItem.hash.in_(hashes[start : start + 5000]))))
    return known


def copied(db: Session, validation_id: int, hashes: Sequence[str]) -> set[str]:
    """Return which of *hashes* are of items that were made gold items, too."""
    copies = known_hashes(db, validation_id, [GOLD_COPY + name for name in hashes])
    return {name.removeprefix(GOLD_COPY) for name in copies}


def shown_gold_of_task(db: Session, task_id: int) -> list[ValidationItem]:
    """List the gold items that any validation of a task still shows."""
    query = (
        select(ValidationItem)
        .join(Validation, Validation.id == ValidationItem.validation_id)
        .where(Validation.task_id == task_id, ValidationItem.gold.is_not(None), ValidationItem.retired_at.is_(None))
        .order_by(ValidationItem.id)
    )
    return list(db.scalars(query))
