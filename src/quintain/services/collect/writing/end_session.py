"""The end of a writing session: what was done is paid, and the prompt goes back."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.rounds import Money
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.pay import earnings, pay_notices
from quintain.store.base import now
from quintain.store.queries.collect import prompts
from quintain.store.tables import WritingSession

TIMED = ("fooled", "exhausted")  # how a session ends that was worked through


def end_session(
    db: Session, info: RoundInfo, row: WritingSession, outcome: str, *, attempts: int | None = None
) -> None:
    """End a session inside a transaction: pay it, and give its prompt back.

    *attempts* is how many it has, where the caller knows.
    """
    row.ended_at, row.outcome = now(), outcome
    db.flush()
    earned = earnings.earn_session(db, info.spec, info.task_id, row, full=outcome in TIMED, attempts=attempts)
    if earned and outcome in TIMED:
        pay_notices.notify_after_work(db, info.task_id, info.task, info.ref, lambda: _wage(db, info), round_id=info.id)
    if row.prompt_id is not None:
        prompts.release(db, row.prompt_id, row.generation)


def _wage(db: Session, info: RoundInfo) -> tuple[Money, bool]:
    wage = earnings.wage(db, info.id, info.spec)
    return wage.hourly, bool(wage.measured)
