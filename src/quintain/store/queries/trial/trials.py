"""Trials, their arms and members, and the events of each arm."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, and_, bindparam, cast, func, insert, or_, select
from sqlalchemy.orm import Session, aliased

from quintain.store.base import now, table_of
from quintain.store.queries.collect.attempts import is_agreed
from quintain.store.queries.validate.intake import gone
from quintain.store.tables import (
    Attempt,
    CrowdAnswer,
    CrowdArm,
    CrowdEvent,
    CrowdLetter,
    CrowdMember,
    CrowdRound,
    CrowdTrial,
    Earning,
    EarningStanding,
    JudgingPage,
    Prompt,
    Quiz,
    Round,
    TaskRow,
    Validation,
    WritingSession,
)

MANY = 500  # people whom one does not name one by one
CHUNK = 500  # sessions whose items are looked up together
DONE = ("fooled", "exhausted")  # how a writing session ends that counts as finished

# What every step of somebody asks is put together once: that takes longer than the answer.
_event, _answer, _session, _made = (table_of(one) for one in (CrowdEvent, CrowdAnswer, WritingSession, Attempt))
_PLACE = (
    select(CrowdTrial, CrowdArm)
    .join(TaskRow, TaskRow.id == CrowdTrial.task_id)
    .outerjoin(CrowdMember, and_(CrowdMember.trial_id == CrowdTrial.id, CrowdMember.user_id == bindparam("user_id")))
    .outerjoin(CrowdArm, CrowdArm.id == CrowdMember.arm_id)
    .where(TaskRow.name == bindparam("task"), CrowdTrial.name == bindparam("name"))
)
_EVENTS = (
    select(_event.c.number, _event.c.token, _event.c.body)
    .where(_event.c.arm_id == bindparam("arm_id"), _event.c.number >= bindparam("number"))
    .order_by(_event.c.number)
)
_ENDED = (
    select(_session.c.id, _session.c.user_id, _session.c.outcome)
    .where(
        _session.c.round_id == bindparam("round_id"),
        or_(
            _session.c.outcome.in_(DONE),
            and_(_session.c.outcome != "", select(_made.c.id).where(_made.c.session_id == _session.c.id).exists()),
        ),
    )
    .order_by(_session.c.ended_at, _session.c.id)
)
_ENDED_BY = _ENDED.where(_session.c.user_id == bindparam("user_id"))
_ITEMS = (
    select(_made.c.session_id, _made.c.id)
    .where(_made.c.session_id.in_(bindparam("sessions", expanding=True)))
    .order_by(_made.c.session_id, _made.c.number)
)
_FOOLING = _ITEMS.where(_made.c.fooled.is_(True), is_agreed(_made))
_ANSWERS = (
    select(CrowdAnswer)
    .where(CrowdAnswer.arm_id == bindparam("arm_id"), CrowdAnswer.user_id == bindparam("user_id"))
    .order_by(CrowdAnswer.id)
)
_ADD_EVENT, _ADD_ANSWER = insert(_event), insert(_answer).returning(_answer.c.id)


def find(db: Session, task: str, name: str) -> CrowdTrial | None:
    """Find a trial."""
    query = select(CrowdTrial).join(TaskRow, TaskRow.id == CrowdTrial.task_id)
    return db.scalar(query.where(TaskRow.name == task, CrowdTrial.name == name))


def place_of(db: Session, task: str, name: str, user_id: int) -> tuple[CrowdTrial, CrowdArm | None] | None:
    """Find a trial, with the arm that somebody is in, if they take part."""
    row = db.execute(_PLACE, {"task": task, "name": name, "user_id": user_id}).one_or_none()
    return (row[0], row[1]) if row else None


def by_id(db: Session, number: int) -> tuple[CrowdTrial, str]:
    """Return a trial with the name of its task."""
    query = select(CrowdTrial, TaskRow.name).join(TaskRow, TaskRow.id == CrowdTrial.task_id)
    row = db.execute(query.where(CrowdTrial.id == number)).one()
    return row[0], row[1]


def all_of(db: Session, task: str | None, offset: int, limit: int | None) -> Sequence[tuple[CrowdTrial, str]]:
    """List the trials of a task, or of all, with its name; the newest first."""
    query = select(CrowdTrial, TaskRow.name).join(TaskRow, TaskRow.id == CrowdTrial.task_id)
    if task is not None:
        query = query.where(TaskRow.name == task)
    return [(row, name) for row, name in db.execute(query.order_by(CrowdTrial.id.desc()).offset(offset).limit(limit))]


def seen_by(
    db: Session, user_id: int | None, owned: Collection[str], task: str | None, offset: int, limit: int | None
) -> Sequence[tuple[CrowdTrial, str]]:
    """List the trials that somebody who owns some tasks may know of, each with its task's name; the newest first.

    Of the tasks of others these are trials that people can enter now, those in which they take part, and simulated ones
    of a task in which nobody takes part in a real one.
    """
    real = aliased(CrowdTrial)
    running = select(real.id).where(real.task_id == CrowdTrial.task_id, real.state == "open", real.data == "")
    member = select(CrowdMember.id).where(CrowdMember.trial_id == CrowdTrial.id, CrowdMember.user_id == user_id)
    query = select(CrowdTrial, TaskRow.name).join(TaskRow, TaskRow.id == CrowdTrial.task_id)
    query = query.where(
        or_(
            TaskRow.name.in_(owned),
            and_(CrowdTrial.state == "open", CrowdTrial.data == ""),
            and_(CrowdTrial.state != "draft", member.exists()),
            and_(CrowdTrial.data != "", ~running.exists()),
        )
    )
    if task is not None:
        query = query.where(TaskRow.name == task)
    return [(row, name) for row, name in db.execute(query.order_by(CrowdTrial.id.desc()).offset(offset).limit(limit))]


def is_running(db: Session, task_id: int) -> bool:
    """Whether real people can take part in a trial of a task now."""
    query = select(CrowdTrial.id).where(
        CrowdTrial.task_id == task_id, CrowdTrial.state == "open", CrowdTrial.data == ""
    )
    return db.scalar(query.limit(1)) is not None


def arms(db: Session, trial_id: int) -> Sequence[CrowdArm]:
    """List the arms of a trial, in their order."""
    return db.scalars(select(CrowdArm).where(CrowdArm.trial_id == trial_id).order_by(CrowdArm.id)).all()


def rounds(db: Session, arm_id: int) -> dict[str, tuple[int, int]]:
    """Return the rounds of an arm by stage: id and number."""
    query = select(CrowdRound.stage, Round.id, Round.number).join(Round, Round.id == CrowdRound.round_id)
    return {
        stage: (round_id, number) for stage, round_id, number in db.execute(query.where(CrowdRound.arm_id == arm_id))
    }


def arm_of(db: Session, trial_id: int, user_id: int) -> CrowdArm | None:
    """Return the arm that somebody is in; None where they take no part."""
    query = select(CrowdArm).join(CrowdMember, CrowdMember.arm_id == CrowdArm.id)
    return db.scalar(query.where(CrowdMember.trial_id == trial_id, CrowdMember.user_id == user_id))


def member_counts(db: Session, trial_id: int, stratum: str) -> dict[str, int]:
    """Count the people of a stratum in each arm, by the arm's name."""
    query = (
        select(CrowdArm.name, func.count(CrowdMember.id))
        .join(CrowdMember, CrowdMember.arm_id == CrowdArm.id)
        .where(CrowdMember.trial_id == trial_id, CrowdMember.stratum == stratum)
        .group_by(CrowdArm.name)
    )
    return {row[0]: row[1] for row in db.execute(query)}


