"""Caps: what may be spent. One that is reached pauses new work; whatever was begun is finished and paid."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.ledger import KINDS, Account, day_name
from quintain.core.pay import PaySpec
from quintain.core.records.pay import CapStanding
from quintain.core.rounds import Money
from quintain.core.texts import Text
from quintain.services.pay.policy import policy_of
from quintain.store.base import now
from quintain.store.queries.pay import caps
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.pay import ledger as queries

PAY_CAP = "pay_cap"  # the code of the refusal
LISTED = 20  # trials whose caps are listed
SAID = {
    "worker_day_cap": Text("You have earned as much today as is set aside for one person."),
    "worker_cap": Text("You have earned as much with this task as is set aside for one person."),
    "day_cap": Text("What is set aside for today is used up."),
    "trial_cap": Text("What is set aside for this trial is used up."),
    "project_cap": Text("What is set aside for this task is used up."),
}


def require_room(
    db: Session, task_id: int, user_id: int, *, trial: int | None = None, round_id: int | None = None
) -> None:
    """Refuse new work where a cap is reached; for other services.

    The work belongs to a *trial*, or to a round, which may be one's.
    """
    spec = policy_of(db, task_id)
    for usage in _standings(db, task_id, spec, user_id, trial_of(db, spec, trial, round_id)):
        if usage.spent.amount < usage.cap.amount:
            continue
        raise Conflict(
            "{said} New work pauses; what you have done is paid.",
            said=SAID[usage.name],
            remedy="Come back tomorrow." if "day" in usage.name else "The owner of the task can raise the limit.",
            code=PAY_CAP,
        )


def trial_of(db: Session, spec: PaySpec, trial: int | None, round_id: int | None) -> int | None:
    """Return the trial that work belongs to, by itself or by its round; nobody looks where trials have no cap."""
    if trial is not None or round_id is None or not spec.trial_cap:
        return trial
    return caps.trial_number(db, round_id)


def standings(db: Session, task_id: int, spec: PaySpec, trial: int | None = None) -> list[CapStanding]:
    """Return how much of the caps on all work of a task, and of a *trial* of it, is used."""
    return list(_standings(db, task_id, spec, None, trial))


def trial_standings(db: Session, task: str, spec: PaySpec) -> list[CapStanding]:
    """Return how much of its cap each open trial of a task has used, the newest first; none without caps."""
    if not spec.trial_cap:
        return []
    cap, money = Money(spec.trial_cap, spec.currency), spec.currency
    return [
        CapStanding("trial_cap", cap, spent_in_trial(db, trial.id, money), trial.name)
        for trial, _ in caps.open_of(db, [task], LISTED)
    ]


def spent(db: Session, task_id: int, currency: str) -> Money:
    """Return what people have earned with a task in all, but for what was set aside."""
    days = queries.balances(db, f"task:{task_id}", "day.")
    return Money(-sum(amount for account, amount in days.items() if account.currency == currency), currency)


def spent_in_trial(db: Session, trial: int, currency: str) -> Money:
    """Return what people have earned in a trial: in its rounds and by its steps, but for what was set aside.

    The judging of what was written belongs to the task.
    """
    amount = 0
    for round_id in caps.round_ids(db, trial):
        for account, held in queries.balances(db, f"round:{round_id}").items():
            kind, _, status = account.name.partition(".")
            if account.currency == currency and kind in KINDS and status != "declined":
                amount -= held
    return Money(amount + earning_queries.spent_by_arms(db, caps.arm_ids(db, trial), currency), currency)


def _standings(
    db: Session, task_id: int, spec: PaySpec, user_id: int | None, trial: int | None
) -> Iterator[CapStanding]:
    """Return every cap that is set with what is used of it; the cheap ones to look up first."""
    money = spec.currency
    if user_id is not None and spec.worker_cap:
        held = queries.balance(db, Account(f"worker:{user_id}", f"task.{task_id}", money))
        yield CapStanding("worker_cap", Money(spec.worker_cap, money), Money(held, money))
    if spec.day_cap:
        held = -queries.balance(db, Account(f"task:{task_id}", day_name(now()), money))
        yield CapStanding("day_cap", Money(spec.day_cap, money), Money(held, money))
    if user_id is not None and spec.worker_day_cap:
        today = earning_queries.earned_since(db, user_id, task_id, _midnight())
        yield CapStanding("worker_day_cap", Money(spec.worker_day_cap, money), Money(today.get(money, 0), money))
    if spec.trial_cap and trial is not None:
        yield CapStanding("trial_cap", Money(spec.trial_cap, money), spent_in_trial(db, trial, money))
    if spec.project_cap:
        yield CapStanding("project_cap", Money(spec.project_cap, money), spent(db, task_id, money))


def _midnight() -> datetime:
    return now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
