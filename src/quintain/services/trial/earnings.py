"""What finished steps of a trial earn: the one seam between a course and whatever pays.

Sessions in rounds are paid where they end, by the round's own reward; here is what a trial adds to that: tutorials,
bonuses on the way, grades. Each amount has a name of its own, so that adding all of them again adds nothing.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.rounds import Money
from quintain.protocols.due import AmountDue, due
from quintain.protocols.engine import Course
from quintain.services.pay import earnings as pay
from quintain.store.tables import CrowdArm, CrowdTrial


def amounts_due(course: Course) -> list[AmountDue]:
    """List what a trial itself owes: everything but sessions, which their rounds pay."""
    writing = {one.name for one in course.protocol.stages if one.writing is not None}
    return [one for one in due(course) if one.stage not in writing]


def settle(db: Session, trial: CrowdTrial, arm: CrowdArm, course: Course) -> int:
    """Add what is due and was not added yet, inside a transaction; give how many amounts are new."""
    new = 0
    for one in amounts_due(course):
        if one.person.isdecimal():
            new += pay.earn(
                db,
                int(one.person),
                trial.task_id,
                kind="bonus" if one.what == "bonus" else "base",
                work=f"trial:{arm.id}:{one.key}",
                money=Money(one.amount, course.protocol.currency),
                what=f"{trial.title or trial.name}: {one.what}",
            )
    return new