def events_from(db: Session, arm_id: int, number: int) -> Sequence[tuple[int, str, dict[str, Any]]]:
    """List the events of an arm from a number on, in order."""
    return [(row[0], row[1], row[2]) for row in db.execute(_EVENTS, {"arm_id": arm_id, "number": number})]


def newest_event(db: Session, arm_id: int) -> int:
    """Return the number of the newest event of an arm; 0 where there is none."""
    return db.scalar(select(func.max(CrowdEvent.number)).where(CrowdEvent.arm_id == arm_id)) or 0


def add_event(db: Session, **values: Any) -> None:
    """Add an event to an arm's record."""
    db.execute(_ADD_EVENT, {"created_at": now(), **values})


def ended_sessions(db: Session, round_id: int, user_id: int | None = None) -> list[tuple[int, int, bool]]:
    """List the sessions of a round that are over and in which something was written, in the order in which they ended.

    Each is given with its writer, and with whether it was finished or ended early.
    """
    params = {"round_id": round_id}
    sessions = db.execute(_ENDED, params) if user_id is None else db.execute(_ENDED_BY, {**params, "user_id": user_id})
    return [(row[0], row[1], row[2] in DONE) for row in sessions]


def items_of_sessions(db: Session, sessions: Sequence[int], *, fooling: bool) -> dict[int, list[int]]:
    """List the attempts of each session that are its items; of one with a target, those that fooled it."""
    items: dict[int, list[int]] = {session: [] for session in sessions}
    for first in range(0, len(sessions), CHUNK):
        some = {"sessions": sessions[first : first + CHUNK]}
        for session_id, attempt_id in db.execute(_FOOLING if fooling else _ITEMS, some):
            items[session_id].append(attempt_id)
    return items


