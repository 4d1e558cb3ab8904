"""Queries on what caps are laid on: trials, with their rounds and arms."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import (
    CrowdArm,
    CrowdRound,
    CrowdTrial,
    TaskRow,
)


def open_of(db: Session, tasks: Collection[str], limit: int) -> Sequence[tuple[CrowdTrial, str]]:
    """List the newest open trials of some tasks, each with its task's name."""
    query = select(CrowdTrial, TaskRow.name).join(TaskRow, TaskRow.id == CrowdTrial.task_id)
    query = query.where(CrowdTrial.state == "open", CrowdTrial.data == "", TaskRow.name.in_(tasks))
    return [(row, name) for row, name in db.execute(query.order_by(CrowdTrial.id.desc()).limit(limit))]


def trial_number(db: Session, round_id: int) -> int | None:
    """Return the number of the trial that a round belongs to; None where it belongs to none."""
    query = select(CrowdArm.trial_id).join(CrowdRound, CrowdRound.arm_id == CrowdArm.id)
    return db.scalar(query.where(CrowdRound.round_id == round_id))


def round_ids(db: Session, trial_id: int) -> list[int]:
    """List the rounds of a trial."""
    query = select(CrowdRound.round_id).join(CrowdArm, CrowdArm.id == CrowdRound.arm_id)
    return list(db.scalars(query.where(CrowdArm.trial_id == trial_id).order_by(CrowdRound.round_id)))


def arm_ids(db: Session, trial_id: int) -> list[int]:
    """List the numbers of the arms of a trial."""
    return list(db.scalars(select(CrowdArm.id).where(CrowdArm.trial_id == trial_id).order_by(CrowdArm.id)))
