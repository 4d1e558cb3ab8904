"""What a round pays and has cost, for its owners."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.pay import EarningOrder, PayStatus, RoundPay
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds import get_round
from quintain.services.pay import earnings
from quintain.store.database import transaction


def approve_all(db: Session, actor: Actor, ref: str) -> int:
    """Approve everything that is pending in a round; give how many earnings that were."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    with transaction(db):
        waiting = earnings.list_earnings(db, actor, info.task, round_id=info.id, status="pending").earnings
        earnings.decide(db, actor, info.task, [one.id for one in waiting])
    return len(waiting)


def round_pay(
    db: Session,
    actor: Actor,
    ref: str,
    *,
    status: PayStatus | None = None,
    order: EarningOrder = "newest",
    limit: int | None = None,
    offset: int = 0,
) -> RoundPay:
    """Say what a session takes and pays, what the round has cost so far, and who earned what: all, or some of it."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    wage = earnings.wage(db, info.id, info.spec)
    found = earnings.list_earnings(
        db, actor, info.task, status=status, round_id=info.id, order=order, limit=limit, offset=offset
    )
    return RoundPay(
        round=info.ref,
        minutes=wage.minutes,
        measured=wage.measured,
        hourly=wage.hourly,
        totals=earnings.round_totals(db, actor, info.task, info.id),
        earnings=found.earnings,
        total=found.total,
    )
