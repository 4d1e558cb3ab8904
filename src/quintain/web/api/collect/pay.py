"""Pay, for programs: what people earned, what a round costs, and decisions on it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query as Parameter

from quintain.core.records.work import Earnings, PayStatus, RoundPay
from quintain.services.collect import round_pay
from quintain.services.work import pay
from quintain.web.api.call import Calling
from quintain.web.api.collect.rounds import RoundRef
from quintain.web.api.collect.shapes import EarningsDecisionRequest
from quintain.web.api.params import Limit, TaskName

EarningStatus = Annotated[PayStatus | None, Parameter(description="Only earnings that stand so.")]


def list_my_earnings(call: Calling, limit: Limit = 100) -> Earnings:
    """List what one earned, the newest first."""
    return Earnings(pay.my_earnings(call.db, call.actor, limit=limit))


def list_earnings(call: Calling, task: TaskName, status: EarningStatus = None) -> Earnings:
    """List what people earned with a task, the newest first (owners)."""
    return Earnings(pay.list_earnings(call.db, call.actor, task, status=status))


def decide_earnings(call: Calling, task: TaskName, decision: EarningsDecisionRequest) -> Earnings:
    """Approve earnings, or set them aside with a reason that the worker reads (owners)."""
    found = pay.decide(call.db, call.actor, task, decision.ids, approved=decision.approved, reason=decision.reason)
    return Earnings(found)


def get_round_pay(call: Calling, ref: RoundRef, status: EarningStatus = None) -> RoundPay:
    """Say what a round pays and has cost, and who earned what: all, or what is `pending` (owners)."""
    return round_pay.round_pay(call.db, call.actor, ref, status=status)
