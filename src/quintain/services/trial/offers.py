"""What trials have for somebody now: to enter or go on, to grade, or, as an owner, a stage to close."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session

from quintain.core.people import Actor, RoleName
from quintain.protocols.engine import INSTANT, Course
from quintain.services.access.permissions import require_user
from quintain.services.trial.courses import course_of
from quintain.services.trial.panel_entry import came_as_expert
from quintain.services.trial.participation import MAY_WORK, trial_part
from quintain.services.trial.progress import arm_of
from quintain.services.trial.trials import find_trial
from quintain.store.queries.pay import caps
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdTrial

NEWEST = 8  # open trials that are looked at


@dataclass(frozen=True, slots=True)
class TrialOffer:
    """What an open trial has for somebody: *begun* work of theirs, a way in, items *to_grade*, stages *to_close*."""

    task: str
    name: str
    title: str
    begun: bool = False
    enter: bool = False
    to_grade: int = 0
    to_close: int = 0


def trial_offers(db: Session, actor: Actor, tasks: Collection[str]) -> list[TrialOffer]:
    """List what the newest open trials of *tasks* have for the actor."""
    offers = [_offer(db, actor, row, task) for row, task in caps.open_of(db, tasks, NEWEST)]
    return [offer for offer in offers if offer.begun or offer.enter or offer.to_grade or offer.to_close]


@dataclass(frozen=True, slots=True)
class OwnTrial:
    """A trial as somebody who does not own it sees it: *what* comes next for them, and how many items to grade."""

    name: str
    title: str
    what: str
    to_grade: int = 0


def own_trials(db: Session, actor: Actor, task: str) -> list[OwnTrial]:
    """List the trials of a task in which the actor takes part, which they can enter, or where they grade as experts."""
    rows = [] if actor.user_id is None else queries.seen_by(db, actor.user_id, [], task, 0, NEWEST)
    return [own for row, _ in rows if not row.data for own in [_own(db, actor, row, task)] if own.what or own.to_grade]


def _own(db: Session, actor: Actor, trial: CrowdTrial, task: str) -> OwnTrial:
    user_id, title = require_user(actor), trial.title or trial.name
    if arm_of(db, trial, user_id) is None and actor.has(RoleName.EXPERT, task):
        return OwnTrial(trial.name, title, "", waiting_grades(db, trial, user_id) if trial.state == "open" else 0)
    part = trial_part(db, actor, task, trial.name)
    return OwnTrial(trial.name, title, "" if part.what == "shut" else part.what, int(part.grading))


def grades_waiting(db: Session, actor: Actor, task: str, name: str) -> int | None:
    """Count the items of a trial that wait for the actor, who grades there as an expert; None where they do not."""
    user_id, trial = require_user(actor), find_trial(db, task, name)
    inside = arm_of(db, trial, user_id) is not None
    if inside or not (actor.has(RoleName.EXPERT, task) or came_as_expert(db, trial, user_id)):
        return None
    return waiting_grades(db, trial, user_id) if trial.state == "open" else 0


def waiting_grades(db: Session, trial: CrowdTrial, user_id: int) -> int:
    """Count the items of a trial that wait for an expert."""
    waiting = 0
    for arm in queries.arms(db, trial.id):
        with course_of(db, trial, arm) as course:
            waiting += sum(len(course.waiting(stage, str(user_id))) for stage in course.gradings())
    return waiting


def _offer(db: Session, actor: Actor, trial: CrowdTrial, task: str) -> TrialOffer:
    user_id, title = require_user(actor), trial.title or trial.name
    own = arm_of(db, trial, user_id)
    owner, expert = actor.has(RoleName.OWNER, task), actor.has(RoleName.EXPERT, task)
    if own is not None or not (owner or expert):
        if not any(actor.has(role, task) for role in MAY_WORK):
            return TrialOffer(task, trial.name, title)
        part = trial_part(db, actor, task, trial.name)
        to_grade = int(part.grading)
        return TrialOffer(task, trial.name, title, part.what == "work", part.what == "enter", to_grade)
    to_grade = waiting_grades(db, trial, user_id) if expert else 0
    to_close = 0
    for arm in queries.arms(db, trial.id):
        with course_of(db, trial, arm) as course:
            to_close += sum(1 for _ in _closable(course)) if owner else 0
    return TrialOffer(task, trial.name, title, to_grade=to_grade, to_close=to_close)


def _closable(course: Course) -> Iterator[str]:
    """Name the stages at which people wait for nobody but the owner."""
    for stage in course.protocol.stages:
        waits = course.arm.here.get(stage.name, 0)
        if waits and stage.kind not in INSTANT and stage.work is None and not course.hindrances(stage.name):
            yield stage.name
