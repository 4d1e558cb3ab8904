"""Questions about rounds, their versions, targets, conditions and sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.queries.collect.attempts import is_agreed
from quintain.store.tables import (
    Attempt,
    AttemptNote,
    CrowdArm,
    CrowdRound,
    CrowdTrial,
    Draft,
    ModelVersion,
    Round,
    RoundAssignment,
    RoundChoice,
    RoundTarget,
    RoundVersion,
    TaskRow,
    TaskVersion,
    User,
    Validation,
    WritingSession,
)


class SessionPlace(NamedTuple):
    """A writing session with all that stands around it; *before* is the attempt that was made with a token."""

    session: WritingSession
    round: Round
    version: RoundVersion
    task: str
    task_toml: str
    before: int | None


# What every attempt asks is put together once: that takes longer than the answer.
_NEWEST_OF_ROUND = (
    select(func.max(RoundVersion.number)).where(RoundVersion.round_id == Round.id).correlate(Round).scalar_subquery()
)
_NEWEST_OF_TASK = (
    select(func.max(TaskVersion.number)).where(TaskVersion.task_id == Round.task_id).correlate(Round).scalar_subquery()
)
_PLACE = (
    select(WritingSession, Round, RoundVersion, TaskRow.name, TaskVersion.toml, Attempt.id)
    .join(Round, Round.id == WritingSession.round_id)
    .join(RoundVersion, and_(RoundVersion.round_id == Round.id, RoundVersion.number == _NEWEST_OF_ROUND))
    .join(TaskRow, TaskRow.id == Round.task_id)
    .join(TaskVersion, and_(TaskVersion.task_id == Round.task_id, TaskVersion.number == _NEWEST_OF_TASK))
    .outerjoin(Attempt, and_(Attempt.session_id == WritingSession.id, Attempt.token == bindparam("token")))
    .where(WritingSession.key == bindparam("key"))
)
_BY_KEY = select(WritingSession).where(WritingSession.key == bindparam("key"))
_BY_KEY_LOCKED = _BY_KEY.with_for_update().execution_options(populate_existing=True)
_round, _target, _version = (table_of(kind) for kind in (Round, RoundTarget, ModelVersion))
_STATE = select(_round.c.state).where(_round.c.id == bindparam("id")).with_for_update(read=True)
_SEED = select(_round.c.seed).where(_round.c.id == bindparam("id"))
_TARGETS = (
    select(_target.c.model_version_id, _version.c.withdrawn_at)
    .join_from(_target, _version, _version.c.id == _target.c.model_version_id)
    .where(_target.c.round_id == bindparam("round_id"), _target.c.day == bindparam("day"))
    .order_by(_target.c.id)
)
_ASSIGNMENT = select(RoundAssignment.condition).where(
    RoundAssignment.round_id == bindparam("round_id"), RoundAssignment.user_id == bindparam("user_id")
)
_ASSIGNMENTS = (
    select(RoundAssignment.condition, func.count())
    .where(RoundAssignment.round_id == bindparam("round_id"))
    .group_by(RoundAssignment.condition)
)
_CHOICES = (
    select(RoundChoice)
    .where(RoundChoice.round_id == bindparam("round_id"), RoundChoice.user_id == bindparam("user_id"))
    .order_by(RoundChoice.id)
)
_OPEN = (
    select(WritingSession)
    .where(
        WritingSession.round_id == bindparam("round_id"),
        WritingSession.user_id == bindparam("user_id"),
        WritingSession.ended_at.is_(None),
    )
    .order_by(WritingSession.id.desc())
    .limit(1)
)
_USED = select(func.count()).where(
    WritingSession.round_id == bindparam("round_id"),
    WritingSession.user_id == bindparam("user_id"),
    select(Attempt.id).where(Attempt.session_id == WritingSession.id).exists(),
)
_FIND = (
    select(Round, RoundVersion)
    .join(TaskRow, TaskRow.id == Round.task_id)
    .join(RoundVersion, RoundVersion.round_id == Round.id)
    .where(TaskRow.name == bindparam("task"), Round.number == bindparam("number"))
    .order_by(RoundVersion.number.desc())
    .limit(1)
)


def find(db: Session, task: str, number: int) -> tuple[Round, RoundVersion] | None:
    """Return the round *number* of *task* with its newest version; None without one."""
    row = db.execute(_FIND, {"task": task, "number": number}).first()
    return (row[0], row[1]) if row else None


def place_of_session(db: Session, key: str, token: str = "") -> SessionPlace | None:
    """Return the session *key* with its round and task, and the attempt that was made in it with *token*."""
    row = db.execute(_PLACE, {"key": key, "token": token}).first()
    return SessionPlace(*row) if row else None


def is_of_trial(db: Session, round_id: int) -> bool:
    """Whether a round belongs to an arm of a trial."""
    return db.scalar(select(CrowdRound.id).where(CrowdRound.round_id == round_id)) is not None


def share_state(db: Session, round_id: int) -> str:
    """Return the state of a round, and let nobody change it until the transaction ends."""
    return str(db.execute(_STATE, {"id": round_id}).scalar_one())


def by_entry_key(db: Session, key: str) -> tuple[str, int] | None:
    """Return the task and number of the round whose entry key is *key*."""
    query = select(TaskRow.name, Round.number).join(TaskRow, TaskRow.id == Round.task_id)
    row = db.execute(query.where(Round.entry_key == key)).first()
    return (row[0], row[1]) if row else None


def place_of(db: Session, round_id: int) -> tuple[str, int]:
    """Return the task and number of a round by its id."""
    query = select(TaskRow.name, Round.number).join(TaskRow, TaskRow.id == Round.task_id)
    row = db.execute(query.where(Round.id == round_id)).one()
    return row[0], row[1]


def all_of(db: Session, task: str | None) -> Sequence[tuple[Round, RoundVersion, str]]:
    """List the rounds of *task*, or of all tasks, each with its newest version and the task's name."""
    newest = (
        select(func.max(RoundVersion.number))
        .where(RoundVersion.round_id == Round.id)
        .correlate(Round)
        .scalar_subquery()
    )
    query = (
        select(Round, RoundVersion, TaskRow.name)
        .join(TaskRow, TaskRow.id == Round.task_id)
        .join(RoundVersion, (RoundVersion.round_id == Round.id) & (RoundVersion.number == newest))
        .order_by(TaskRow.name, Round.number)
    )
    if task is not None:
        query = query.where(TaskRow.name == task)
    return [(one, version, name) for one, version, name in db.execute(query)]


