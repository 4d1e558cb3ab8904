"""Whose pay is held: people from panels whom nobody has confirmed, neither the panel nor an owner of the task."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from quintain.store.tables import OwedPay, PanelPerson, PanelWord, TaskRow


def confirmed(user_id: Any, task_id: Any) -> ColumnElement[bool]:
    """Return a condition on people: a panel confirmed them, an owner of the task did, or none sent them."""
    person, panel_word = aliased(PanelPerson), aliased(PanelWord)
    unknown = select(person.id).where(person.user_id == user_id, person.confirmed_at.is_(None))
    word = select(panel_word.user_id).where(panel_word.task_id == task_id, panel_word.user_id == user_id)
    return or_(~unknown.correlate_except(person).exists(), word.correlate_except(panel_word).exists())


def held_of(db: Session, task_id: int, users: Sequence[int]) -> set[int]:
    """Return those of some people whose pay a task holds."""
    query = select(PanelPerson.user_id).where(PanelPerson.user_id.in_(users), PanelPerson.confirmed_at.is_(None))
    word = select(PanelWord.user_id).where(PanelWord.task_id == task_id)
    return set(db.scalars(query.where(PanelPerson.user_id.not_in(word))))


def held_sums(db: Session, task_id: int) -> list[tuple[str, int, int]]:
    """Add up what a task owes to people whom nobody has confirmed: by currency, to how many, and how much."""
    unknown = select(PanelPerson.user_id).where(PanelPerson.confirmed_at.is_(None))
    word = select(PanelWord.user_id).where(PanelWord.task_id == task_id)
    query = (
        select(OwedPay.currency, func.count(), func.sum(OwedPay.amount))
        .where(OwedPay.task_id == task_id, OwedPay.amount != 0)
        .where(OwedPay.user_id.in_(unknown), OwedPay.user_id.not_in(word))
        .group_by(OwedPay.currency)
        .order_by(OwedPay.currency)
    )
    return [(currency, int(people), int(amount)) for currency, people, amount in db.execute(query)]


def held_tasks(db: Session, user_id: int) -> list[tuple[str, str, int]]:
    """List the tasks that hold a person's pay: their names, with the currency and the amount."""
    query = (
        select(TaskRow.name, OwedPay.currency, OwedPay.amount)
        .join(TaskRow, TaskRow.id == OwedPay.task_id)
        .where(OwedPay.user_id == user_id, OwedPay.amount != 0, ~confirmed(OwedPay.user_id, OwedPay.task_id))
        .order_by(TaskRow.name, OwedPay.currency)
    )
    return [(name, currency, int(amount)) for name, currency, amount in db.execute(query)]


def confirm(db: Session, provider: str, users: Sequence[int], by: str, moment: datetime) -> None:
    """Note that a panel has confirmed people, once."""
    change = update(PanelPerson).where(PanelPerson.provider == provider, PanelPerson.user_id.in_(users))
    db.execute(change.where(PanelPerson.confirmed_at.is_(None)).values(confirmed_at=moment, confirmed_by=by))
