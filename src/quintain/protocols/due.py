"""What people of an arm have earned: one amount for each thing done, under a name of its own.

Amounts follow from the state, and once there they stay: whoever pays keeps the names of what was paid, pays the others,
and so pays everything once, whatever was interrupted between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quintain.protocols.engine import Course


@dataclass(frozen=True, slots=True)
class AmountDue:
    """An amount in minor units for something that a *person* did at a *stage*; *key* is its name in the arm."""

    key: str
    person: str
    stage: str
    amount: int
    what: str


def due(course: Course) -> Iterator[AmountDue]:
    """Give everything that has been earned so far."""
    for stage in course.protocol.stages:
        if stage.work is not None and stage.work.pay:
            for person in course.arm.people.values():
                for unit in person.units.get(stage.name, ()):
                    yield _due(stage.name, person.name, unit, stage.work.pay, "work")
        if stage.bonus is not None and stage.bonus.amount:
            for person in course.arm.people.values():
                if stage.name in person.been:
                    yield _due(stage.name, person.name, "bonus", stage.bonus.amount, "bonus")
        if stage.grading is not None:
            yield from _grades(course, stage.name, stage.grading.pay, stage.grading.bonus)


def _grades(course: Course, stage: str, pay: int, bonus: int) -> Iterator[AmountDue]:
    """Pay promoted graders for each grade and, when the stage is closed, for having graded in it."""
    people = course.arm.graders.get(stage, {})
    if pay:
        for item in course.arm.items.values():
            for grader in item.grades:
                if grader in people and item.name in course.sample(course.protocol.stage(stage)).names:
                    yield _due(stage, grader, item.name, pay, "grade")
    if bonus and stage in course.arm.closed:
        for grader in people:
            yield _due(stage, grader, "bonus", bonus, "bonus")


def _due(stage: str, person: str, unit: str, amount: int, what: str) -> AmountDue:
    return AmountDue(f"{stage}/{person}/{unit}", person, stage, amount, what)