def writers_of_task(db: Session, task_id: int) -> Sequence[int]:
    """List the people who began to write in any round of a task."""
    query = select(WritingSession.user_id).join(Round, Round.id == WritingSession.round_id)
    return db.scalars(query.where(Round.task_id == task_id).distinct()).all()


def newest_number(db: Session, task_id: int) -> int:
    """Return the number of a task's newest round, or 0."""
    return db.scalar(select(func.max(Round.number)).where(Round.task_id == task_id)) or 0


def versions(db: Session, round_id: int) -> Sequence[tuple[RoundVersion, str | None]]:
    """List every state of a round's file, the newest first, with the name of who wrote it."""
    query = (
        select(RoundVersion, User.name)
        .outerjoin(User, User.id == RoundVersion.created_by)
        .where(RoundVersion.round_id == round_id)
        .order_by(RoundVersion.number.desc())
    )
    return [(version, name) for version, name in db.execute(query)]


def targets(db: Session, round_id: int, day: str) -> list[tuple[int, datetime | None]]:
    """List the target versions of a round on *day*, or with an empty one of all days; and when each was withdrawn."""
    rows = db.execute(_TARGETS, {"round_id": round_id, "day": day})
    return [(version_id, withdrawn_at) for version_id, withdrawn_at in rows]


def assignment(db: Session, round_id: int, user_id: int) -> str | None:
    """Return the condition that a worker was drawn for; None without one."""
    return db.scalar(_ASSIGNMENT, {"round_id": round_id, "user_id": user_id})


def assignment_counts(db: Session, round_id: int) -> dict[str, int]:
    """Count the workers of each condition."""
    return {str(name): int(count) for name, count in db.execute(_ASSIGNMENTS, {"round_id": round_id})}


def seed(db: Session, round_id: int) -> int:
    """Return the seed by which a round draws."""
    return int(db.execute(_SEED, {"id": round_id}).scalar_one())


def session_number(db: Session, round_id: int, user_id: int) -> int:
    """Count the sessions that a worker has begun in a round."""
    query = select(func.count()).where(WritingSession.round_id == round_id, WritingSession.user_id == user_id)
    return db.scalar(query) or 0


def choices(db: Session, round_id: int, user_id: int) -> dict[str, RoundChoice]:
    """Return the newest of each kind of choice that a worker made in a round."""
    round_choices = db.scalars(_CHOICES, {"round_id": round_id, "user_id": user_id})
    return {choice.kind: choice for choice in round_choices}


def open_session(db: Session, round_id: int, user_id: int) -> WritingSession | None:
    """Return the session that a worker has not ended yet; None without one."""
    return db.scalar(_OPEN, {"round_id": round_id, "user_id": user_id})


