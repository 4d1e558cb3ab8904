"""Bringing an arm up to date: what people finished in its rounds is put on record, paid, and lets them go on.

What somebody finished is found in the arm's rounds whenever they or an owner look, so that nothing is lost where
something was interrupted. Whoever looks for themselves asks about themselves only, and changes nothing where there is
nothing new: how many others take part costs them nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy.orm import Session

from quintain.protocols.engine import Course
from quintain.protocols.events import Event, finished
from quintain.protocols.stages import Stage, TutorialStage
from quintain.services.trial.courses import course_of, hold, record
from quintain.services.trial.earnings import settle
from quintain.services.trial.rounds import pass_of
from quintain.services.work.qualify import put_qualification
from quintain.store.database import transaction
from quintain.store.queries.trial import trials as queries
from quintain.store.queries.work.qualify import holders
from quintain.store.tables import CrowdArm, CrowdTrial

Rounds = dict[str, tuple[int, int]]


def arm_of(db: Session, trial: CrowdTrial, user_id: int) -> CrowdArm | None:
    """Give the arm that somebody is in."""
    return queries.arm_of(db, trial.id, user_id)


def sync(db: Session, trial: CrowdTrial, arm: CrowdArm) -> None:
    """Put on record what anybody finished in the arm's rounds, what that earns, and who may write where."""
    with transaction(db):
        hold(db, arm)
        rounds = queries.rounds(db, arm.id)
        with course_of(db, trial, arm) as course:
            stages = [one for one in course.protocol.stages if one.work is not None]
        for stage in stages:
            with course_of(db, trial, arm) as course:
                here = course.at(stage.name)
            for event in _finished(db, trial, arm, stage, rounds, here):
                record(db, trial, arm, event, int(event.person))
        give_passes(db, trial, arm)
        with course_of(db, trial, arm) as course:
            settle(db, trial, arm, course)


def sync_person(db: Session, trial: CrowdTrial, arm: CrowdArm, user_id: int) -> Rounds:
    """Put on record what one person finished, what that earns them, and where they may write now; give the rounds."""
    person, rounds = str(user_id), queries.rounds(db, arm.id)
    if not any(_news_of(db, trial, arm, person, rounds)):
        return rounds
    with transaction(db):
        hold(db, arm)
        with course_of(db, trial, arm) as course:
            full = _full(course)
        while events := [*_news_of(db, trial, arm, person, rounds)]:
            before = _place(db, trial, arm, person)
            for event in events:
                record(db, trial, arm, event, user_id)
            if _place(db, trial, arm, person) == before:
                break  # only who goes on may have work at the next stage
        with course_of(db, trial, arm) as course:
            filled = _full(course) - full
            settle(db, trial, arm, course, [person])
        give_passes(db, trial, arm, None if filled else [person], rounds=rounds)
    return rounds


def give_passes(
    db: Session,
    trial: CrowdTrial,
    arm: CrowdArm,
    only: Collection[str] | None = None,
    *,
    rounds: Rounds | None = None,
) -> None:
    """Let exactly those write in each of the arm's rounds who can do so now, all or some *only*; in a transaction."""
    rounds = queries.rounds(db, arm.id) if rounds is None else rounds
    with course_of(db, trial, arm) as course:
        people = [
            one for one in course.arm.people.values() if one.name.isdecimal() and (only is None or one.name in only)
        ]
        wanted = {
            (int(one.name), stage): one.at == stage and course.room(one.name) > 0 for stage in rounds for one in people
        }
        tutorials = {one.name: one.tutorial for one in course.protocol.stages if one.tutorial is not None}
    ids = [int(one.name) for one in people] if only is not None else None
    done = queries.answer_counts(db, arm.id, ids) if tutorials else {}
    held = holders(db, trial.task_id, [pass_of(arm.id, stage) for stage in rounds], ids)
    for (user_id, stage), may in wanted.items():
        if stage in tutorials and done.get(user_id, 0) < steps_of(tutorials[stage]):
            may = False  # noqa: PLW2901 - the quizzes come first
        if may != ((user_id, pass_of(arm.id, stage)) in held):
            put_qualification(db, trial.task_id, user_id, pass_of(arm.id, stage), held=may, reason=trial.name)


def steps_of(tutorial: TutorialStage) -> int:
    """Count the steps of a tutorial's quizzes."""
    return sum(len(one.pairs) for one in tutorial.quizzes)


def _full(course: Course) -> set[str]:
    """Name the stages of writing at which enough is written."""
    return {
        one.name
        for one in course.protocol.stages
        if one.writing is not None and 0 < one.writing.wanted <= course.arm.written.get(one.name, 0)
    }


def _place(db: Session, trial: CrowdTrial, arm: CrowdArm, person: str) -> str:
    with course_of(db, trial, arm) as course:
        return course.person(person).at


def _news_of(db: Session, trial: CrowdTrial, arm: CrowdArm, person: str, rounds: Rounds) -> Iterator[Event]:
    with course_of(db, trial, arm) as course:
        at = course.person(person).at
        stage = next((one for one in course.protocol.stages if one.name == at and one.work is not None), None)
    if stage is not None:
        yield from _finished(db, trial, arm, stage, rounds, [person])


def _finished(
    db: Session, trial: CrowdTrial, arm: CrowdArm, stage: Stage, rounds: Rounds, people: list[str]
) -> Iterator[Event]:
    """Give what *people*, who are at a stage, have finished there and is not on record."""
    if not people:
        return
    user_id = int(people[0]) if len(people) == 1 else None
    round_id = rounds[stage.name][0] if stage.name in rounds else None
    sessions = queries.finished_sessions(db, round_id, user_id) if round_id is not None else []
    if stage.tutorial is not None:
        yield from _tutorials(db, arm, stage.name, stage.tutorial, sessions, people)
        return
    with course_of(db, trial, arm) as course:
        known = {one: {*course.person(one).units.get(stage.name, ())} for one in people}
        room = {one: course.sessions_left(one) for one in people}
    fooling = stage.writing is not None and stage.writing.target
    for session_id, writer in sessions:
        name = str(writer)
        if name in known and str(session_id) not in known[name] and room[name] > 0:
            room[name] -= 1
            items = queries.items_of_session(db, session_id, fooling=fooling)
            yield finished(name, stage.name, str(session_id), tuple(map(str, items)))


def _tutorials(
    db: Session, arm: CrowdArm, stage: str, rule: TutorialStage, sessions: list[tuple[int, int]], people: list[str]
) -> Iterator[Event]:
    """Finish the tutorial of those who have answered all quizzes and written for all contexts."""
    answered = queries.answer_counts(db, arm.id, [int(one) for one in people])
    for person in people:
        own = [session for session, writer in sessions if writer == int(person)][: rule.contexts]
        if len(own) >= rule.contexts and answered.get(int(person), 0) >= steps_of(rule):
            items = [str(one) for session in own for one in queries.items_of_session(db, session, fooling=False)]
            yield finished(person, stage, "tutorial", tuple(items))
