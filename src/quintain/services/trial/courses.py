"""Where each arm stands: its course, replayed from the record once and kept, then brought up to date.

A course in memory is no more than the record says, as the transaction that asks sees it. The record is asked once in a
transaction: who reads goes on with what they saw first, and who holds an arm knows that nobody adds to it. A course
that does not fit what a transaction sees, as after one that was rolled back, is thrown away and replayed.

Who adds to an arm works on a course of their own, and others see it when it is committed: then it takes the place of
the one that was shown, which is kept to be brought up to date by whoever adds next. Both belong to the workspace.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sqlalchemy import event as sessions
from sqlalchemy.orm import Session

from quintain.protocols.default_rubric import default_rubric
from quintain.protocols.engine import Course
from quintain.protocols.events import Event
from quintain.protocols.reading import parse_protocol
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import Stage
from quintain.services.tasks.definitions import get_task
from quintain.services.trial.grades import GradingFigures, figures_of
from quintain.store.database import lock
from quintain.store.queries.trial import trials as queries
from quintain.store.state import state_of
from quintain.store.tables import CrowdArm, CrowdTrial, TaskRow
from quintain.tasks.contract import kind_of

MOST = 64  # arms that are kept in memory, each twice at most

Rounds = Mapping[str, tuple[int, int]]  # by stage: id and number


@dataclass(slots=True)
class CachedCourse:
    """A course as far as it was followed: the number and the token of the newest event in it."""

    toml: str
    course: Course
    number: int = 0
    token: str = ""
    figures: tuple[str, dict[str, GradingFigures]] | None = None
    rounds: Rounds = field(default_factory=dict)


class Courses:
    """The courses of a workspace's arms: what is shown of each, and what the next writer begins with.

    They stay for as long as the workspace is open; those of the arms that were used last, MOST of them.
    """

    def __init__(self) -> None:
        self.guard = threading.RLock()
        self.shown: OrderedDict[int, CachedCourse] = OrderedDict()
        self._spare: dict[int, CachedCourse] = {}

    def show(self, arm: int, cached: CachedCourse) -> None:
        """Let everybody see a course; the one that they saw is for whoever adds next."""
        with self.guard:
            before = self.shown.pop(arm, None)
            self.shown[arm] = cached
            if before is not None and before is not cached:
                self._spare[arm] = before
            while len(self.shown) > MOST:
                self._spare.pop(self.shown.popitem(last=False)[0], None)

    def take_spare(self, arm: int) -> CachedCourse | None:
        """Take what a writer may begin with."""
        with self.guard:
            return self._spare.pop(arm, None)

    def give_back(self, arm: int, cached: CachedCourse) -> None:
        """Keep what a writer did not use, or has undone: whoever takes it looks whether it fits."""
        with self.guard:
            if arm in self.shown:
                self._spare.setdefault(arm, cached)

    def clear(self) -> None:
        """Forget all courses: they are replayed when they are needed."""
        with self.guard:
            self.shown.clear()
            self._spare.clear()


@dataclass(slots=True)
class _Seen:
    """What a session knows in its transaction: the event up to which it saw each arm, and the arms that it holds."""

    within: tuple[object, object]
    tokens: dict[int, str] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Written:
    """The courses of the arms to which a session has added in its transaction, which nobody else sees yet."""

    within: object
    courses: dict[int, CachedCourse] = field(default_factory=dict)


@contextmanager
def course_of(db: Session, trial: CrowdTrial, arm: CrowdArm) -> Iterator[Course]:
    """Yield the course of an arm as its record has it now; nobody changes it meanwhile."""
    with state_of(db).part(Courses).guard:
        yield _fresh(db, trial, arm).course


def kept_figures(db: Session, trial: CrowdTrial, arm: CrowdArm) -> dict[str, GradingFigures]:
    """Return how the gradings of an arm stand, by stage: as computed since its record last changed, or anew."""
    with state_of(db).part(Courses).guard:
        cached = _fresh(db, trial, arm)
        if cached.figures is None or cached.figures[0] != cached.token:
            course = cached.course
            stages = [stage for stage in course.protocol.stages if stage.grading is not None]
            begun = [stage for stage in stages if _has_begun(course, stage)]
            cached.figures = (cached.token, {stage.name: figures_of(course, stage) for stage in begun})
        return cached.figures[1]


def rounds_of(db: Session, trial: CrowdTrial, arm: CrowdArm) -> Rounds:
    """Return the rounds of an arm of a trial that was opened; once that is committed they are always the same."""
    with state_of(db).part(Courses).guard:
        cached = _fresh(db, trial, arm)
        if cached.rounds:
            return cached.rounds
        rounds = queries.rounds(db, arm.id)
        if not db.info.get("in_transaction"):  # else they may be undone with what this transaction does
            cached.rounds = rounds
        return rounds


def _has_begun(course: Course, stage: Stage) -> bool:
    came = any(stage.name in person.been for person in course.arm.people.values())
    return came and (stage.name in course.arm.closed or not course.hindrances_before(stage.name))


def record(db: Session, trial: CrowdTrial, arm: CrowdArm, event: Event, user_id: int | None = None) -> None:
    """Add an event to an arm's record, inside a transaction; one that cannot be is refused, and nothing changes."""
    hold(db, arm)
    written = _written(db)
    own = written.courses[arm.id] = _own(db, trial, arm)
    own.course.apply(event)
    own.number, own.token = own.number + 1, secrets.token_urlsafe(12)
    queries.add_event(db, arm_id=arm.id, number=own.number, token=own.token, body=event.as_dict(), user_id=user_id)
    _seen(db).tokens[arm.id] = own.token


