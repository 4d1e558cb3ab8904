"""What a round pays and has cost, for its owners."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.work import PayStatus, RoundPay
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds import get_round
from quintain.services.work import pay


def round_pay(db: Session, actor: Actor, ref: str, *, status: PayStatus | None = None) -> RoundPay:
    """Say what a session takes and pays, what the round has cost so far, and who earned what."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    wage = pay.wage(db, info.id, info.spec)
    return RoundPay(
        round=info.ref,
        minutes=wage.minutes,
        measured=wage.measured,
        hourly=wage.hourly,
        totals=pay.round_totals(db, actor, info.task, info.id),
        earnings=pay.list_earnings(db, actor, info.task, status=status, round_id=info.id),
    )
