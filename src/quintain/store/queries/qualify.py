"""Questions about quizzes, qualifications and what is known of workers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from quintain.store.tables import Qualification, Quiz, QuizTry, QuizVersion, TaskRow, WorkerFact


def quiz_names(db: Session, task: str) -> set[str]:
    """List the names of a task's quizzes."""
    query = select(Quiz.name).join(TaskRow, TaskRow.id == Quiz.task_id)
    return set(db.scalars(query.where(TaskRow.name == task)))


def quiz(db: Session, task: str, name: str) -> tuple[Quiz, QuizVersion] | None:
    """Give a quiz with its newest version."""
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
    """Say whether a person has ever passed a quiz."""
    query = select(func.count()).where(QuizTry.quiz_id == quiz_id, QuizTry.user_id == user_id, QuizTry.passed)
    return bool(db.scalar(query))


def failed_since(db: Session, quiz_id: int, user_id: int, since: datetime) -> Sequence[datetime]:
    """Give when a person failed a quiz since a moment, oldest first."""
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


def tries(db: Session, quiz_id: int) -> tuple[int, int, int]:
    """Count the people who tried a quiz, those who passed, and all tries."""
    query = select(
        func.count(func.distinct(QuizTry.user_id)),
        func.count(func.distinct(QuizTry.user_id)).filter(QuizTry.passed),
        func.count(),
    )
    people, good, every = db.execute(query.where(QuizTry.quiz_id == quiz_id)).one()
    return int(people), int(good), int(every)


def newest_qualification(db: Session, task_id: int, user_id: int, name: str) -> Qualification | None:
    """Give the newest fact on a person's qualification *name* on a task."""
    query = (
        select(Qualification)
        .where(Qualification.task_id == task_id, Qualification.user_id == user_id, Qualification.name == name)
        .order_by(Qualification.id.desc())
        .limit(1)
    )
    return db.scalar(query)


def qualification_history(db: Session, task_id: int, user_id: int) -> Sequence[Qualification]:
    """List every fact on a person's qualifications on a task, oldest first."""
    query = select(Qualification).where(Qualification.task_id == task_id, Qualification.user_id == user_id)
    return db.scalars(query.order_by(Qualification.id)).all()


def worker_fact(db: Session, user_id: int, name: str) -> WorkerFact | None:
    """Give the newest of what is known of a worker under *name*."""
    query = select(WorkerFact).where(WorkerFact.user_id == user_id, WorkerFact.name == name)
    return db.scalar(query.order_by(WorkerFact.id.desc()).limit(1))
