"""What a panel paid for work that had been paid already: booked, flagged, and held back where the owner says so.

Approving a submission pays the reward of its study, whoever does it. Where everything that its person earned was paid
before in another way, the reward is paid for nothing: it is a payout of its own, of step `overpaid`, which holds no
earning. When the owner says to hold it back, it pays later earnings of that person ahead, so that they come out of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from quintain.core import ledger as book
from quintain.core.errors import Conflict
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.pay import PayoutRecord
from quintain.core.rounds import Money
from quintain.core.texts import Text
from quintain.services.access import audit
from quintain.services.access.notify import notify_all
from quintain.services.access.permissions import require_owner
from quintain.services.pay import ledger, payouts
from quintain.services.pay.payouts import PayoutPart
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.access.people import owners
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.pay import overpaid as queries
from quintain.store.queries.pay import payouts as payout_queries


def book_overpaid(
    db: Session, task: str, task_id: int, stays: Iterable[payout_queries.Stay], *, provider: str, reward: Money
) -> list[PayoutRecord]:
    """Book the *reward* of submissions that were approved on the panel, and cover nothing that is to be paid.

    Give the payouts, one for each. Of a submission whose person has base pay that is pending, or approved and not
    paid, nothing is booked: its approval pays that.
    """
    booked = []
    with transaction(db):
        lock(db, f"pay of {task_id}")
        done = payout_queries.approved_stays(db, task_id)
        for stay in stays:
            if stay.ref in done or earning_queries.has_base_to_pay(db, task_id, stay.user_id):
                continue
            part = PayoutPart(stay.user_id, (), reward.amount, stay.ref)
            about = {"provider": provider, "step": queries.STEP, "study": stay.study, "currency": reward.currency}
            row = payouts.put_payout(db, OPERATOR, task_id, [part], **about)
            row.state, row.settled_at = "sent", now()
            db.flush()
            ledger.post(db, [book.overpaid(row.id, provider, task_id, stay.user_id, reward)])
            audit.record(db, OPERATOR, "payout.overpaid", task, payout=row.id)
            text = Text(
                "{money} was paid twice on {task}: a submission was approved whose work had been paid. "
                "Say whether later pay is held back.",
                money=reward,
                task=task,
            )
            notify_all(db, owners(db, task), "pay.overpaid", text, f"/tasks/{task}/pay/payouts/{row.id}")
            booked.append(payouts.payout_record(db, task, row))
    return booked


def unanswered(db: Session, actor: Actor, task: str, *, limit: int = 50) -> list[PayoutRecord]:
    """List what was paid twice and of which nobody has said what becomes of it, the oldest first (owners)."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    return [payouts.payout_record(db, task, row, calls=False) for row, _ in queries.unanswered(db, limit, task_id)]


def answer(db: Session, actor: Actor, payout_id: int, *, hold_back: bool) -> PayoutRecord:
    """Hold what was paid for nothing back from the person's later pay, or let it go (owners); decided once only."""
    with transaction(db):
        row, task = payouts.find_payout(db, actor, payout_id)
        if row.step != queries.STEP:
            raise Conflict("Payout {number} paid nothing twice.", number=payout_id)
        row.content = {**row.content, "answer": queries.HOLD_BACK if hold_back else queries.LET_GO}
        audit.record(db, actor, "payout.hold_back" if hold_back else "payout.let_go", task, payout=payout_id)
    return payouts.get_payout(db, actor, payout_id)
