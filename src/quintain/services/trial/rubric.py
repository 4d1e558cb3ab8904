"""Grading by the rubric: items are given out by lease, so that each gets as many grades as it takes and no more.

Whoever asks is given one item, and holds it until they grade it or the lease lapses; then it is given to others. A
grade is taken for an item that was given out, and for no other. One that comes when others have filled its place is
paid and not counted, and so is one of a stage, or of a trial, that was closed while somebody was at it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records.base import decode
from quintain.core.records.trial import GradingQuestion, GradingTask
from quintain.core.spec import plain
from quintain.protocols import grading
from quintain.protocols.due import AmountDue
from quintain.protocols.engine import Course
from quintain.protocols.events import graded, graded_late, regraded
from quintain.protocols.rubric import Answers
from quintain.protocols.stages import Stage
from quintain.services.access.permissions import require_user
from quintain.services.pay.caps import PAY_CAP, require_room
from quintain.services.trial.courses import course_of, hold, record
from quintain.services.trial.earnings import add_due, pay_amounts_due
from quintain.services.trial.panel_entry import came_as_expert, doors_of
from quintain.services.trial.progress import arm_of, sync_gone
from quintain.services.trial.trials import find_trial
from quintain.services.validate.judging import shared_source
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.trial import leases as queries
from quintain.store.queries.trial import trials as trial_queries
from quintain.store.tables import CrowdArm, CrowdLease, CrowdTrial

SHORTEST_LEASE = 15.0  # minutes
PATIENCE = 6.0  # a lease lasts so many times as long as a grade should take


@dataclass(frozen=True, slots=True)
class _ItemToGrade:
    """An item of an arm that somebody is to grade, and how far they are."""

    arm: CrowdArm
    stage: Stage
    item: str
    until: datetime | None
    left: int


def next_to_grade(db: Session, actor: Actor, task: str, name: str) -> GradingTask | None:
    """Return an item for the actor to grade: for an expert one of any arm, for a promoted worker one of their own.

    Who was given one and has not graded it gets the same again.
    """
    user_id = require_user(actor)
    trial = find_trial(db, task, name)
    arms = _arms(db, actor, trial, user_id, task)
    others = shared_source.people_of_same_source(db, actor, trial.task_id)
    held = {one.arm_id for one in queries.of_person(db, [arm.id for arm in arms], user_id) if one.until > now()}
    for arm in sorted(arms, key=lambda arm: arm.id not in held):
        with transaction(db):
            sync_gone(db, trial, arm)  # nobody is given what was taken back or withheld
            claimed = _claim(db, trial, arm, user_id, others)
        if claimed is not None:
            return _task(db, trial, claimed, user_id)
    return None


def grade(
    db: Session, actor: Actor, task: str, name: str, *, stage: str, item: str, answers: Mapping[str, str]
) -> GradingTask | None:
    """Grade an item that was given out to the actor, and give the next; the same grade sent again changes nothing."""
    user_id = require_user(actor)
    with transaction(db):
        trial = find_trial(db, task, name)
        arm, lease = _leased(db, actor, trial, task, stage, item)
        if lease is not None:
            seconds = (min(now(), lease.until) - lease.given_at).total_seconds()
            sync_gone(db, trial, arm)
            others = shared_source.people_of_same_source(db, actor, trial.task_id)
            kind = graded if _counts(db, trial, arm, lease, others) else graded_late
            record(db, trial, arm, kind(str(user_id), stage, item, answers, round(seconds, 1)), user_id)
            db.delete(lease)
            with course_of(db, trial, arm) as course:
                pay_amounts_due(db, trial, arm, course, [str(user_id)])
                if _is_paid_expert(db, trial, course, user_id):
                    amount = doors_of(trial).expert_pay
                    owed = AmountDue(f"{stage}/{user_id}/{item}", str(user_id), stage, amount, "grade")
                    add_due(db, trial, arm, course, [owed])
        elif _grade_given(db, trial, arm, stage, item, user_id) != dict(answers):
            raise Conflict(
                "This item was not given to you, or you have graded it already.",
                remedy="Ask for the next one.",
                code="not_leased",
            )
    return _next_if_any(db, actor, task, name)


def _is_paid_expert(db: Session, trial: CrowdTrial, course: Course, user_id: int) -> bool:
    """Whether the trial pays somebody for grading who came by its door as an expert."""
    outside = str(user_id) not in course.arm.people
    return outside and bool(doors_of(trial).expert_pay) and came_as_expert(db, trial, user_id)


def graded_before(db: Session, actor: Actor, task: str, name: str, back: int = 1) -> GradingTask:
    """Return the actor's newest grade, or the *back*-newest, while it can be changed."""
    user_id = require_user(actor)
    trial = find_trial(db, task, name)
    arms = {arm.id: arm for arm in _arms(db, actor, trial, user_id, task)}
    event = queries.last_graded(db, [*arms], user_id, back)
    if event is None:
        raise NotFound("You have graded nothing there.")
    arm, stage_name, item = arms[event.arm_id], event.body["stage"], event.body["unit"]
    with course_of(db, trial, arm) as course:
        stage = next((one for one in course.gradings() if one.name == stage_name), None)
        answers = grading.grade_of(course.arm, stage, item, str(user_id)) if stage is not None else None
        left = sum(len(course.waiting(one, str(user_id))) for one in course.gradings())
        taken_back = item in course.arm.gone
    if taken_back:
        raise Conflict("This item was taken back or withheld. Its grade stays as it is.")
    if stage is None or answers is None:
        raise Conflict("{stage} is closed, and its grades stay as they are.", stage=stage_name)
    return _task(db, trial, _ItemToGrade(arm, stage, item, None, left), user_id, answers, back)