def hold(db: Session, arm: CrowdArm) -> None:
    """Let nobody else add to an arm's record until this transaction ends."""
    if arm.id not in _seen(db).held:
        lock(db, f"trial arm {arm.id}")
        seen = _seen(db)
        seen.held.add(arm.id)
        seen.tokens.pop(arm.id, None)  # others may have added to it before


def _seen(db: Session) -> _Seen:
    """Return what is known in this transaction, or in this part of it that may be undone by itself."""
    within = (db.get_transaction(), db.get_nested_transaction())
    seen = db.info.get("trial arms")
    if not isinstance(seen, _Seen) or within[0] is None or seen.within != within:
        seen = db.info["trial arms"] = _Seen(within)
    return seen


def _written(db: Session) -> _Written:
    """Return what this session has added in its transaction; what is committed is shown to everybody."""
    written = db.info.get("trial courses")
    if written is None:
        sessions.listen(db, "after_commit", _show_written)
        sessions.listen(db, "after_rollback", _give_back_written)
    if not isinstance(written, _Written) or written.within is not db.get_transaction():
        written = db.info["trial courses"] = _Written(db.get_transaction())
    return written


def _show_written(db: Session) -> None:
    written = db.info.get("trial courses")
    if isinstance(written, _Written) and db.get_nested_transaction() is None:
        for arm, cached in written.courses.items():
            state_of(db).part(Courses).show(arm, cached)
        written.courses.clear()


def _give_back_written(db: Session) -> None:
    written = db.info.get("trial courses")
    if isinstance(written, _Written):
        for arm, cached in written.courses.items():
            state_of(db).part(Courses).give_back(arm, cached)
        written.courses.clear()


def _fresh(db: Session, trial: CrowdTrial, arm: CrowdArm) -> CachedCourse:
    written = db.info.get("trial courses")
    if isinstance(written, _Written) and written.within is db.get_transaction() and arm.id in written.courses:
        cached = written.courses[arm.id] = _own(db, trial, arm)
        return cached
    courses = state_of(db).part(Courses)
    shown = courses.shown.get(arm.id)
    if shown is not None and _fits(db, arm, shown):
        courses.shown.move_to_end(arm.id)
        return shown
    cached = _replayed(db, trial, arm)
    courses.show(arm.id, cached)
    return cached


def protocol_of(db: Session, trial: CrowdTrial, arm: CrowdArm) -> Protocol:
    """Return the protocol of an arm; where it names no rubric, with that of the task's kind."""
    protocol = parse_protocol(arm.toml)
    if protocol.rubric:
        return protocol
    task = get_task(db, db.get_one(TaskRow, trial.task_id).name)
    return replace(protocol, rubric=default_rubric(kind_of(task), task))


def _own(db: Session, trial: CrowdTrial, arm: CrowdArm) -> CachedCourse:
    """Return a course that nobody else sees, as this transaction sees the record."""
    own = _written(db).courses.get(arm.id) or state_of(db).part(Courses).take_spare(arm.id)
    return own if own is not None and _fits(db, arm, own) else _replayed(db, trial, arm)


def _replayed(db: Session, trial: CrowdTrial, arm: CrowdArm) -> CachedCourse:
    replayed = CachedCourse(arm.toml, Course(protocol_of(db, trial, arm), trial.seed))
    _seen(db).tokens.pop(arm.id, None)
    _fits(db, arm, replayed)
    return replayed


def _fits(db: Session, arm: CrowdArm, cached: CachedCourse) -> bool:
    """Bring a course up to date; say that it is none of this arm as the transaction sees it."""
    if cached.toml != arm.toml:
        return False
    seen = _seen(db)
    if cached.token and seen.tokens.get(arm.id) == cached.token:
        return True
    events = queries.events_from(db, arm.id, cached.number or 1)
    if cached.number:
        if not events or events[0][:2] != (cached.number, cached.token):
            return False
        events = events[1:]
    for number, token, body in events:
        cached.course.apply(Event.of(body))
        cached.number, cached.token = number, token
    seen.tokens[arm.id] = cached.token
    return True
