"""What a round pays and has cost, for its owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.jobs import JobStanding
from quintain.core.records.pay import EarningOrder, PayStatus, RoundPay
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import RoundInfo, get_round
from quintain.services.jobs import queue
from quintain.services.jobs.running import JobRun
from quintain.services.pay import earnings
from quintain.services.pay.approving import approve_round
from quintain.store.queries.pay import earnings as earning_queries

JOB = "approve pay"  # the kind of job that approves what many earned
AT_ONCE = 400  # earnings that are approved while somebody waits


def approve_all(db: Session, actor: Actor, ref: str, *, wait: bool = False) -> JobStanding | None:
    """Approve everything that is pending in a round; of many, a worker does, unless the caller can *wait* for it.

    Give the job, where there is one.
    """
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    waiting = earning_queries.known_count(db, task_id=info.task_id, round_id=info.id, status="pending")
    if waiting > AT_ONCE and not wait:
        return approval(db, info) or queue.enqueue(db, JOB, info.ref, task=info.task, by=actor)
    approve_round(db, actor, info.task, info.id)
    return None


def approval(db: Session, info: RoundInfo) -> JobStanding | None:
    """Return the job that approves what is pending in a round, while it is on the way."""
    job = queue.newest(db, JOB, info.ref)
    return job if job is not None and job.going else None


def approve_many(run: JobRun) -> Mapping[str, Any]:
    """Approve what is pending in a round, for whoever asked and still owns its task; for workers."""
    with run.sessions() as db:
        actor = run.asker(db)
        info = get_round(db, actor, run.subject)
        done = approve_round(
            db,
            actor,
            info.task,
            info.id,
            checkpoint=run.checkpoint,
            save=run.save_within,
            tell=run.report_progress,
        )
    return {"earnings": done}


def round_pay(
    db: Session,
    actor: Actor,
    ref: str,
    *,
    status: PayStatus | None = None,
    order: EarningOrder = "newest",
    limit: int | None = None,
    offset: int = 0,
) -> RoundPay:
    """Return what a session takes and pays, what the round has cost, and who earned what, all or some (owners)."""
    info = get_round(db, actor, ref)
    require_owner(actor, info.task)
    wage = earnings.wage(db, info.id, info.spec)
    listed = earnings.list_earnings(
        db, actor, info.task, status=status, round_id=info.id, order=order, limit=limit, offset=offset
    )
    return RoundPay(
        round=info.ref,
        minutes=wage.minutes,
        measured=wage.measured,
        hourly=wage.hourly,
        totals=earnings.round_totals(db, actor, info.task, info.id),
        earnings=listed.earnings,
        total=listed.total,
        approving=approval(db, info),
    )
