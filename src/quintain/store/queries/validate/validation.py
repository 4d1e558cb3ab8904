"""Validations and their policies, and the pages that judges hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import or_, select, text
from sqlalchemy.orm import Session

from quintain.core.rounds import RoundState
from quintain.store.tables import (
    Judgement,
    JudgingPage,
    ReleaseRow,
    Round,
    TaskRow,
    Validation,
    ValidationPolicyVersion,
)


class StoredValidation(NamedTuple):
    """A validation with its newest policy and the newest definition of its task."""

    id: int
    task_id: int
    round_id: int | None
    name: str
    state: str
    seed: int
    seen_to: str
    revision: int
    policy: str
    task_toml: str


_FOUND = """
    SELECT v.id, v.task_id, v.round_id, v.name, v.state, v.seed, v.seen_to, v.revision, p.toml, d.toml
    FROM validations v JOIN tasks t ON t.id = v.task_id
    JOIN validation_policies p ON p.validation_id = v.id JOIN task_versions d ON d.task_id = t.id
    WHERE {which} ORDER BY p.number DESC, d.number DESC LIMIT 1"""
_FIND = text(_FOUND.format(which="t.name = :task AND v.name = :name"))
_BY_ID = text(_FOUND.format(which="v.id = :validation"))
_TOUCH = text("UPDATE validations SET revision = revision + 1 WHERE id = :validation")
WINDOW = 2000  # ids within which somebody may still commit what they began earlier
ENDS = """
    SELECT max(id), count(*) FROM {name} WHERE {whose} AND id > (
        SELECT coalesce(max(id), 0) - {window} FROM {name} WHERE {whose}
    )"""
_NEWEST = [
    text(ENDS.format(name=name, whose="validation_id = :validation", window=WINDOW))
    for name in ("judgements", "judge_standings", "validation_items")
]
_NEWEST_ATTEMPT = text(ENDS.format(name="attempts", whose="round_id = :round", window=WINDOW))
_TOUCH_ROUND = text("""
    UPDATE validations SET revision = revision + 1
    WHERE round_id = (SELECT round_id FROM attempts WHERE id = :attempt)""")


def newest_facts(db: Session, validation_id: int, round_id: int | None) -> str:
    """Return a text that changes with judgements, standings, items and attempts, by the ends of their indices.

    The newest id alone would not do: what gets an id first may be committed last. So the last few are counted, too.
    """
    connection = db.connection()
    ends = [connection.execute(query, {"validation": validation_id}).one() for query in _NEWEST]
    ends += [connection.execute(_NEWEST_ATTEMPT, {"round": round_id}).one()] if round_id is not None else []
    return "/".join(f"{newest or 0}.{number}" for newest, number in ends)


def find(db: Session, task: str, name: str) -> StoredValidation | None:
    """Find the validation called *name* of *task*."""
    row = db.connection().execute(_FIND, {"task": task, "name": name}).first()
    return StoredValidation(*row) if row else None


def is_released(db: Session, validation_id: int) -> bool:
    """Whether anything was released of a validation."""
    return db.scalar(select(ReleaseRow.id).where(ReleaseRow.validation_id == validation_id).limit(1)) is not None


def by_id(db: Session, validation_id: int) -> StoredValidation:
    """Return the validation of this number."""
    return StoredValidation(*db.connection().execute(_BY_ID, {"validation": validation_id}).one())


def all_of(db: Session, task: str | None) -> list[tuple[str, Validation]]:
    """List the validations of *task*, or of all tasks, with the tasks' names."""
    query = select(TaskRow.name, Validation).join(TaskRow, TaskRow.id == Validation.task_id)
    query = query.order_by(TaskRow.name, Validation.id)
    if task is not None:
        query = query.where(TaskRow.name == task)
    return [(name, row) for name, row in db.execute(query)]


def round_id(db: Session, task_id: int, number: int) -> int | None:
    """Return the id of a task's round."""
    return db.scalar(select(Round.id).where(Round.task_id == task_id, Round.number == number))


def policies(db: Session, validation_id: int) -> Sequence[ValidationPolicyVersion]:
    """List every state of a policy, the newest first."""
    query = select(ValidationPolicyVersion).where(ValidationPolicyVersion.validation_id == validation_id)
    return db.scalars(query.order_by(ValidationPolicyVersion.number.desc())).all()


def touch(db: Session, validation_id: int) -> None:
    """Note that something has changed that figures rest on, other than by what is added to a table."""
    db.connection().execute(_TOUCH, {"validation": validation_id})


def touch_round(db: Session, attempt_id: int) -> None:
    """Note that an attempt was taken back or let go, where its round is judged."""
    db.connection().execute(_TOUCH_ROUND, {"attempt": attempt_id})


def recent_seconds(db: Session, validation_id: int, count: int) -> list[float]:
    """Return the times that the newest judgements took, as far as they are known."""
    query = select(Judgement.seconds).where(Judgement.validation_id == validation_id)
    return [float(one) for one in db.scalars(query.order_by(Judgement.id.desc()).limit(count)) if one is not None]


def place_of(db: Session, validation_id: int) -> tuple[str, str]:
    """Return the task and the name of a validation by its id."""
    query = select(TaskRow.name, Validation.name).join(TaskRow, TaskRow.id == Validation.task_id)
    row = db.execute(query.where(Validation.id == validation_id)).one()
    return row[0], row[1]


def judges_of_task(db: Session, task_id: int) -> Sequence[int]:
    """List the people who were ever given a page to judge for a task."""
    query = select(JudgingPage.user_id).join(Validation, Validation.id == JudgingPage.validation_id)
    return db.scalars(query.where(Validation.task_id == task_id).distinct()).all()


def owner_if_written(db: Session, validation_id: int) -> int | None:
    """Return who began a validation; None while people may still write what it judges."""
    query = (
        select(Validation.created_by)
        .outerjoin(Round, Round.id == Validation.round_id)
        .where(Validation.id == validation_id, or_(Round.id.is_(None), Round.state == RoundState.CLOSED.value))
    )
    return db.scalar(query)
