"""What is not paid yet of somebody who wants to leave: paid first, or given up by their own word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from quintain.core import ledger as book
from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.records.pay import OpenPay
from quintain.core.rounds import Money
from quintain.core.texts import Text, joined
from quintain.services.access import audit
from quintain.services.access.notify import notify_all
from quintain.services.access.permissions import require_user
from quintain.services.pay import ledger
from quintain.services.pay.earnings import piece_of
from quintain.services.pay.held_pay import held_for_person, my_held_pay
from quintain.store.database import lock, transaction
from quintain.store.queries.access.people import owners
from quintain.store.queries.pay import ahead as ahead_queries
from quintain.store.queries.pay import earnings as queries
from quintain.store.tables import Earning, EarningDecision, PayQuestion, User

LAST_WISH = "I am leaving: please pay what is open."


def open_pay(db: Session, user_id: int) -> OpenPay:
    """Add up what somebody earned that is not paid; for other services, which know whose it may be."""
    rows, under_way = _apart(db, user_id)
    return OpenPay(
        _sums(row.earning for row in rows), _sums(row.earning for row in under_way), held_for_person(db, user_id)
    )


def my_open_pay(db: Session, actor: Actor) -> OpenPay:
    """Add up what the actor earned that is not paid: what can be given up, and what is on its way.

    By a panel's link, that is what they earned with the task that it led to.
    """
    rows, under_way = (
        [row.earning for row in part if actor.task in (None, row.task)] for part in _apart(db, require_user(actor))
    )
    return OpenPay(_sums(rows), _sums(under_way), my_held_pay(db, actor))


def ask_for_last_pay(db: Session, actor: Actor) -> list[str]:
    """Ask the owners of every task that owes the actor something to pay it; give the names of the tasks.

    Who has asked already asks nobody again.
    """
    user_id = require_user(actor)
    with transaction(db):
        rows = [*_apart(db, user_id)[0]]
        newest = {row.task: row.earning for row in rows}
        for task, earning in newest.items():
            if queries.is_asked(db, earning.id, LAST_WISH):
                continue
            db.add(PayQuestion(earning_id=earning.id, user_id=user_id, task_id=earning.task_id, text=LAST_WISH))
            owed = amounts_text(_sums(row.earning for row in rows if row.task == task))
            words = Text("{name} wants to leave and asks to be paid {owed}.", name=actor.name, owed=owed)
            notify_all(db, owners(db, task), "pay.question", words, f"/tasks/{task}/pay#questions")
    return sorted(newest)


def forgo_pay(db: Session, user: User, by: Actor) -> None:
    """Set aside all that somebody who leaves has earned and not been paid, by their own word or that of an admin.

    It happens in the caller's transaction. Each earning gets a decision that says whose word it was, and the ledger an
    entry; it no longer counts towards caps. What is on its way is refused: it cannot be called back.
    """
    by_self = user.id == by.user_id
    rows, under_way = _apart(db, user.id)
    if under_way:
        raise Conflict(
            "{money} of your pay is on its way." if by_self else "{money} of what {name} earned is on its way.",
            money=amounts_text(_sums(row.earning for row in under_way)),
            name=user.name,
            remedy="Delete the account when it has arrived.",
            code="unpaid_work",
        )
    for task_id in sorted({row.earning.task_id for row in rows}):
        lock(db, f"pay of {task_id}")
    rows = _apart(db, user.id)[0]
    reason = "given up with the account" if by_self else "given up by who deleted the account"
    decisions = {
        row.earning.id: EarningDecision(earning_id=row.earning.id, approved=False, reason=reason, by=by.user_id)
        for row in rows
    }
    db.add_all(decisions.values())
    db.flush()
    moves = [
        book.decided(piece_of(row.earning), decisions[row.earning.id].id, row.standing.status, "declined")
        for row in rows
    ]
    ledger.post(db, moves)
    queries.set_status(db, rows, "declined")
    for task in sorted({row.task for row in rows}):
        sums = _sums(row.earning for row in rows if row.task == task)
        audit.record(db, by, "pay.given_up", task, user=user.id, amounts=[str(one) for one in sums])


def amounts_text(amounts: Sequence[Money]) -> Text:
    """Write some amounts, each in its currency, one after the other."""
    return joined([Text("{money}", money=amount) for amount in amounts], ", ")


def _apart(db: Session, user_id: int) -> tuple[list[queries.EarningRow], list[queries.EarningRow]]:
    """Return what is unpaid, apart from what a payout has, or has paid in part: that cannot be given up any more."""
    rows = queries.unpaid(db, user_id)
    parts = ahead_queries.of_earnings(db, [row.earning.id for row in rows])
    under_way = [row for row in rows if row.standing.payout_id is not None or row.earning.id in parts]
    return [row for row in rows if row not in under_way], under_way


def _sums(earnings: Iterable[Earning]) -> tuple[Money, ...]:
    sums: Counter[str] = Counter()
    for earning in earnings:
        sums[earning.currency] += earning.amount
    return tuple(Money(amount, currency) for currency, amount in sorted(sums.items()))
