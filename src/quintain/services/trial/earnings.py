"""What finished steps of a trial earn: the one seam between a course and whatever pays.

Sessions in rounds are paid where they end, by the round's own reward; here is what a trial adds to that: tutorials,
bonuses on the way, grades. Each amount has a name of its own, so that adding all of them again adds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from statistics import median

from sqlalchemy.orm import Session

from quintain.core.rounds import Money
from quintain.protocols import grading
from quintain.protocols.due import AmountDue, due
from quintain.protocols.engine import Course
from quintain.services.pay import earnings as pay
from quintain.store.queries.pay.earnings import paid_works
from quintain.store.tables import CrowdArm, CrowdTrial

ENOUGH_GRADES = 20  # after which measured times say more than the protocol
LONGEST = 80  # what the name of a piece of work may have


def amounts_due(course: Course, only: Collection[str] | None = None) -> list[AmountDue]:
    """List what a trial itself owes, to all or to some *only*: everything but sessions, which their rounds pay."""
    writing = {one.name for one in course.protocol.stages if one.writing is not None}
    return [one for one in due(course, only) if one.stage not in writing]


def work_of(arm_id: int, amount: AmountDue) -> str:
    """Name the piece of work that an amount is for; a name that would be too long is shortened without mixing any up.

    >>> work_of(3, AmountDue("tutorial/7/t", "7", "tutorial", 350, "work"))
    'trial:3:tutorial/7/t'
    """
    name = f"trial:{arm_id}:{amount.key}"
    if len(name) <= LONGEST:
        return name
    return f"trial:{arm_id}:{amount.stage}/{hashlib.sha256(amount.key.encode()).hexdigest()[:20]}"


def settle(
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
    owed = [one for one in amounts_due(course, only) if one.person.isdecimal() and one.key not in (before or ())]
    wanted = {work_of(arm.id, one): one for one in owed}
    missing = wanted.keys() - (paid_works(db, [*wanted]) if before is None else set())
    return sum(
        pay.earn(
            db,
            int(one.person),
            trial.task_id,
            kind="bonus" if one.what == "bonus" else "base",
            work=work,
            money=Money(one.amount, course.protocol.currency),
            what=f"{trial.title or trial.name}: {one.what}",
        )
        for work, one in wanted.items()
        if work in missing
    )


def grading_wage(course: Course, name: str) -> tuple[Money, bool] | None:
    """Say what an hour of grading at a stage pays promoted graders, and whether that was measured; None without pay."""
    rule = grading.rule_of(course.protocol.stage(name))
    graders = course.arm.graders.get(name, {})
    if not rule.pay or not graders:
        return None
    spent = [course.arm.seconds.get(name, {}).get(one, 0.0) / count for one, count in graders.items()]
    measured = sum(graders.values()) >= ENOUGH_GRADES and min(spent) > 0
    minutes = median(spent) / 60 if measured else rule.minutes
    return pay.hourly(Money(rule.pay, course.protocol.currency), minutes), measured
