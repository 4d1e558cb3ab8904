"""Questions about quizzes, qualifications and what is known of workers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, case, func, select
from sqlalchemy.orm import Session

from quintain.store.tables import (
    JudgingPage,
    Qualification,
    Quiz,
    QuizTry,
    QuizVersion,
    TaskRow,
    User,
    WorkerFact,
    WritingSession,
)


@dataclass(frozen=True, slots=True)
class PersonTries:
    """How somebody did at a quiz: tries, the most that were right of how many, whether it was ever passed."""

    name: str
    tries: int
    best: int
    total: int
    passed: bool
    last_at: datetime


# Asked before every session: put together once, which takes longer than the answer.
_NEWEST = (
    select(Qualification)
    .where(
        Qualification.task_id == bindparam("task_id"),
        Qualification.user_id == bindparam("user_id"),
        Qualification.name == bindparam("name"),
    )
    .order_by(Qualification.id.desc())
    .limit(1)
)

_EVER = select(func.count(Qualification.name.distinct())).where(
    Qualification.task_id == bindparam("task_id"),
    Qualification.user_id == bindparam("user_id"),
    Qualification.name.in_(bindparam("names", expanding=True)),
    Qualification.held,
)


def quizzes(db: Session, task: str) -> list[tuple[Quiz, QuizVersion]]:
    """List a task's quizzes by name, each with its newest version; retired ones too."""
    newest = (
        select(func.max(QuizVersion.number)).where(QuizVersion.quiz_id == Quiz.id).correlate(Quiz).scalar_subquery()
    )
    query = (
        select(Quiz, QuizVersion)
        .join(TaskRow, TaskRow.id == Quiz.task_id)
        .join(QuizVersion, (QuizVersion.quiz_id == Quiz.id) & (QuizVersion.number == newest))
        .where(TaskRow.name == task)
        .order_by(Quiz.name)
    )
    return [(quiz, version) for quiz, version in db.execute(query)]


def every_definition(db: Session, task: str) -> list[tuple[str, dict[str, Any]]]:
    """List every version of a task's quizzes, by name and from the oldest on."""
    query = (
        select(Quiz.name, QuizVersion.definition)
        .join(TaskRow, TaskRow.id == Quiz.task_id)
        .join(QuizVersion, QuizVersion.quiz_id == Quiz.id)
        .where(TaskRow.name == task)
        .order_by(Quiz.name, QuizVersion.number)
    )
    return [(name, dict(definition)) for name, definition in db.execute(query)]


def quiz_names(db: Session, task: str) -> set[str]:
    """List the names of a task's quizzes that can be taken."""
    return {quiz.name for quiz, version in quizzes(db, task) if not version.definition.get("retired")}


def quiz(db: Session, task: str, name: str) -> tuple[Quiz, QuizVersion] | None:
    """Return a quiz with its newest version."""
    query = (
        select(Quiz, QuizVersion)
        .join(TaskRow, TaskRow.id == Quiz.task_id)
        .join(QuizVersion, QuizVersion.quiz_id == Quiz.id)
        .where(TaskRow.name == task, Quiz.name == name)
        .order_by(QuizVersion.number.desc())
        .limit(1)
    )
    row = db.execute(query).first()
    return (row[0], row[1]) if row else None


def passed(db: Session, quiz_id: int, user_id: int) -> bool:
    """Whether a person has ever passed a quiz."""
    query = select(func.count()).where(QuizTry.quiz_id == quiz_id, QuizTry.user_id == user_id, QuizTry.passed)
    return bool(db.scalar(query))


def failed_since(db: Session, quiz_id: int, user_id: int, since: datetime) -> Sequence[datetime]:
    """Return when a person failed a quiz since a moment, oldest first."""
    query = (
        select(QuizTry.created_at)
        .where(
            QuizTry.quiz_id == quiz_id,
            QuizTry.user_id == user_id,
            QuizTry.passed.is_(False),
            QuizTry.created_at > since,
        )
        .order_by(QuizTry.created_at)
    )
    return db.scalars(query).all()


class QuizSums(NamedTuple):
    """How many people tried a quiz, how many of them passed, and how often they tried."""

    people: int
    passed: int
    tries: int


def quiz_sums(db: Session, quiz_id: int) -> QuizSums:
    """Sum up all tries at a quiz."""
    passed = func.count(case((QuizTry.passed, QuizTry.user_id)).distinct())
    query = select(func.count(QuizTry.user_id.distinct()), passed, func.count()).where(QuizTry.quiz_id == quiz_id)
    return QuizSums(*db.execute(query).one())


