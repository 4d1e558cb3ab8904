"""Bringing an arm up to date: what people finished in its rounds is put on record, paid, and lets them go on.

What somebody finished is found in the arm's rounds whenever they or an owner look, so that nothing is lost where
something was interrupted. Whoever looks for themselves asks about themselves only, and changes nothing where there is
nothing new: how many others take part costs them nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.stage_qualifications import stage_qualification
from quintain.protocols.engine import Course
from quintain.protocols.events import Event, back, finished, gone, stopped
from quintain.protocols.stages import Stage, TutorialStage
from quintain.protocols.state import Participant
from quintain.services.trial.courses import Rounds, course_of, hold, record, rounds_of
from quintain.services.trial.earnings import TUTORIAL, amounts_due, pay_amounts_due, steps_of
from quintain.services.work.qualify import add_qualification
from quintain.store.database import transaction
from quintain.store.queries.trial import trials as queries
from quintain.store.queries.validate.intake import gone_in_rounds
from quintain.store.queries.work.qualify import holders
from quintain.store.tables import CrowdArm, CrowdTrial


def arm_of(db: Session, trial: CrowdTrial, user_id: int) -> CrowdArm | None:
    """Return the arm that somebody is in."""
    return queries.arm_of(db, trial.id, user_id)


def sync(db: Session, trial: CrowdTrial, arm: CrowdArm) -> None:
    """Put on record what anybody finished in the arm's rounds, what that earns, and who may write where."""
    with transaction(db):
        hold(db, arm)
        rounds = queries.rounds(db, arm.id)
        with course_of(db, trial, arm) as course:
            stages = [stage for stage in course.protocol.stages if stage.work is not None]
        for stage in stages:
            with course_of(db, trial, arm) as course:
                here = course.at(stage.name)
            for event in _finished(db, trial, arm, stage, rounds, here):
                record(db, trial, arm, event, int(event.person))
        sync_gone(db, trial, arm)
        give_stage_qualifications(db, trial, arm)
        with course_of(db, trial, arm) as course:
            pay_amounts_due(db, trial, arm, course)


def sync_gone(db: Session, trial: CrowdTrial, arm: CrowdArm) -> None:
    """Put on record which items were taken back or withheld, and which stand again; in a transaction."""
    hold(db, arm)
    ids = [round_id for round_id, _ in rounds_of(db, trial, arm).values()]
    gone_items = {str(one) for one in gone_in_rounds(db, ids)} if ids else set()
    with course_of(db, trial, arm) as course:
        known, before = course.arm.items.keys() & gone_items, {*course.arm.gone}
    for event in (*map(gone, sorted(known - before)), *map(back, sorted(before - known))):
        record(db, trial, arm, event)


def sync_person(db: Session, trial: CrowdTrial, arm: CrowdArm, user_id: int) -> None:
    """Put on record what one person finished, what that earns them, and where they may write now."""
    news = news_of(db, trial, arm, user_id)
    if news:
        with transaction(db):
            take_news(db, trial, arm, user_id, news)


@dataclass(frozen=True, slots=True)
class News:
    """What somebody has finished and is not on record, since the record had them at a stage with so much done."""

    since: tuple[str, int]
    events: tuple[Event, ...]

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.events)


def news_of(db: Session, trial: CrowdTrial, arm: CrowdArm, user_id: int) -> News:
    """Look what somebody has finished at the stage where they are and is not on record; nothing is changed."""
    person, rounds = str(user_id), rounds_of(db, trial, arm)
    with course_of(db, trial, arm) as course:
        since = _stage_and_use(course, person)
        stage = next(
            (stage for stage in course.protocol.stages if stage.name == since[0] and stage.work is not None), None
        )
    return News(since, () if stage is None else tuple(_finished(db, trial, arm, stage, rounds, [person])))


def take_news(db: Session, trial: CrowdTrial, arm: CrowdArm, user_id: int, news: News) -> None:
    """Put on record what somebody finished, in a transaction, with what follows from it."""
    hold(db, arm)
    person, rounds = str(user_id), rounds_of(db, trial, arm)
    with course_of(db, trial, arm) as course:
        stands, full, passes = _stage_and_use(course, person), _full(course), _passes(course, rounds, person)
        paid = {one.key for one in amounts_due(course, [person])}
    if stands != news.since:  # somebody else has put something on record meanwhile
        news = news_of(db, trial, arm, user_id)
    while news:
        for event in news.events:
            record(db, trial, arm, event, user_id)
        if _stage_of(db, trial, arm, person) == news.since[0]:
            break  # only who goes on may have work at the next stage
        news = news_of(db, trial, arm, user_id)
    with course_of(db, trial, arm) as course:
        filled, same = _full(course) - full, _passes(course, rounds, person) == passes
        pay_amounts_due(db, trial, arm, course, [person], before=paid)
    if filled or not same:
        give_stage_qualifications(db, trial, arm, None if filled else [person])