def attempts(db: Session, ids: Sequence[int]) -> dict[int, Attempt]:
    """Return attempts by id."""
    return {one.id: one for one in db.scalars(select(Attempt).where(Attempt.id.in_(ids)))}


def final_attempts(db: Session, round_id: int, *, fooling: bool) -> Sequence[Attempt]:
    """List what was written in a round and stands, in order; where it was to be *fooling*, what fooled the model."""
    return db.scalars(select(Attempt).where(_final(round_id, fooling=fooling)).order_by(Attempt.id)).all()


def count_final(db: Session, round_id: int, *, fooling: bool) -> int:
    """Count what `final_attempts` lists."""
    return db.scalar(select(func.count(Attempt.id)).where(_final(round_id, fooling=fooling))) or 0


def _final(round_id: int, *, fooling: bool) -> ColumnElement[bool]:
    return and_(
        Attempt.round_id == round_id, ~gone(), *([Attempt.fooled.is_(True), is_agreed(_made)] if fooling else [])
    )


def answers(db: Session, arm_id: int, user_id: int) -> Sequence[CrowdAnswer]:
    """List what somebody answered in the quizzes of a tutorial."""
    return db.scalars(_ANSWERS, {"arm_id": arm_id, "user_id": user_id}).all()


def add_answer(db: Session, **values: Any) -> CrowdAnswer:
    """Add an answer to a step of a quiz, and give it as it is stored; the session does not look after it."""
    values = {"created_at": now(), **values}
    return CrowdAnswer(id=db.execute(_ADD_ANSWER, values).scalar_one(), **values)


def answer_counts(db: Session, arm_id: int, user_ids: Sequence[int] | None = None) -> dict[int, int]:
    """Count what people of an arm have answered in the quizzes of a tutorial."""
    query = select(CrowdAnswer.user_id, func.count()).where(CrowdAnswer.arm_id == arm_id)
    if user_ids is not None and len(user_ids) < MANY:
        query = query.where(CrowdAnswer.user_id.in_(user_ids))
    return {row[0]: int(row[1]) for row in db.execute(query.group_by(CrowdAnswer.user_id))}


def written_counts(db: Session, round_id: int, user_ids: Sequence[int]) -> dict[int, int]:
    """Count what people have written in a round, in sessions of any end."""
    query = (
        select(WritingSession.user_id, func.count(Attempt.id))
        .join(Attempt, Attempt.session_id == WritingSession.id)
        .where(WritingSession.round_id == round_id)
        .group_by(WritingSession.user_id)
    )
    if len(user_ids) < MANY:
        query = query.where(WritingSession.user_id.in_(user_ids))
    return {row[0]: int(row[1]) for row in db.execute(query)}


def quiz_times(db: Session, arm_id: int, steps: int, people: int = 200) -> list[float]:
    """Return how many seconds those who came last took from the first answer of a tutorial's quizzes to the last."""
    newest = select(func.max(CrowdAnswer.id)).where(CrowdAnswer.arm_id == arm_id).scalar_subquery()
    query = (
        select(func.min(CrowdAnswer.created_at), func.max(CrowdAnswer.created_at))
        .where(CrowdAnswer.arm_id == arm_id, CrowdAnswer.id > newest - people * steps)
        .group_by(CrowdAnswer.user_id)
        .having(func.count() == steps)
    )
    return [(last - first).total_seconds() for first, last in db.execute(query)]


