"""Gold items page by page, and how often each of some was shown and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, SQLColumnExpression, Text, cast, func, select
from sqlalchemy.orm import Session

from quintain.store.queries.validate.intake import is_gone_now
from quintain.store.queries.validate.items import has_text
from quintain.store.tables import Attempt, ItemFigure, Judgement, Offer, ValidationItem


class GoldFilter(NamedTuple):
    """Which gold items: those that are `used` or `retired`, and whose inputs contain a *text*."""

    use: str = ""
    text: str = ""


class GoldCount(NamedTuple):
    """How often a gold item was shown, how many answered, and how many of them were right."""

    shown: int = 0
    answered: int = 0
    right: int = 0


def page(
    db: Session, validation_id: int, gold_filter: GoldFilter, *, order: str, down: bool, offset: int, limit: int
) -> list[ValidationItem]:
    """Return one page of the gold items that are not gone; those without a value to sort by come last either way.

    By accuracy they are sorted as it was counted last: what everybody said of every one of them is not read here.
    """
    key, item_id = _keys()[order], ValidationItem.id
    query = select(ValidationItem).where(*_conditions(validation_id, gold_filter))
    if order == "accuracy":
        query = query.outerjoin(ItemFigure, ItemFigure.item_id == ValidationItem.id)
    by = (key.is_(None), key.desc(), item_id.desc()) if down else (key.is_(None), key.asc(), item_id.asc())
    return list(db.scalars(query.order_by(*by).limit(limit).offset(offset)))


def _keys() -> Mapping[str, SQLColumnExpression[Any]]:
    shown = select(func.count()).where(Offer.item_id == ValidationItem.id, Offer.slot_id.is_(None))
    return {
        "added": ValidationItem.id,
        "text": func.lower(cast(ValidationItem.inputs, Text)),
        "label": ValidationItem.gold,
        "shown": shown.correlate(ValidationItem).scalar_subquery(),
        "accuracy": ItemFigure.share,
    }


def _conditions(validation_id: int, gold_filter: GoldFilter) -> list[ColumnElement[bool]]:
    # What its writer took back is read by nobody any more.
    gone = select(Attempt.id).where(Attempt.id == ValidationItem.attempt_id, is_gone_now()).correlate(ValidationItem)
    conditions = [ValidationItem.validation_id == validation_id, ValidationItem.gold.is_not(None), ~gone.exists()]
    if gold_filter.use:
        retired = ValidationItem.retired_at.is_not(None)
        conditions.append(retired if gold_filter.use == "retired" else ~retired)
    if gold_filter.text:
        conditions.append(has_text(gold_filter.text))
    return conditions


def count(db: Session, validation_id: int, gold_filter: GoldFilter) -> int:
    """Count the gold items that are wanted."""
    return db.scalar(select(func.count(ValidationItem.id)).where(*_conditions(validation_id, gold_filter))) or 0


def counts(db: Session, items: Sequence[ValidationItem]) -> dict[int, GoldCount]:
    """Count how often some gold items were shown and answered, and how many answers were right."""
    ids = [item.id for item in items]
    offers = select(Offer.item_id, func.count()).where(Offer.item_id.in_(ids), Offer.slot_id.is_(None))
    shown = {int(item): int(number) for item, number in db.execute(offers.group_by(Offer.item_id))}
    answers = select(Judgement.item_id, Judgement.label, func.count()).where(Judgement.item_id.in_(ids))
    votes: dict[int, dict[str, int]] = {}
    for item, label, number in db.execute(answers.group_by(Judgement.item_id, Judgement.label)):
        votes.setdefault(int(item), {})[label] = int(number)
    return {
        item.id: GoldCount(
            shown.get(item.id, 0),
            sum(votes.get(item.id, {}).values()),
            votes.get(item.id, {}).get(item.gold or "", 0),
        )
        for item in items
    }
