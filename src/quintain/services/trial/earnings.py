"""What finished steps of a trial earn: the one seam between a course and whatever pays.

Sessions in rounds are paid where they end, by the round's own reward; here is what a trial adds to that: tutorials,
bonuses on the way, grades. Each amount has a name of its own, so that adding all of them again adds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from functools import partial
from statistics import median

from sqlalchemy.orm import Session

from quintain.core.rounds import Money
from quintain.protocols import grading
from quintain.protocols.due import AmountDue, due
from quintain.protocols.engine import Course
from quintain.protocols.stages import Stage, TutorialStage
from quintain.services.pay import earnings as pay
from quintain.services.pay.pay_notices import notify_after_work
from quintain.services.trial.courses import course_of
from quintain.store.queries.pay.earnings import paid_works, session_times
from quintain.store.queries.trial import trials as queries
from quintain.store.tables import CrowdArm, CrowdTrial, TaskRow

ENOUGH_GRADES = 20  # after which measured times say more than the protocol
TUTORIAL = "tutorial"  # what is finished at a tutorial, as a unit of work
LONGEST = 80  # what the name of a piece of work may have


def amounts_due(course: Course, only: Collection[str] | None = None, *, over: bool = False) -> list[AmountDue]:
    """List what a trial itself owes, to all or to some *only*: everything but sessions, which their rounds pay."""
    writing = {stage.name for stage in course.protocol.stages if stage.writing is not None}
    return [one for one in due(course, only, over=over) if one.stage not in writing]


def work_of(arm_id: int, amount: AmountDue) -> str:
    """Name the piece of work that an amount is for; a name that would be too long is shortened without mixing any up.

    >>> work_of(3, AmountDue("tutorial/7/t", "7", "tutorial", 350, "work"))
    'trial:3:tutorial/7/t'
    """
    name = f"trial:{arm_id}:{amount.key}"
    if len(name) <= LONGEST:
        return name
    return f"trial:{arm_id}:{amount.stage}/{hashlib.sha256(amount.key.encode()).hexdigest()[:20]}"


def pay_amounts_due(
    db: Session,
    trial: CrowdTrial,
    arm: CrowdArm,
    course: Course,
    only: Collection[str] | None = None,
    *,
    before: Collection[str] | None = None,
) -> int:
    """Add what is due to all, or to some *only*, and was not added yet, in a transaction; give how many were new.

    *before* names what was due when this transaction began, and has been added: then nothing needs to be looked up.
    """
    amounts = amounts_due(course, only, over=trial.state == "closed")
    owed = [amount for amount in amounts if amount.person.isdecimal() and amount.key not in (before or ())]
    return add_due(db, trial, arm, course, owed, check_paid=before is None)


def add_due(
    db: Session, trial: CrowdTrial, arm: CrowdArm, course: Course, owed: Sequence[AmountDue], *, check_paid: bool = True
) -> int:
    """Add amounts that are owed, and see whether a cap is reached; give how many were new.

    *check_paid* asks first which of them were added before: who knows that none was need not.
    """
    amounts_by_work = {work_of(arm.id, one): one for one in owed}
    missing = amounts_by_work.keys() - (paid_works(db, [*amounts_by_work]) if check_paid else set())
    new = [
        one
        for work, one in amounts_by_work.items()
        if work in missing
        and pay.earn(
            db,
            int(one.person),
            trial.task_id,
            kind="bonus" if one.what == "bonus" else "base",
            work=work,
            money=Money(one.amount, course.protocol.currency),
            what=f"{trial.title or trial.name}: {one.what}",
        )
    ]
    if new:
        _watch(db, trial, arm, course, {one.stage for one in new})
    return len(new)


def _watch(db: Session, trial: CrowdTrial, arm: CrowdArm, course: Course, stages: Collection[str]) -> None:
    """Tell the owners where what was just added reached a cap, or a tutorial or grading pays less than was promised."""
    task = db.get_one(TaskRow, trial.task_id).name
    for name in sorted(stages):
        stage = course.protocol.stage(name)
        stage_ref = f"{task}/{trial.name} {name}"
        notify_after_work(db, trial.task_id, task, stage_ref, partial(_wage, db, arm, course, stage), trial=trial.id)


def _wage(db: Session, arm: CrowdArm, course: Course, stage: Stage) -> tuple[Money, bool]:
    """Return what an hour of a stage pays, and whether that was measured: at most tutorials and gradings are."""
    nothing = Money(0, course.protocol.currency), False
    if stage.grading is not None:
        return grading_wage(course, stage.name) or nothing
    return tutorial_wage(db, arm, course, stage) if stage.tutorial is not None else nothing


def tutorial_wage(db: Session, arm: CrowdArm, course: Course, stage: Stage) -> tuple[Money, bool]:
    """Return what an hour of a tutorial pays: by the times of its quizzes and of its sessions, or by the estimate."""
    rule = tutorial_of(stage)
    steps, seconds, measured = steps_of(rule), 0.0, True
    if steps > 1:
        times = queries.quiz_times(db, arm.id, steps)
        spent, known = pay.pace(times, 0.0, pay.ENOUGH_TIMES)
        # From the first answer to the last is one step less than there are.
        seconds, measured = seconds + spent * steps / (steps - 1), measured and known
    if rule.contexts:
        stage_round = queries.rounds(db, arm.id).get(stage.name)
        times = session_times(db, stage_round[0]) if stage_round else []
        spent, known = pay.pace(times, 0.0, pay.ENOUGH_TIMES)
        seconds, measured = seconds + spent * rule.contexts, measured and known
    minutes = seconds / 60 if measured and seconds else rule.minutes
    return pay.hourly(Money(rule.pay, course.protocol.currency), minutes), measured and seconds > 0


def pay_unfinished(db: Session, trial: CrowdTrial, arm: CrowdArm, only: Collection[str] | None = None) -> int:
    """Pay people who are at a tutorial the share of it that they have done; give how many were paid.

    For those who will not finish it: they leave, or it ends, in the same transaction. A share has the name of the
    whole, so that nobody is paid for both.
    """
    number = 0
    with course_of(db, trial, arm) as course:
        for stage in course.protocol.stages:
            people = [one for one in course.at(stage.name) if one.isdecimal() and (only is None or one in only)]
            if stage.tutorial is not None and stage.tutorial.pay and people:
                owed = _shares(db, arm, stage, people)
                number += add_due(db, trial, arm, course, owed)
    return number


def _shares(db: Session, arm: CrowdArm, stage: Stage, people: Sequence[str]) -> list[AmountDue]:
    """Return what people have done of a tutorial: each answer and each text is a part of it."""
    rule, ids = tutorial_of(stage), [int(person) for person in people]
    answered, stage_round = queries.answer_counts(db, arm.id, ids), queries.rounds(db, arm.id).get(stage.name)
    written = queries.written_counts(db, stage_round[0], ids) if stage_round else {}
    whole = steps_of(rule) + rule.written
    shares = []
    for user_id in ids:
        done = min(answered.get(user_id, 0), steps_of(rule)) + min(written.get(user_id, 0), rule.written)
        amount = -(-rule.pay * done // whole)  # rounded up, as for a session of writing
        shares.append(AmountDue(f"{stage.name}/{user_id}/{TUTORIAL}", str(user_id), stage.name, amount, "work"))
    return [share for share in shares if share.amount]


def steps_of(tutorial: TutorialStage) -> int:
    """Count the steps of a tutorial's quizzes."""
    return sum(len(quiz.pairs) for quiz in tutorial.quizzes)


def tutorial_of(stage: Stage) -> TutorialStage:
    """Return what a tutorial asks; another stage is a mistake of the caller."""
    if stage.tutorial is None:
        raise ValueError(f"{stage.name} is no tutorial")
    return stage.tutorial


def grading_wage(course: Course, name: str) -> tuple[Money, bool] | None:
    """Return what an hour of grading pays promoted graders, and whether that was measured; None without pay."""
    rule = grading.rule_of(course.protocol.stage(name))
    graders = course.arm.graders.get(name, {})
    if not rule.pay or not graders:
        return None
    spent = [course.arm.seconds.get(name, {}).get(one, 0.0) / count for one, count in graders.items()]
    measured = sum(graders.values()) >= ENOUGH_GRADES and min(spent) > 0
    minutes = median(spent) / 60 if measured else rule.minutes
    return pay.hourly(Money(rule.pay, course.protocol.currency), minutes), measured
