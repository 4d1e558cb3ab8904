"""Holding back from later pay what was paid twice, where the owner has said so."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core import ledger as book
from quintain.core.people import OPERATOR
from quintain.core.rounds import Money
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.notify import notify
from quintain.services.pay import ledger
from quintain.services.pay.earnings import piece_of
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.pay import overpaid as queries
from quintain.store.queries.pay import payouts as payout_queries
from quintain.store.tables import Earning, Payout


def deduct_overpaid(
    db: Session, task: str, task_id: int, currency: str, payable: Sequence[payout_queries.Payable]
) -> None:
    """Take what owners hold back out of earnings that are about to be paid, the oldest first; in a transaction.

    *payable* are those that a payout would pay now. Base pay that an approval is to pay is not among them: a reward is
    paid whole, and nothing can be held back from it.
    """
    by_person: defaultdict[int, list[payout_queries.Payable]] = defaultdict(list)
    for earning in payable:
        by_person[earning.user_id].append(earning)
    taken: Counter[int] = Counter()
    for payout, due in queries.to_hold_back(db, task_id, currency):
        user = int(payout.content["lines"][0]["user"])
        amount = _hold_back_from(db, payout, due, by_person[user])
        if amount:
            audit.record(db, OPERATOR, "payout.held_back", task, payout=payout.id, amount=amount)
            taken[user] += amount
    for user, amount in sorted(taken.items()):
        money = Money(amount, currency)
        text = Text("{money} of your pay on {task} was held back: it was paid twice before.", money=money, task=task)
        notify(db, user, "pay.held_back", text, "/work/earnings")


def _hold_back_from(db: Session, payout: Payout, due: int, earnings: list[payout_queries.Payable]) -> int:
    """Let an overpayment pay *earnings* as far as what is *due* goes; give how much, and leave what is not paid."""
    taken = 0
    while taken < due and earnings:
        earning = earnings.pop(0)
        amount = min(due - taken, earning.left)
        whole = amount == earning.left
        fact = db.get_one(Earning, earning.id)
        queries.take(db, payout.id, fact, amount, whole=whole)
        ledger.post(db, [book.held_back(payout.id, piece_of(fact), amount, whole=whole)])
        if whole:
            earning_queries.mark_paid(db, payout.id)
        else:
            earnings.insert(0, earning._replace(left=earning.left - amount))
        taken += amount
    return taken
