"""Pay, for programs: what people earned, what a round costs, and decisions on it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query as Parameter

from quintain.core.rounds import Money
from quintain.services.access.permissions import require_owner
from quintain.services.collect import rounds
from quintain.services.work import pay
from quintain.web.api.call import Calling
from quintain.web.api.collect.rounds import RoundNumber
from quintain.web.api.collect.shapes import (
    DecisionRequest,
    EarningShape,
    EarningsShape,
    MoneyShape,
    PaidEarningShape,
    PaidEarningsShape,
    RoundPayShape,
    TotalShape,
)
from quintain.web.api.params import Limit, TaskName

EarningStatus = Annotated[
    Literal["pending", "approved", "declined"] | None, Parameter(description="Only earnings that stand so.")
]


def list_my_earnings(call: Calling, limit: Limit = 100) -> EarningsShape:
    """List what one earned, newest first."""
    found = pay.my_earnings(call.db, call.actor, limit=limit)
    return EarningsShape(earnings=[EarningShape.model_validate(one.as_dict()) for one in found])


def list_earnings(call: Calling, task: TaskName, status: EarningStatus = None) -> PaidEarningsShape:
    """List what people earned with a task (owners)."""
    return _paid(pay.list_earnings(call.db, call.actor, task, status=status))


def decide_earnings(call: Calling, task: TaskName, decision: DecisionRequest) -> PaidEarningsShape:
    """Approve earnings, or set them aside with a reason (owners)."""
    return _paid(
        pay.decide(call.db, call.actor, task, decision.ids, approved=decision.approved, reason=decision.reason)
    )


def get_round_pay(call: Calling, task: TaskName, number: RoundNumber, status: EarningStatus = None) -> RoundPayShape:
    """Say what a session takes and pays, what the round has cost so far, and who earned what (owners)."""
    require_owner(call.actor, task)
    info = rounds.get_round(call.db, call.actor, f"{task}/{number}")
    wage = pay.wage(call.db, info.id, info.spec)
    totals = pay.round_totals(call.db, call.actor, task, info.id)
    earnings = pay.list_earnings(call.db, call.actor, task, status=status, round_id=info.id)
    return RoundPayShape(
        round=info.ref,
        minutes=wage.minutes,
        measured=wage.measured,
        hourly=_money(wage.hourly),
        totals=[TotalShape(kind=one.kind, status=one.status, **_money(one.money).model_dump()) for one in totals],
        earnings=_paid(earnings).earnings,
    )


def _money(money: Money) -> MoneyShape:
    return MoneyShape(amount=money.amount, currency=money.currency)


def _paid(found: list[pay.EarningInfo]) -> PaidEarningsShape:
    return PaidEarningsShape(
        earnings=[PaidEarningShape.model_validate({**one.as_dict(), "worker": one.worker}) for one in found]
    )
