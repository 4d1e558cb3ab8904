"""Approving everything that waits in a round, some at a time, in short transactions, so that nobody waits long.

Whoever dies in the middle leaves what was approved so far; the next one goes on after it. Workers are told at the end,
each once for all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.rounds import Money
from quintain.services.access.permissions import require_owner
from quintain.services.jobs.figures import ReportProgress, quietly
from quintain.services.pay.earnings import approve_some, tell_approved
from quintain.services.tasks.definitions import find_row
from quintain.store.database import transaction
from quintain.store.queries.pay import earnings as queries
from quintain.store.write_queue import sqlite_write_queue

AT_A_TIME = (
    200  # earnings that one transaction approves, and people whom one tells: others wait for tens of milliseconds
)
Save = Callable[[Session, Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Reached:
    """How far it is: the newest earning that is to be approved, the last one that was, how many; who has been told.

    *decision* is the first that was made.
    """

    until: int
    after: int = 0
    done: int = 0
    decision: int = 0
    told: int = 0


def approve_round(
    db: Session,
    actor: Actor,
    task: str,
    round_id: int,
    *,
    checkpoint: Mapping[str, Any] | None = None,
    save: Save | None = None,
    tell: ReportProgress = quietly,
) -> int:
    """Approve what is pending in a round now, from a *checkpoint* on; give how many earnings that are (owners).

    *save* writes the next checkpoint down, in the transaction of what it says.
    """
    require_owner(actor, task)
    at = Reached(**checkpoint) if checkpoint else Reached(queries.newest_pending(db, round_id))
    keep = save or (lambda db, reached: None)
    total = at.done + queries.known_count(db, task_id=find_row(db, task).id, round_id=round_id, status="pending")
    while True:
        tell(at.done, total)
        ids = queries.pending_ids(db, round_id, after=at.after, until=at.until, limit=AT_A_TIME)
        if not ids:
            break
        with sqlite_write_queue(db), transaction(db):
            decisions = approve_some(db, actor, task, ids)
            first = at.decision or min(decisions, default=0)
            at = replace(at, after=ids[-1], done=at.done + len(decisions), decision=first)
            keep(db, asdict(at))
        db.expunge_all()
    if at.decision:
        _tell_workers(db, actor, task, round_id, at, keep)
    return at.done


def _tell_workers(db: Session, actor: Actor, task: str, round_id: int, at: Reached, keep: Save) -> None:
    """Tell each worker how much of their pay was approved, in one message for each currency."""
    while True:
        some = queries.approved_since(db, round_id, actor.user_id, at.decision, after=at.told, limit=AT_A_TIME)
        if not some:
            return
        with sqlite_write_queue(db), transaction(db):
            for user_id, sums in some:
                for currency, amount in sums:
                    tell_approved(db, task, user_id, Money(amount, currency))
            at = replace(at, told=some[-1][0])
            keep(db, asdict(at))
