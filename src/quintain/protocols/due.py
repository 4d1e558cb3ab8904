"""What people of an arm have earned: one amount for each thing done, under a name of its own.

Amounts follow from the state, and once there they stay: whoever pays keeps the names of what was paid, pays the others,
and so pays everything once, whatever was interrupted between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from quintain.protocols.engine import Course
from quintain.protocols.stages import GradingStage, Stage


@dataclass(frozen=True, slots=True)
class AmountDue:
    """An amount in minor units for something that a *person* did at a *stage*; *key* is its name in the arm."""

    key: str
    person: str
    stage: str
    amount: int
    what: str


def due(course: Course, only: Collection[str] | None = None, *, over: bool = False) -> Iterator[AmountDue]:
    """Return everything that has been earned so far, by everybody or by some *only*.

    Where the trial is *over*, no stage will be closed any more: what is due then is due now.
    """
    people = [person for person in course.arm.people.values() if only is None or person.name in only]
    for stage in course.protocol.stages:
        if stage.work is not None and stage.work.pay:
            for person in people:
                for unit in person.units.get(stage.name, ()):
                    yield _due(stage.name, person.name, unit, stage.work.pay, "work")
        if stage.bonus is not None and stage.bonus.amount:
            for person in people:
                if stage.name in person.been:
                    yield _due(stage.name, person.name, "bonus", stage.bonus.amount, "bonus")
        if stage.grading is not None:
            graders = [grader for grader in course.arm.graders.get(stage.name, {}) if only is None or grader in only]
            yield from _grades(course, stage, stage.grading, graders, ended=over or stage.name in course.arm.closed)


def _grades(
    course: Course, stage: Stage, rule: GradingStage, graders: Sequence[str], *, ended: bool
) -> Iterator[AmountDue]:
    """Pay promoted graders for each grade and, when the stage has *ended*, for having graded in it."""
    if not graders:
        return
    if rule.pay:
        sample = sorted(course.sample(stage).names)
        for grader in graders:
            own = [name for name in sample if grader in course.arm.items[name].grades]
            hidden = course.arm.probes.get(stage.name, {}).get(grader, {})
            for name in (*own, *hidden, *course.arm.late.get(stage.name, {}).get(grader, ())):
                yield _due(stage.name, grader, name, rule.pay, "grade")
    if rule.bonus and ended:
        for grader in graders:
            yield _due(stage.name, grader, "bonus", rule.bonus, "bonus")


def _due(stage: str, person: str, unit: str, amount: int, what: str) -> AmountDue:
    return AmountDue(f"{stage}/{person}/{unit}", person, stage, amount, what)