def change_grade(
    db: Session, actor: Actor, task: str, name: str, *, stage: str, item: str, answers: Mapping[str, str]
) -> GradingTask | None:
    """Change a grade that the actor gave, while its stage is open, and give the next item; it is paid once."""
    user_id = require_user(actor)
    with transaction(db):
        trial = find_trial(db, task, name)
        arm = _arm_with(db, actor, trial, task, item)
        record(db, trial, arm, regraded(str(user_id), stage, item, answers), user_id)
    return _next_if_any(db, actor, task, name)


def _next_if_any(db: Session, actor: Actor, task: str, name: str) -> GradingTask | None:
    """Return the next item after a grade that was taken; a cap that it reached is told to whoever asks for another."""
    try:
        return next_to_grade(db, actor, task, name)
    except Conflict as error:
        if error.code != PAY_CAP:
            raise
        return None


def _claim(db: Session, trial: CrowdTrial, arm: CrowdArm, user_id: int, others: Sequence[int]) -> _ItemToGrade | None:
    """Return an item of an arm that nobody else may change meanwhile: the one somebody holds, or a free one.

    What *others* of the same source wrote, have graded or are at is not for them.
    """
    moment = now()
    leases = queries.live(db, arm.id, moment)
    with course_of(db, trial, arm) as course:
        for stage in course.gradings():
            open_ = _open(course, stage, leases, user_id, others)
            if not open_:
                continue
            own = next((lease for lease in leases if _is(lease, stage, user_id) and lease.item in open_), None)
            if own is None:
                if trial.state != "open":
                    continue  # what was given out can still be handed in, and nothing else is
                if str(user_id) in course.arm.people or _is_paid_expert(db, trial, course, user_id):
                    require_room(
                        db, trial.task_id, user_id, trial=trial.id
                    )  # a cap pauses what is new; what was given out is paid
                lasts = timedelta(minutes=max(SHORTEST_LEASE, PATIENCE * grading.rule_of(stage).minutes))
                own = _lease(db, arm, stage, open_[0], user_id)
                own.given_at, own.until = moment, moment + lasts
                db.flush()
            return _ItemToGrade(arm, stage, own.item, own.until, len(open_))
    return None


def _open(course: Course, stage: Stage, leases: Sequence[CrowdLease], user_id: int, others: Sequence[int]) -> list[str]:
    """Name the items that somebody can be given: those that can take one more grade than others are at."""
    person, sample = str(user_id), course.sample(stage)
    inside = person in course.arm.people
    taken = Counter(
        lease.item
        for lease in leases
        if lease.stage == stage.name
        and lease.user_id != user_id
        and (str(lease.user_id) in course.arm.people) == inside
    )
    alike = {str(other) for other in others}
    busy = {lease.item for lease in leases if lease.stage == stage.name and str(lease.user_id) in alike}
    return [
        item
        for item in course.waiting(stage, person)
        if (item not in sample.names or grading.room(course.arm, stage, sample, item, person) > taken[item])
        and item not in busy
        and not grading.is_known_to(course.arm, stage, item, alike)
    ]


