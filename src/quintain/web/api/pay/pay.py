"""Pay, for programs: what people earned, what a round costs, decisions on it, and the books."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query as Parameter

from quintain.core.records.pay import Books, EarningOrder, Earnings, OpenPay, PayStatus
from quintain.services.pay import earnings, final_pay, ledger
from quintain.web.api.call import Calling
from quintain.web.api.params import (
    Limit,
    Offset,
    RoundNumber,
    TaskName,
)
from quintain.web.api.pay.shapes import EarningsDecisionRequest

EarningStatus = Annotated[PayStatus | None, Parameter(description="Only earnings that stand so.")]
Order = Annotated[EarningOrder, Parameter(description="What comes first.")]


def list_my_earnings(call: Calling, limit: Limit = 100, offset: Offset = 0, status: EarningStatus = None) -> Earnings:
    """List what one earned, the newest first."""
    return earnings.my_page(call.db, call.actor, status=status, limit=limit, offset=offset)


def list_earnings(
    call: Calling,
    task: TaskName,
    status: EarningStatus = None,
    order: Order = "newest",
    limit: Limit = 1000,
    offset: Offset = 0,
) -> Earnings:
    """List what people earned with a task, the newest first (owners)."""
    return earnings.list_earnings(call.db, call.actor, task, status=status, order=order, limit=limit, offset=offset)


def decide_earnings(call: Calling, task: TaskName, decision: EarningsDecisionRequest) -> Earnings:
    """Approve earnings, or set them aside with a reason that the worker reads (owners)."""
    decided = earnings.decide(
        call.db, call.actor, task, decision.ids, approved=decision.approved, reason=decision.reason
    )
    return Earnings(decided, len(decided))


def get_books(call: Calling, task: TaskName, limit: Limit = 50, offset: Offset = 0) -> Books:
    """Show what was booked to the budget of a task, the newest first (owners)."""
    return ledger.books(call.db, call.actor, task, limit=limit, offset=offset)


def get_round_books(call: Calling, task: TaskName, number: RoundNumber, limit: Limit = 50, offset: Offset = 0) -> Books:
    """Show the accounts of a round and what was booked to them, the newest first (owners)."""
    return ledger.books(call.db, call.actor, task, number, limit=limit, offset=offset)


def get_open_pay(call: Calling) -> OpenPay:
    """Add up what one earned that is not paid yet: deleting the account would give it up."""
    return final_pay.my_open_pay(call.db, call.actor)


def ask_for_last_pay(call: Calling) -> None:
    """Ask the owners of all that is not paid yet to pay it, because one wants to leave."""
    final_pay.ask_for_last_pay(call.db, call.actor)
