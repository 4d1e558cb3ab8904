"""Questions about what texts cost, and what workers ask about their pay."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import func, select, union
from sqlalchemy.orm import Session

from quintain.core.people import RoleName
from quintain.store.queries.jobs import counts
from quintain.store.tables import (
    Earning,
    Judgement,
    LedgerAccount,
    PayQuestion,
    RoleGrant,
    Round,
    TaskRow,
    User,
    Validation,
)


class QuestionRow(NamedTuple):
    """A question with its earning, the worker and the task."""

    question: PayQuestion
    earning: Earning
    worker: str
    task: str


def rounds(db: Session, task_id: int) -> list[tuple[int, int]]:
    """List the rounds of a task: id and number."""
    query = select(Round.id, Round.number).where(Round.task_id == task_id).order_by(Round.number)
    return [(row[0], row[1]) for row in db.execute(query)]


def texts(db: Session, task_id: int) -> dict[int, int]:
    """Return the number of the attempts of each round of a task."""
    return {number: counts.of_round(db, number).get("attempts", 0) for number, _ in rounds(db, task_id)}


def expert_seconds(db: Session, task_id: int) -> dict[int, float]:
    """Add up the time that experts and owners of a task spent on judging each of its rounds."""
    roles = (RoleName.EXPERT.value, RoleName.OWNER.value)
    places = (RoleGrant.task_id == task_id, RoleGrant.task_id.is_(None))
    # Asked for role by role and place by place, each is found by the index; together, all grants would be read.
    experts = [select(RoleGrant.user_id).where(RoleGrant.role == role, place) for role in roles for place in places]
    known = list(db.scalars(union(*experts)))
    if not known:  # their judgements are found by who gave them: there are few beside those of all others
        return {}
    query = (
        select(Validation.round_id, func.sum(Judgement.seconds))
        .join(Judgement, Judgement.validation_id == Validation.id)
        .where(Validation.task_id == task_id, Validation.round_id.is_not(None), Judgement.user_id.in_(known))
        .group_by(Validation.round_id)
    )
    return {row[0]: float(row[1] or 0.0) for row in db.execute(query) if row[0] is not None}


def currencies(db: Session, task_id: int) -> list[str]:
    """List the currencies in which people earned something with a task."""
    query = select(LedgerAccount.currency).where(LedgerAccount.holder == f"task:{task_id}")
    return sorted(set(db.scalars(query.where(LedgerAccount.name.startswith("day.")))))


def questions(
    db: Session, *, task_id: int | None = None, user_id: int | None = None, limit: int, offset: int
) -> tuple[list[QuestionRow], int]:
    """List questions of a task, or of a worker, those without an answer first, and say how many there are."""
    query = (
        select(PayQuestion, Earning, User.name, TaskRow.name)
        .join(Earning, Earning.id == PayQuestion.earning_id)
        .join(User, User.id == PayQuestion.user_id)
        .join(TaskRow, TaskRow.id == PayQuestion.task_id)
        .order_by(PayQuestion.answered_at.is_not(None), PayQuestion.id.desc())
        .limit(limit)
        .offset(offset)
    )
    count = select(func.count()).select_from(PayQuestion)
    for column, value in ((PayQuestion.task_id, task_id), (PayQuestion.user_id, user_id)):
        if value is not None:
            query, count = query.where(column == value), count.where(column == value)
    return [QuestionRow(*row) for row in db.execute(query)], db.scalar(count) or 0
