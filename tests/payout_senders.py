"""Processes that send payouts, to be killed in the middle."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Select, or_, select
from sqlalchemy.orm import Session

from quintain.adapters.panels.prolific import Bonuses, Prolific
from quintain.core.errors import QuintainError
from quintain.core.people import OPERATOR
from quintain.services.pay import dispatch
from quintain.store.base import now
from quintain.store.database import connect
from quintain.store.tables import Payout
from tests.prolific_fake import TOKEN

LEASE = timedelta(milliseconds=400)


def _left() -> Select[tuple[int]]:
    """Choose payouts that somebody may go on with: planned, prepared, or left by who was at them."""
    free = or_(Payout.lease_until.is_(None), Payout.lease_until < now())
    states = ("planned", "prepared", "sending", "unknown")
    return select(Payout.id).where(Payout.state.in_(states), free).order_by(Payout.id)


def send_all(database: str, address: str, rounds: int) -> None:
    """Send every payout that nobody holds, *rounds* times over; whatever is refused is left to the next."""
    usual, dispatch.LEASE = dispatch.LEASE, LEASE
    engine = connect(database)
    with Session(engine) as db, Prolific(address, TOKEN, timeout=5) as connection:
        for _ in range(rounds):
            for number in db.scalars(_left()).all():
                try:
                    dispatch.dispatch(db, OPERATOR, number, Bonuses(connection))
                except QuintainError:
                    db.rollback()
    engine.dispose()
    dispatch.LEASE = usual
