"""Who grades what: a seeded sample of each person's items, each graded so often, and never by its writer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quintain.core.errors import Conflict, Forbidden
from quintain.protocols.events import Event
from quintain.protocols.ranking import lot
from quintain.protocols.stages import GradingStage, Stage
from quintain.protocols.state import Arm, Item


@dataclass(frozen=True, slots=True)
class Sample:
    """The items that a grading is about, by writer."""

    by_writer: Mapping[str, tuple[str, ...]]
    names: frozenset[str]

    def of(self, person: str) -> tuple[str, ...]:
        """Name the items of one person."""
        return self.by_writer.get(person, ())


def draw(arm: Arm, stage: Stage, seed: int) -> Sample:
    """Draw what is graded: so many items of each person who came to the stage, by lot."""
    rule = rule_of(stage)
    written: dict[str, list[str]] = {}
    for item in arm.items.values():
        if item.stage == rule.of and stage.name in arm.people[item.writer].been:
            written.setdefault(item.writer, []).append(item.name)
    chosen = {
        writer: tuple(
            sorted(names, key=lambda one: lot(seed, stage.name, one))[: rule.least] if rule.least else sorted(names)
        )
        for writer, names in written.items()
    }
    return Sample(chosen, frozenset(name for names in chosen.values() for name in names))


def rule_of(stage: Stage) -> GradingStage:
    """Give what a grading asks."""
    if stage.grading is None:
        raise ValueError(f"{stage.name} is no grading")
    return stage.grading


def may_grade(arm: Arm, stage: Stage, person: str) -> bool:
    """Say whether somebody of the arm grades here: promoted, and not gone before."""
    found = arm.people.get(person)
    return rule_of(stage).by == "promoted" and found is not None and found.promoted and not found.left


def take(arm: Arm, stage: Stage, sample: Sample, event: Event) -> None:
    """Take in a grade.

    Who is not of the arm is an expert. Where promoted workers grade, an expert's grades are what theirs are checked
    against, and decide nothing.
    """
    item = arm.items.get(event.unit)
    if item is None or item.name not in sample.names:
        raise Conflict("{item} is not among the items that are graded at {stage}.", item=event.unit, stage=stage.name)
    if item.writer == event.person:
        raise Forbidden("Nobody grades what they wrote themselves.")
    insider = event.person in arm.people
    if insider and not may_grade(arm, stage, event.person):
        raise Forbidden("{name} has not been promoted to a grader.", name=event.person)
    kept = item.grades if insider or rule_of(stage).by == "experts" else item.checks
    if event.person in kept:
        raise Conflict("{name} has graded {item} already.", name=event.person, item=item.name)
    kept[event.person] = dict(event.answers)
    if insider:
        counts = arm.graders.setdefault(stage.name, {})
        counts[event.person] = counts.get(event.person, 0) + 1


def missing(arm: Arm, stage: Stage, sample: Sample) -> int:
    """Count the grades that are still to come; an item cannot have more than there are people who may grade it."""
    rule = rule_of(stage)
    promoted = {one for one in arm.people if may_grade(arm, stage, one)} if rule.by == "promoted" else set()
    waited_for = [arm.items[name] for name in sample.names if not arm.people[arm.items[name].writer].left]
    return sum(max(0, _wanted(rule, item, promoted) - len(item.grades)) for item in waited_for)


def to_grade(arm: Arm, stage: Stage, sample: Sample, person: str, seed: int = 0) -> list[str]:
    """Name what somebody can grade, that with the fewest grades first."""
    rule = rule_of(stage)
    outside = person not in arm.people
    if not outside and not may_grade(arm, stage, person):
        return []
    check = outside and rule.by == "promoted"
    found = []
    for name in sample.names:
        item = arm.items[name]
        kept = item.checks if check else item.grades
        if item.writer != person and person not in kept and len(kept) < rule.grades:
            found.append((len(kept), lot(seed, stage.name, person, name), name))
    return [name for _, _, name in sorted(found)]


def _wanted(rule: GradingStage, item: Item, promoted: set[str]) -> int:
    if rule.by == "experts":
        return rule.grades
    return min(rule.grades, len((promoted | item.grades.keys()) - {item.writer}))
