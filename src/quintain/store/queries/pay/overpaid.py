"""What panels have paid for nothing that was earned: how much of it was not held back since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from quintain.core.ledger import Account
from quintain.store.base import table_of
from quintain.store.queries.pay import ahead, owed
from quintain.store.queries.pay.owed import OwedTo
from quintain.store.tables import Earning, EarningStanding, PaidAhead, PanelStay, PanelVisit, Payout, Round, TaskRow

_standings = table_of(EarningStanding)
STEP = "overpaid"
HOLD_BACK, LET_GO = "hold back", "let go"  # what an owner may answer


def left(db: Session, payout_ids: Sequence[int]) -> dict[int, int]:
    """Return what was not held back yet of overpayments."""
    held = select(PaidAhead.payout_id, func.sum(PaidAhead.amount).label("amount")).group_by(PaidAhead.payout_id)
    sums = held.where(PaidAhead.payout_id.in_(payout_ids)).subquery()
    query = select(Payout.id, Payout.amount - func.coalesce(sums.c.amount, 0)).where(Payout.step == STEP)
    query = query.outerjoin(sums, sums.c.payout_id == Payout.id).where(Payout.id.in_(payout_ids))
    return {row[0]: int(row[1]) for row in db.execute(query)}


def to_hold_back(db: Session, task_id: int, currency: str) -> list[tuple[Payout, int]]:
    """List overpayments of a task that its owner holds back from later pay, with what is left of them."""
    query = select(Payout).where(Payout.task_id == task_id, Payout.step == STEP, Payout.currency == currency)
    held = [one for one in db.scalars(query.order_by(Payout.id)) if one.content.get("answer") == HOLD_BACK]
    rest = left(db, [one.id for one in held])
    return [(one, rest[one.id]) for one in held if rest[one.id]]


def unanswered(db: Session, limit: int, task_id: int | None = None) -> list[tuple[Payout, int]]:
    """List overpayments of which no owner has said what becomes of them, with what is left; of all tasks or of one."""
    query = select(Payout).where(Payout.step == STEP).order_by(Payout.id)
    query = query if task_id is None else query.where(Payout.task_id == task_id)
    payouts = [one for one in db.scalars(query) if not one.content.get("answer")][:limit]
    rest = left(db, [payout.id for payout in payouts])
    return [(payout, rest[payout.id]) for payout in payouts]


def unbooked(db: Session, limit: int) -> list[tuple[str, str, str]]:
    """List submissions that were approved on their panel and that no payout stands for: task, stay, submission.

    Those whose people have base pay that is not decided on, or not paid yet, wait for that.
    """
    approvals = select(Payout.content).where(Payout.step.in_(("approve", STEP)), Payout.state != "cancelled")
    booked = {str(line.get("stay")) for content in db.scalars(approvals) for line in content.get("lines", [])}
    waiting = (
        select(EarningStanding.earning_id)
        .join(Earning, Earning.id == EarningStanding.earning_id)
        .where(Earning.kind == "base", EarningStanding.payout_id.is_(None))
        .where(EarningStanding.status.in_(("pending", "approved")))
    )
    of_visit = waiting.where(EarningStanding.user_id == PanelVisit.user_id, EarningStanding.task_id == Round.task_id)
    visits = (
        select(TaskRow.name, PanelVisit.id, PanelVisit.outside_session)
        .join(Round, Round.id == PanelVisit.round_id)
        .join(TaskRow, TaskRow.id == Round.task_id)
        .where(PanelVisit.standing == "approved")
        .where(~of_visit.correlate(PanelVisit, Round).exists())
    )
    stays = select(PanelStay.place, PanelStay.id, PanelStay.outside_session).where(PanelStay.standing == "approved")
    stays = stays.where(~waiting.where(EarningStanding.user_id == PanelStay.user_id).correlate(PanelStay).exists())
    submissions = [(task, f"visit:{number}", session) for task, number, session in db.execute(visits)]
    submissions += [(place, f"stay:{number}", session) for place, number, session in db.execute(stays)]
    return [submission for submission in submissions if submission[1] not in booked][:limit]


def accounts(db: Session) -> dict[Account, int]:
    """Return what the accounts of overpayments are to hold, by the payouts and what was held back."""
    sums: Counter[Account] = Counter()
    rows = list(db.scalars(select(Payout).where(Payout.step == STEP)))
    rest = left(db, [row.id for row in rows])
    for payout in rows:
        user = payout.content["lines"][0]["user"]
        sums[Account(f"worker:{user}", STEP, payout.currency)] += rest[payout.id]
        sums[Account(f"task:{payout.task_id}", STEP, payout.currency)] -= rest[payout.id]
    return dict(sums)


def take(db: Session, payout_id: int, earning: Earning, amount: int, *, whole: bool) -> None:
    """Let an overpayment pay so much of an earning; where that is its *whole* rest, it is in this payout."""
    ahead.add(db, payout_id, [(earning.id, amount)])
    owed.change(db, {OwedTo(earning.task_id, earning.user_id, earning.currency): -amount})
    if whole:
        mine = _standings.c.earning_id == earning.id
        db.execute(update(_standings).where(mine).values(payout_id=payout_id))
