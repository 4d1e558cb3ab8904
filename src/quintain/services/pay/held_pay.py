"""Pay that is held: what people from panels earned whom nobody has confirmed yet, neither the panel nor an owner."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.adapters.panels.prolific import Prolific
from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.records.pay import HeldPay, MyHeldPay
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.pay import held as queries
from quintain.store.queries.pay.payouts import Stay, outside_names

TOOK_PART = ("ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "SCREENED OUT")


def held_pay(db: Session, actor: Actor, task: str) -> list[HeldPay]:
    """Return what a task owes to people whom nobody has confirmed, by currency (owners)."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    return [HeldPay(people, amount, currency) for currency, people, amount in queries.held_sums(db, task_id)]


def my_held_pay(db: Session, actor: Actor) -> list[MyHeldPay]:
    """List what tasks hold of the actor's pay, until the panel or an owner says that they are a person of their own."""
    return [held for held in held_for_person(db, require_user(actor)) if actor.task in (None, held.task)]


def held_for_person(db: Session, user_id: int) -> list[MyHeldPay]:
    """List what tasks hold of somebody's pay; for other services, which know whose it may be."""
    return [MyHeldPay(task, amount, currency) for task, currency, amount in queries.held_tasks(db, user_id)]


def refuse_if_held(db: Session, task_id: int, currency: str) -> None:
    """Refuse with the reason that what is approved is held, where that is why there is nothing to pay."""
    for money, people, _ in queries.held_sums(db, task_id):
        if money == currency:
            raise Conflict(
                "What is approved is held: it was earned by people from panels whom nobody has confirmed ({n}).",
                n=people,
                remedy="Look at them with `quintain pay panel list` and confirm those who are people of their own.",
                page="Look at the people from panels and confirm those who are people of their own.",
                code="pay_held",
            )


def confirm_by_submissions(db: Session, task_id: int, stays: Sequence[Stay], prolific: Prolific, provider: str) -> None:
    """Confirm those who came by a submission that the panel knows as theirs, so that they can be paid."""
    held = queries.held_of(db, task_id, [stay.user_id for stay in stays])
    waiting = [stay for stay in stays if stay.user_id in held]
    names = outside_names(db, [stay.user_id for stay in waiting], provider)
    db.rollback()  # hold no connection while the panel thinks
    known = {study: prolific.submissions(study) for study in {stay.study for stay in waiting}}
    genuine = [stay.user_id for stay in waiting if _is_theirs(known[stay.study].get(stay.submission), names, stay)]
    if genuine:
        with transaction(db):
            queries.confirm(db, provider, genuine, "panel", now())


def _is_theirs(submission: object, names: dict[int, str], stay: Stay) -> bool:
    if not isinstance(submission, dict) or submission.get("status") not in TOOK_PART:
        return False
    return submission.get("participant_id") == names.get(stay.user_id)
