"""Grading by the rubric: what waits for somebody, and taking a grade."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from quintain.core.errors import Forbidden
from quintain.core.people import Actor, RoleName
from quintain.core.records.trial import GradingTask
from quintain.core.spec import plain
from quintain.protocols import grading
from quintain.protocols.events import graded
from quintain.services.access.permissions import require_user
from quintain.services.trial.courses import course_of, record
from quintain.services.trial.earnings import settle
from quintain.services.trial.taking_part import arm_of, sync
from quintain.services.trial.trials import find
from quintain.store.database import transaction
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdTrial


def next_to_grade(db: Session, actor: Actor, task: str, name: str) -> GradingTask | None:
    """Give an item that waits for the actor's grade: an expert's in any arm, a promoted worker's in their own."""
    user_id = require_user(actor)
    trial = find(db, task, name)
    left, first = 0, None
    for arm in _arms(db, actor, trial, user_id, task):
        sync(db, trial, arm)
        with course_of(db, trial, arm) as course:
            for stage in course.gradings():
                found = grading.to_grade(course.arm, stage, course.sample(stage), str(user_id), trial.seed)
                left += len(found)
                if found and first is None:
                    rubric = [plain(one, whole=True) for one in course.protocol.rubric]
                    first = (stage.name, found[0], rubric)
    if first is None:
        return None
    stage_name, item, rubric = first
    written = queries.attempts(db, [int(item)])[int(item)]
    return GradingTask(stage_name, item, dict(written.inputs), written.target, rubric, left)


def grade(
    db: Session, actor: Actor, task: str, name: str, *, stage: str, item: str, answers: Mapping[str, str]
) -> GradingTask | None:
    """Grade an item, and give the next."""
    user_id = require_user(actor)
    with transaction(db):
        trial = find(db, task, name)
        for arm in _arms(db, actor, trial, user_id, task):
            with course_of(db, trial, arm) as course:
                there = item in course.arm.items
            if there:
                record(db, trial, arm, graded(str(user_id), stage, item, answers), user_id)
                with course_of(db, trial, arm) as course:
                    settle(db, trial, arm, course)
                break
        else:
            raise Forbidden("There is no such item for you to grade.")
    return next_to_grade(db, actor, task, name)


def _arms(db: Session, actor: Actor, trial: CrowdTrial, user_id: int, task: str) -> list[CrowdArm]:
    """Give the arms in which somebody may grade; who takes part grades in their own arm only."""
    own = arm_of(db, trial, user_id)
    if own is not None:
        return [own]
    if not (actor.has(RoleName.EXPERT, task) or actor.has(RoleName.OWNER, task)):
        raise Forbidden("Only experts grade, and people who were promoted in the trial.")
    return [*queries.arms(db, trial.id)]
