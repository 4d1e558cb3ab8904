"""What finished steps of a trial earn: the one seam between a course and whatever pays.

Sessions in rounds are paid where they end, by the round's own reward; here is what a trial adds to that: tutorials,
bonuses on the way, grades. Each amount has a name of its own, so that adding all of them again adds nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from sqlalchemy.orm import Session

from quintain.core.rounds import Money
from quintain.protocols.due import AmountDue, due
from quintain.protocols.engine import Course
from quintain.services.pay import earnings as pay
from quintain.store.queries.pay.earnings import paid_works
from quintain.store.tables import CrowdArm, CrowdTrial

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
    return name if len(name) <= LONGEST else f"trial:{arm_id}:{hashlib.sha256(amount.key.encode()).hexdigest()[:40]}"


def settle(db: Session, trial: CrowdTrial, arm: CrowdArm, course: Course, only: Collection[str] | None = None) -> int:
    """Add what is due to all, or to some *only*, and was not added yet, in a transaction; give how many were new."""
    wanted = {work_of(arm.id, one): one for one in amounts_due(course, only) if one.person.isdecimal()}
    missing = wanted.keys() - paid_works(db, [*wanted])
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