def shown_for_nothing(db: Session, round_id: int, user_id: int) -> WritingSession | None:
    """Return a worker's newest session of a round that has ended with nothing written, or with all of it taken back.

    A session whose prompt was written from since has been made up for.
    """
    taken_back = select(AttemptNote.id).where(AttemptNote.attempt_id == Attempt.id, AttemptNote.kind == "retracted")
    stays = ~taken_back.where(AttemptNote.user_id == user_id).exists()
    mine = (WritingSession.round_id == round_id, WritingSession.user_id == user_id)
    written = select(WritingSession.id, WritingSession.prompt_id).where(
        *mine, select(Attempt.id).where(Attempt.session_id == WritingSession.id, stays).exists()
    )
    used = {row.id: row.prompt_id for row in db.execute(written)}
    newest = db.execute(
        select(WritingSession.id, WritingSession.prompt_id, WritingSession.ended_at)
        .where(*mine)
        .order_by(WritingSession.id.desc())
    ).all()
    for position, session in enumerate(newest):
        if session.ended_at is None or session.id in used:
            continue
        if session.prompt_id not in used.values() if session.prompt_id is not None else position == 0:
            return db.get_one(WritingSession, session.id)
    return None


def session_by_key(db: Session, key: str, *, locked: bool = False) -> WritingSession | None:
    """Return a session by its key; *locked* keeps others from changing it until the transaction ends."""
    return db.scalar(_BY_KEY_LOCKED if locked else _BY_KEY, {"key": key})


def sessions_since(db: Session, round_id: int, since: datetime, user_id: int | None = None) -> int:
    """Count the sessions begun in a round since a moment, by one worker or by all."""
    query = select(func.count()).where(WritingSession.round_id == round_id, WritingSession.started_at >= since)
    return db.scalar(query if user_id is None else query.where(WritingSession.user_id == user_id)) or 0


def has_session(db: Session, round_id: int, user_id: int) -> bool:
    """Whether somebody has ever begun to write in a round."""
    mine = select(WritingSession.id).where(WritingSession.round_id == round_id, WritingSession.user_id == user_id)
    return db.scalar(mine.limit(1)) is not None


def sessions_used(db: Session, round_id: int, user_id: int) -> int:
    """Count the sessions of a worker in a round in which anything was written, however they ended."""
    return db.scalar(_USED, {"round_id": round_id, "user_id": user_id}) or 0


def texts_up_to(db: Session, round_id: int, most: int, *, fooling: bool) -> int:
    """Count what was written in a round or, where it is to be *fooling*, what fooled its model; no further than *most*.

    What was taken back counts: it was written, and is paid.
    """
    attempts = select(Attempt.id).where(Attempt.round_id == round_id)
    attempts = attempts.where(Attempt.fooled.is_(True), is_agreed(table_of(Attempt))) if fooling else attempts
    return db.scalar(select(func.count()).select_from(attempts.limit(most).subquery())) or 0


def ended_since(db: Session, round_id: int, user_id: int, since: datetime) -> int:
    """Count the sessions of a worker in a round that were begun after a moment and have ended."""
    query = select(func.count()).where(
        WritingSession.round_id == round_id,
        WritingSession.user_id == user_id,
        WritingSession.started_at >= since,
        WritingSession.ended_at.is_not(None),
    )
    return db.scalar(query) or 0


def session_counts(db: Session, round_id: int) -> dict[str, int]:
    """Count a round's sessions by outcome; those that last have an empty one."""
    query = select(WritingSession.outcome, func.count()).where(WritingSession.round_id == round_id)
    return {str(name): int(count) for name, count in db.execute(query.group_by(WritingSession.outcome))}


def draft(db: Session, session_id: int) -> Draft | None:
    """Return what was typed in a session and not submitted; None where nothing was."""
    return db.get(Draft, session_id, populate_existing=True)


def put_draft(db: Session, **values: Any) -> None:
    """Keep what was typed in a session in the place of what was typed before."""
    insert = postgresql.insert if db.get_bind().dialect.name == "postgresql" else sqlite.insert
    row = insert(Draft).values(**values)
    later = {name: value for name, value in values.items() if name not in {"session_id", "user_id"}}
    db.execute(row.on_conflict_do_update(index_elements=["session_id"], set_=later))


def open_sessions(db: Session, round_id: int) -> Sequence[WritingSession]:
    """List the sessions of a round that have not ended."""
    query = select(WritingSession).where(WritingSession.round_id == round_id, WritingSession.outcome == "")
    return db.scalars(query).all()


def is_judged(db: Session, of_round: int) -> bool:
    """Whether the attempts of a round are being judged, or were."""
    return db.scalar(select(Validation.id).where(Validation.round_id == of_round)) is not None


def trial_of_round(db: Session, round_id: int) -> CrowdTrial | None:
    """Return the trial that a round belongs to; None where it belongs to none."""
    query = select(CrowdTrial).join(CrowdArm, CrowdArm.trial_id == CrowdTrial.id)
    return db.scalar(query.join(CrowdRound, CrowdRound.arm_id == CrowdArm.id).where(CrowdRound.round_id == round_id))
