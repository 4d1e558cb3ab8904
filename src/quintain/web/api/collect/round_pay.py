"""What a round pays and has cost, for programs of its owners."""

from __future__ import annotations

from quintain.core.records.pay import RoundPay
from quintain.services.collect.rounds import round_pay
from quintain.web.api.call import Calling
from quintain.web.api.params import (
    Limit,
    Offset,
    RoundRef,
)
from quintain.web.api.pay.pay import EarningStatus, Order


def get_round_pay(
    call: Calling,
    ref: RoundRef,
    status: EarningStatus = None,
    order: Order = "newest",
    limit: Limit = 1000,
    offset: Offset = 0,
) -> RoundPay:
    """Return what a round pays and has cost, and who earned what: all, or what is `pending` (owners)."""
    return round_pay.round_pay(call.db, call.actor, ref, status=status, order=order, limit=limit, offset=offset)


def approve_round_pay(call: Calling, ref: RoundRef) -> RoundPay:
    """Approve everything that is pending in a round (owners)."""
    round_pay.approve_all(call.db, call.actor, ref)
    return round_pay.round_pay(call.db, call.actor, ref, limit=1)
