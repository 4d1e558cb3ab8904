"""What was paid ahead of earnings: a part of them, by a payout that had to pay more than was whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.tables import Earning, PaidAhead, Payout

_ahead = table_of(PaidAhead)
CHUNK = 500


def left() -> ColumnElement[int]:
    """Return, for a statement on earnings, what of an earning no other payout pays ahead."""
    paid = select(func.sum(PaidAhead.amount)).where(PaidAhead.earning_id == Earning.id)
    return Earning.amount - func.coalesce(paid.correlate(Earning).scalar_subquery(), 0)


def underway() -> ColumnElement[bool]:
    """Return a condition on an earning: a payout that is not over pays a part of it; its rest is not known yet."""
    query = select(PaidAhead.payout_id).join(Payout, Payout.id == PaidAhead.payout_id)
    return query.where(PaidAhead.earning_id == Earning.id, Payout.state != "sent").correlate(Earning).exists()


def add(db: Session, payout_id: int, parts: Sequence[tuple[int, int]]) -> None:
    """Let a new payout pay parts of earnings: the earning and the amount."""
    if parts:
        rows: list[dict[str, Any]] = [
            {"earning_id": number, "payout_id": payout_id, "amount": amount} for number, amount in parts
        ]
        db.execute(insert(_ahead), rows)


def drop(db: Session, payout_id: int) -> None:
    """Let a payout pay nothing ahead."""
    db.execute(delete(_ahead).where(_ahead.c.payout_id == payout_id))


def by_payout(db: Session, payout_id: int) -> list[tuple[Earning, int]]:
    """List what a payout pays of earnings that others pay the rest of."""
    query = select(Earning, PaidAhead.amount).join(PaidAhead, PaidAhead.earning_id == Earning.id)
    return [(row[0], row[1]) for row in db.execute(query.where(PaidAhead.payout_id == payout_id))]


def of_earnings(db: Session, ids: Sequence[int]) -> dict[int, int]:
    """Return what was paid ahead of some earnings, or is to be; only of those of which something was."""
    amounts: dict[int, int] = {}
    for first in range(0, len(ids), CHUNK):
        query = select(PaidAhead.earning_id, func.sum(PaidAhead.amount)).group_by(PaidAhead.earning_id)
        some = ids[first : first + CHUNK]
        amounts |= {row[0]: int(row[1]) for row in db.execute(query.where(PaidAhead.earning_id.in_(some)))}
    return amounts