def _lease(db: Session, arm: CrowdArm, stage: Stage, item: str, user_id: int) -> CrowdLease:
    """Return a lease anew, whether or not the person had one of the same item that lapsed."""
    for held in queries.of_person(db, [arm.id], user_id):
        if (held.stage, held.item) == (stage.name, item):
            return held
    lease = CrowdLease(arm_id=arm.id, stage=stage.name, item=item, user_id=user_id)
    db.add(lease)
    return lease


def _counts(db: Session, trial: CrowdTrial, arm: CrowdArm, lease: CrowdLease, others: Sequence[int]) -> bool:
    """Whether a grade comes in time: its stage is open, its lease has not lapsed, or nobody fills its place.

    One of an item that is gone by now is paid, and does not count.
    """
    hold(db, arm)
    moment = now()
    with course_of(db, trial, arm) as course:
        stage = next((one for one in course.gradings() if one.name == lease.stage), None)
        if stage is None or trial.state != "open" or lease.item in course.arm.gone:
            return False
        live = lease.until > moment
        return live or lease.item in _open(course, stage, queries.live(db, arm.id, moment), lease.user_id, others)


def _is(lease: CrowdLease, stage: Stage, user_id: int) -> bool:
    return (lease.stage, lease.user_id) == (stage.name, user_id)


def _leased(
    db: Session, actor: Actor, trial: CrowdTrial, task: str, stage: str, item: str
) -> tuple[CrowdArm, CrowdLease | None]:
    user_id = require_user(actor)
    arm = _arm_with(db, actor, trial, task, item)
    held = queries.of_person(db, [arm.id], user_id)
    return arm, next((one for one in held if (one.stage, one.item) == (stage, item)), None)


def _grade_given(db: Session, trial: CrowdTrial, arm: CrowdArm, stage: str, item: str, user_id: int) -> Answers | None:
    """Return the grade that somebody gave an item, while its stage is open."""
    with course_of(db, trial, arm) as course:
        grading_stage = next((one for one in course.gradings() if one.name == stage), None)
        return None if grading_stage is None else grading.grade_of(course.arm, grading_stage, item, str(user_id))


def _arm_with(db: Session, actor: Actor, trial: CrowdTrial, task: str, item: str) -> CrowdArm:
    """Find the arm of an item among those in which the actor may grade."""
    for arm in _arms(db, actor, trial, require_user(actor), task):
        with course_of(db, trial, arm) as course:
            if item in course.arm.items:
                return arm
    raise Forbidden("There is no such item for you to grade.")


def _task(
    db: Session,
    trial: CrowdTrial,
    claimed: _ItemToGrade,
    user_id: int,
    answers: Mapping[str, str] | None = None,
    back: int = 0,
) -> GradingTask:
    with course_of(db, trial, claimed.arm) as course:
        rubric = decode(list[GradingQuestion], [plain(question, whole=True) for question in course.protocol.questions])
        done = grading.count_given(course.arm, claimed.stage, course.sample(claimed.stage), str(user_id))
        minutes = grading.rule_of(claimed.stage).minutes
    written = trial_queries.attempts(db, [int(claimed.item)])[int(claimed.item)]
    return GradingTask(
        claimed.stage.name,
        claimed.item,
        dict(written.inputs),
        written.target,
        rubric,
        claimed.left,
        done,
        minutes,
        claimed.until,
        dict(answers or {}),
        back,
    )


def _arms(db: Session, actor: Actor, trial: CrowdTrial, user_id: int, task: str) -> list[CrowdArm]:
    """Return the arms in which somebody may grade; who takes part grades in their own arm only."""
    own = arm_of(db, trial, user_id)
    if own is not None:
        return [own]
    if not (actor.has(RoleName.EXPERT, task) or actor.has(RoleName.OWNER, task) or came_as_expert(db, trial, user_id)):
        raise Forbidden("There is nothing for you to grade here.")
    return [*trial_queries.arms(db, trial.id)]