def tries_by_person(db: Session, quiz_id: int, *, limit: int | None = None, offset: int = 0) -> Sequence[PersonTries]:
    """Sum up the tries at a quiz by person, the newest first: all, or *limit* of them."""
    last = func.max(QuizTry.created_at)
    query = (
        select(
            User.name,
            func.count(),
            func.max(QuizTry.right),
            func.max(QuizTry.total),
            func.max(case((QuizTry.passed, 1), else_=0)),
            last,
        )
        .join(User, User.id == QuizTry.user_id)
        .where(QuizTry.quiz_id == quiz_id)
        .group_by(User.id, User.name)
        .order_by(last.desc(), User.name)
        .limit(limit)
        .offset(offset)
    )
    return [
        PersonTries(name, made, best, total, bool(good), at) for name, made, best, total, good, at in db.execute(query)
    ]


def answers_to(db: Session, quiz_id: int, version_id: int, limit: int) -> Sequence[dict[str, int]]:
    """Return what was answered at the last tries of one version of a quiz."""
    query = select(QuizTry.answers).where(QuizTry.quiz_id == quiz_id, QuizTry.version_id == version_id)
    return db.scalars(query.order_by(QuizTry.id.desc()).limit(limit)).all()


def newest_qualification(db: Session, task_id: int, user_id: int, name: str) -> Qualification | None:
    """Return the newest fact on a person's qualification *name* on a task."""
    return db.scalar(_NEWEST, {"task_id": task_id, "user_id": user_id, "name": name})


def ever_held(db: Session, task_id: int, user_id: int, names: Collection[str]) -> bool:
    """Whether a person was ever given each of some qualifications on a task, whatever became of them."""
    params = {"task_id": task_id, "user_id": user_id, "names": [*names]}
    return (db.scalar(_EVER, params) or 0) == len({*names})


def holders(
    db: Session, task_id: int, names: Sequence[str], user_ids: Sequence[int] | None = None
) -> set[tuple[int, str]]:
    """Return who holds which of some qualifications on a task: everybody, or some people only."""
    newest = select(func.max(Qualification.id)).where(Qualification.task_id == task_id, Qualification.name.in_(names))
    if user_ids is not None:
        newest = newest.where(Qualification.user_id.in_(user_ids))
    newest = newest.group_by(Qualification.user_id, Qualification.name)
    query = select(Qualification.user_id, Qualification.name).where(Qualification.id.in_(newest), Qualification.held)
    return {(row[0], row[1]) for row in db.execute(query)}


def ended_qualifications(db: Session, task_id: int, name: str) -> dict[int, str]:
    """Return everybody whose qualification *name* on a task has ended, with the reason."""
    newest = (
        select(func.max(Qualification.id))
        .where(Qualification.task_id == task_id, Qualification.name == name)
        .group_by(Qualification.user_id)
    )
    query = select(Qualification.user_id, Qualification.reason).where(
        Qualification.id.in_(newest), Qualification.held.is_(False)
    )
    return {int(user): reason for user, reason in db.execute(query)}


def qualification_history(db: Session, task_id: int, user_id: int) -> Sequence[Qualification]:
    """List every fact on a person's qualifications on a task, oldest first."""
    query = select(Qualification).where(Qualification.task_id == task_id, Qualification.user_id == user_id)
    return db.scalars(query.order_by(Qualification.id)).all()


def worker_fact(db: Session, user_id: int, name: str) -> WorkerFact | None:
    """Return the newest of what is known of a worker under *name*."""
    query = select(WorkerFact).where(WorkerFact.user_id == user_id, WorkerFact.name == name)
    return db.scalar(query.order_by(WorkerFact.id.desc()).limit(1))


def facts_called(db: Session, name: str) -> dict[int, str]:
    """Return the newest of what is known of everybody under *name*, by their ids."""
    query = select(WorkerFact.user_id, WorkerFact.value).where(WorkerFact.name == name).order_by(WorkerFact.id)
    return {int(user): value for user, value in db.execute(query)}


def worker_facts(db: Session, user_id: int) -> Sequence[WorkerFact]:
    """List the newest of what is known of a worker under each name."""
    newest = select(func.max(WorkerFact.id)).where(WorkerFact.user_id == user_id).group_by(WorkerFact.name)
    return db.scalars(select(WorkerFact).where(WorkerFact.id.in_(newest)).order_by(WorkerFact.name)).all()


def finished_sessions(db: Session, user_id: int) -> int:
    """Count the sessions that a worker has brought to an end, in all rounds."""
    query = select(func.count()).where(
        WritingSession.user_id == user_id, WritingSession.outcome.in_(("fooled", "exhausted"))
    )
    return db.scalar(query) or 0


def finished_pages(db: Session, user_id: int) -> int:
    """Count the pages that a judge has handed in, in all validations."""
    query = select(func.count()).where(JudgingPage.user_id == user_id, JudgingPage.outcome == "submitted")
    return db.scalar(query) or 0