def arm_sums(db: Session, task_id: int, arm_id: int) -> dict[str, list[tuple[str, str, str, int]]]:
    """Add up what an arm's people earned besides sessions, by stage: kind, where it stands, currency, amount."""
    begins = f"trial:{arm_id}:"
    rest = func.substr(Earning.work, len(begins) + 1)
    if db.get_bind().dialect.name == "postgresql":
        stage = func.split_part(rest, "/", 1)
    else:
        stage = func.substr(rest, 1, func.instr(rest, "/") - 1)
    named = (
        select(stage.label("stage"), Earning.kind, EarningStanding.status, Earning.currency, Earning.amount)
        .join(EarningStanding, EarningStanding.earning_id == Earning.id)
        .where(Earning.task_id == task_id, Earning.work.startswith(begins, autoescape=True))
        .subquery()
    )
    of = (named.c.stage, named.c.kind, named.c.status, named.c.currency)
    sums: dict[str, list[tuple[str, str, str, int]]] = {}
    for name, *rest_of, amount in db.execute(select(*of, func.sum(named.c.amount)).group_by(*of).order_by(*of)):
        sums.setdefault(name, []).append((*rest_of, int(amount)))
    return sums


def judging_sums(db: Session, task_id: int, validation: int, quiz: str, currency: str) -> dict[str, int]:
    """Add up what judges of a validation earned: `judging` for pages, `gold`, and `quiz` for its entry quiz."""
    pages = select(JudgingPage.id).where(JudgingPage.validation_id == validation)
    asked = select(Quiz.id).where(Quiz.task_id == task_id, Quiz.name == quiz)
    of = {"judging": pages, "gold": select(Validation.id).where(Validation.id == validation), "quiz": asked}
    return {kind: _earned_for(db, task_id, kind, numbers, currency) for kind, numbers in of.items()}


def _earned_for(db: Session, task_id: int, kind: str, numbers: Select[int], currency: str) -> int:
    """Add up what was earned by pieces of work called `kind:number:…` and was not set aside, for some numbers."""
    query = (
        select(func.coalesce(func.sum(Earning.amount), 0))
        .join(EarningStanding, EarningStanding.earning_id == Earning.id)
        .where(Earning.task_id == task_id, Earning.currency == currency, EarningStanding.status != "declined")
        .where(Earning.work.startswith(f"{kind}:", autoescape=True), _number_in(db, kind).in_(numbers))
    )
    return int(db.scalar(query) or 0)


def _number_in(db: Session, kind: str) -> ColumnElement[int]:
    """Read the number out of a piece of work called `kind:number:…`."""
    if db.get_bind().dialect.name == "postgresql":
        # A condition is asked in any order: of other work, there is nothing to be read as a number.
        digits = func.substring(Earning.work, f"^{kind}:([0-9]+)")
        return cast(digits, Integer)
    return cast(func.substr(Earning.work, len(kind) + 2), Integer)  # which reads as far as there are digits


def letters(db: Session, arm_id: int, stage: str) -> dict[int, CrowdLetter]:
    """Return the letters of a stage, by whom they are for."""
    query = select(CrowdLetter).where(CrowdLetter.arm_id == arm_id, CrowdLetter.stage == stage)
    return {one.user_id: one for one in db.scalars(query)}


def letters_to(db: Session, arm_id: int, user_id: int) -> Sequence[CrowdLetter]:
    """List the letters that somebody was sent, the newest first."""
    query = select(CrowdLetter).where(
        CrowdLetter.arm_id == arm_id, CrowdLetter.user_id == user_id, CrowdLetter.sent_at.is_not(None)
    )
    return db.scalars(query.order_by(CrowdLetter.id.desc())).all()


def prompt_tags(db: Session, ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the tags of prompts."""
    return {row.id: row.tags for row in db.execute(select(Prompt.id, Prompt.tags).where(Prompt.id.in_(ids)))}
