"""Processes that send payouts, to be killed in the middle."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.adapters.panels.prolific import Bonuses, Prolific
from quintain.core.errors import QuintainError
from quintain.core.people import OPERATOR
from quintain.services.pay import dispatch
from quintain.store.base import now
from quintain.store.database import connect
from quintain.store.queries.pay import payouts as queries
from tests.prolific_fake import TOKEN

LEASE = timedelta(milliseconds=400)


def send_all(database: str, address: str, rounds: int) -> None:
    """Send every payout that nobody holds, *rounds* times over; whatever is refused is left to the next."""
    usual, dispatch.LEASE = dispatch.LEASE, LEASE
    engine = connect(database)
    with Session(engine) as db, Prolific(address, TOKEN, timeout=5) as connection:
        for _ in range(rounds):
            for number in queries.unsettled(db, None, now()):
                try:
                    dispatch.dispatch(db, OPERATOR, number, Bonuses(connection))
                except QuintainError:
                    db.rollback()
    engine.dispose()
    dispatch.LEASE = usual
