"""What owners are told as work is paid: a cap that is reached, and measured times that pay less than was promised."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import Session

from quintain.core.rounds import Money
from quintain.core.texts import Text
from quintain.services.access.notify import notify_once
from quintain.services.pay import caps
from quintain.services.pay.policy import policy_of
from quintain.store.base import now
from quintain.store.queries.access.people import owners

Measure = Callable[[], tuple[Money, bool]]


def falls_short(promised: Money, hourly: Money) -> bool:
    """Whether an hour pays less than was promised; other currencies are not compared.

    >>> falls_short(Money(1000), Money(999)), falls_short(Money(1000, "EUR"), Money(1, "USD"))
    (True, False)
    """
    return promised.amount > 0 and promised.currency == hourly.currency and hourly.amount < promised.amount


def notify_after_work(
    db: Session,
    task_id: int,
    task: str,
    place_name: str,
    measure: Measure,
    *,
    trial: int | None = None,
    round_id: int | None = None,
) -> None:
    """Look whether what was just paid reached a cap, and whether an hour at *place_name* still pays what was promised.

    *measure* gives what an hour pays, and whether that was measured. The owners are told once for each cap and promise.
    *trial* is the one that the work belongs to, or its round's is. For other services.
    """
    spec = policy_of(db, task_id)
    trial = caps.trial_of(db, spec, trial, round_id)
    for usage in caps.standings(db, task_id, spec, trial):
        if usage.spent.amount >= usage.cap.amount:
            about = f"day={now():%Y-%m-%d}" if usage.name == "day_cap" else f"cap={usage.cap.amount}"
            about += f"&trial={trial}" if usage.name == "trial_cap" else ""
            text = Text(
                "Work on {task} pauses: {spent} of {cap} are used. Raise the cap to go on.",
                task=task,
                spent=usage.spent,
                cap=usage.cap,
            )
            _tell(db, task, "pay.cap", text, about)
    if not spec.hourly:
        return
    hourly, measured = measure()
    if measured and falls_short(spec.promised, hourly):
        text = Text(
            "{place} pays {hourly} an hour by the times that people take; you promised {promised}. Raise its reward.",
            place=place_name,
            hourly=hourly,
            promised=spec.promised,
        )
        _tell(db, task, "pay.wage", text, f"place={place_name}&hourly={spec.hourly}")


def _tell(db: Session, task: str, kind: str, text: Text, about: str) -> None:
    for owner in owners(db, task):
        notify_once(db, owner, kind, text, f"/tasks/{task}/pay?{about}")