def give_stage_qualifications(
    db: Session, trial: CrowdTrial, arm: CrowdArm, only: Collection[str] | None = None
) -> None:
    """Let exactly those write in each of the arm's rounds who can do so now, all or some *only*; in a transaction."""
    rounds = rounds_of(db, trial, arm)
    with course_of(db, trial, arm) as course:
        people = [
            person
            for person in course.arm.people.values()
            if person.name.isdecimal() and (only is None or person.name in only)
        ]
        passes = {
            (int(person.name), stage): may
            for person in people
            for stage, may in _passes(course, rounds, person.name).items()
        }
        tutorials = {stage.name: stage.tutorial for stage in course.protocol.stages if stage.tutorial is not None}
    ids = [int(person.name) for person in people] if only is not None else None
    written = any(stage in tutorials and may for (_, stage), may in passes.items())
    done = queries.answer_counts(db, arm.id, ids) if written else {}
    held = holders(db, trial.task_id, [stage_qualification(arm.id, stage) for stage in rounds], ids)
    for (user_id, stage), may in passes.items():
        if stage in tutorials and done.get(user_id, 0) < steps_of(tutorials[stage]):
            may = False  # noqa: PLW2901 - the quizzes come first
        if may != ((user_id, stage_qualification(arm.id, stage)) in held):
            add_qualification(
                db, trial.task_id, user_id, stage_qualification(arm.id, stage), held=may, reason=trial.name
            )


def _passes(course: Course, rounds: Rounds, person: str) -> dict[str, bool]:
    """Return in which of the arm's rounds somebody can write now, as far as the record tells."""
    at = course.person(person).at
    return {stage: at == stage and course.room(person) > 0 for stage in rounds}


def _full(course: Course) -> set[str]:
    """Name the stages of writing at which enough is written."""
    return {
        stage.name
        for stage in course.protocol.stages
        if stage.writing is not None and 0 < stage.writing.wanted <= course.arm.written.get(stage.name, 0)
    }


def _stage_and_use(course: Course, person: str) -> tuple[str, int]:
    participant = course.person(person)
    return participant.at, participant.used(participant.at)


def _stage_of(db: Session, trial: CrowdTrial, arm: CrowdArm, person: str) -> str:
    with course_of(db, trial, arm) as course:
        return course.person(person).at


def _finished(
    db: Session, trial: CrowdTrial, arm: CrowdArm, stage: Stage, rounds: Rounds, people: list[str]
) -> Iterator[Event]:
    """Yield what *people*, who are at a stage, have finished there and is not on record."""
    if not people:
        return
    user_id = int(people[0]) if len(people) == 1 else None
    round_id = rounds[stage.name][0] if stage.name in rounds else None
    sessions = queries.ended_sessions(db, round_id, user_id) if round_id is not None else []
    if stage.tutorial is not None:
        whole = [(session_id, writer) for session_id, writer, done in sessions if done]
        yield from _tutorials(db, arm, stage.name, stage.tutorial, whole, people)
        return
    with course_of(db, trial, arm) as course:
        known = {person: _known(course.person(person), stage.name) for person in people}
        room = {person: course.sessions_left(person) for person in people}
    new: list[tuple[int, str, bool]] = []
    for session_id, writer, done in sessions:
        name = str(writer)
        if name in known and str(session_id) not in known[name] and room[name] > 0:
            room[name] -= 1
            new.append((session_id, name, done))
    fooling = stage.writing is not None and stage.writing.target
    items = queries.items_of_sessions(db, [session_id for session_id, _, _ in new], fooling=fooling)
    for session_id, name, done in new:
        event = finished if done else stopped
        yield event(name, stage.name, str(session_id), tuple(map(str, items[session_id])))


def _known(person: Participant, stage: str) -> set[str]:
    """Name the sessions of somebody at a stage that are on record."""
    return {*person.units.get(stage, ()), *person.stopped.get(stage, ())}


def _tutorials(
    db: Session, arm: CrowdArm, stage: str, rule: TutorialStage, sessions: list[tuple[int, int]], people: list[str]
) -> Iterator[Event]:
    """Finish the tutorial of those who have answered all quizzes and written for all contexts."""
    answered = queries.answer_counts(db, arm.id, [int(person) for person in people])
    for person in people:
        own = [session for session, writer in sessions if writer == int(person)][: rule.contexts]
        if len(own) >= rule.contexts and answered.get(int(person), 0) >= steps_of(rule):
            items = queries.items_of_sessions(db, own, fooling=False)
            yield finished(person, stage, TUTORIAL, tuple(str(item) for session in own for item in items[session]))
