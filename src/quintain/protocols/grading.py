"""Who grades what: a seeded sample of each person's items, each graded so often, and never by its writer.

Where promoted workers grade, one of every few items that each of them gets is one that experts have graded before. It
looks like any other, is paid like any other, and decides nothing: it says how far to trust the grader.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from quintain.core.errors import Conflict, Forbidden
from quintain.protocols.events import Event, EventKind
from quintain.protocols.ranking import lot
from quintain.protocols.rubric import Answers
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
        if item.stage == rule.of and stage.name in arm.people[item.writer].been and not _is_lost(arm, item.name):
            written.setdefault(item.writer, []).append(item.name)
    chosen = {
        writer: tuple(
            sorted(names, key=lambda name: lot(seed, stage.name, name))[: rule.least] if rule.least else sorted(names)
        )
        for writer, names in written.items()
    }
    return _sample(chosen)


def redraw(arm: Arm, stage: Stage, before: Sample, writer: str, seed: int) -> Sample:
    """Draw for one writer again, an item of whom is gone or back: what has no grade and is gone makes room for others.

    What is graded stays, so that nobody has graded for nothing.
    """
    if stage.name not in arm.people[writer].been:
        return before
    rule = rule_of(stage)
    remaining = [name for name in before.of(writer) if not _is_lost(arm, name)]
    others = [
        item.name
        for item in arm.items.values()
        if (item.writer, item.stage) == (writer, rule.of) and item.name not in remaining and item.name not in arm.gone
    ]
    remaining += sorted(others, key=lambda name: lot(seed, stage.name, name))
    chosen = tuple(remaining[: rule.least] if rule.least else sorted(remaining))
    return _sample({**before.by_writer, writer: chosen})


def _sample(chosen: Mapping[str, tuple[str, ...]]) -> Sample:
    return Sample(chosen, frozenset(name for names in chosen.values() for name in names))


def _is_lost(arm: Arm, name: str) -> bool:
    """Whether an item went before anybody graded it."""
    return name in arm.gone and not arm.items[name].grades and not arm.items[name].checks


def rule_of(stage: Stage) -> GradingStage:
    """Return what a grading asks."""
    if stage.grading is None:
        raise ValueError(f"{stage.name} is no grading")
    return stage.grading


def may_grade(arm: Arm, stage: Stage, person: str) -> bool:
    """Whether somebody of the arm grades here: promoted, and not gone before."""
    participant = arm.people.get(person)
    return rule_of(stage).by == "promoted" and participant is not None and participant.promoted and not participant.left


def take(arm: Arm, stage: Stage, sample: Sample, event: Event, checks: Sequence[str] = ()) -> None:
    """Take in a grade.

    Who is not of the arm is an expert. Where promoted workers grade, an expert's grades are what theirs are checked
    against, and decide nothing; so are grades of *checks*, which are hidden among a promoted worker's items.
    """
    item = arm.items.get(event.unit)
    check = item is not None and item.name in checks and _is_new(arm, item, event.person)
    late = event.kind is EventKind.GRADED_LATE
    lost = item is not None and late and item.name in arm.gone  # it went while somebody had it before them
    if item is None or (item.name not in sample.names and not check and not lost):
        raise Conflict("{item} is not among the items that are graded at {stage}.", item=event.unit, stage=stage.name)
    if item.writer == event.person:
        raise Forbidden("Nobody grades what they wrote themselves.")
    insider = event.person in arm.people
    if insider and not may_grade(arm, stage, event.person):
        raise Forbidden("{name} has not been promoted to a grader.", name=event.person)
    if late:
        if grade_of(arm, stage, item.name, event.person) is not None or item.name in _late(arm, stage, event.person):
            raise Conflict("{name} has graded {item} already.", name=event.person, item=item.name)
        arm.late.setdefault(stage.name, {}).setdefault(event.person, []).append(item.name)
    elif check:
        arm.probes.setdefault(stage.name, {}).setdefault(event.person, {})[item.name] = dict(event.answers)
    else:
        grades = _grades_with(arm, stage, item, event.person)
        if event.person in grades:
            raise Conflict("{name} has graded {item} already.", name=event.person, item=item.name)
        if len(grades) >= rule_of(stage).grades:
            raise Conflict("{item} has all the grades that it takes.", item=item.name, code="graded_enough")
        grades[event.person] = dict(event.answers)
    if insider:
        counts = arm.graders.setdefault(stage.name, {})
        counts[event.person] = counts.get(event.person, 0) + 1
    spent = arm.seconds.setdefault(stage.name, {})
    spent[event.person] = spent.get(event.person, 0.0) + event.seconds


def change(arm: Arm, stage: Stage, event: Event) -> None:
    """Put other answers in the place of those that somebody gave before."""
    previous = grade_of(arm, stage, event.unit, event.person)
    if previous is None:
        raise Conflict("{name} has not graded {item}.", name=event.person, item=event.unit)
    if event.unit in arm.probes.get(stage.name, {}).get(event.person, {}):
        arm.probes[stage.name][event.person][event.unit] = dict(event.answers)
    else:
        _grades_with(arm, stage, arm.items[event.unit], event.person)[event.person] = dict(event.answers)


def grade_of(arm: Arm, stage: Stage, item: str, person: str) -> Answers | None:
    """Return the grade that somebody gave an item at a stage, if they did."""
    hidden = arm.probes.get(stage.name, {}).get(person, {}).get(item)
    stored = arm.items.get(item)
    if hidden is not None or stored is None:
        return hidden
    return _grades_with(arm, stage, stored, person).get(person)


def is_known_to(arm: Arm, stage: Stage, item: str, people: Collection[str]) -> bool:
    """Whether one of *people* wrote an item or has graded it at a stage, in time or not."""
    if arm.items[item].writer in people:
        return True
    return any(grade_of(arm, stage, item, person) is not None or item in _late(arm, stage, person) for person in people)


def missing(arm: Arm, stage: Stage, sample: Sample) -> int:
    """Count the grades that are still to come; an item cannot have more than there are people who may grade it."""
    rule = rule_of(stage)
    promoted = {person for person in arm.people if may_grade(arm, stage, person)} if rule.by == "promoted" else set()
    present = [arm.items[name] for name in sample.names if name not in arm.gone]
    waited_for = [one for one in present if not arm.people[one.writer].left]
    return sum(max(0, _grades_needed(rule, item, promoted) - len(item.grades)) for item in waited_for)


def to_grade(arm: Arm, stage: Stage, sample: Sample, person: str, seed: int = 0) -> list[str]:
    """Name what somebody can grade, that with the fewest grades first."""
    if person in arm.people and not may_grade(arm, stage, person):
        return []
    candidates, late = [], _late(arm, stage, person)
    for name in sample.names - arm.gone:
        item = arm.items[name]
        grades = _grades_with(arm, stage, item, person)
        if item.writer != person and person not in grades and name not in late and len(grades) < rule_of(stage).grades:
            candidates.append((len(grades), lot(seed, stage.name, person, name), name))
    return [name for _, _, name in sorted(candidates)]


def count_given(arm: Arm, stage: Stage, sample: Sample, person: str) -> int:
    """Count the grades that somebody gave at a stage, hidden checks among them."""
    aside = len(arm.probes.get(stage.name, {}).get(person, {})) + len(_late(arm, stage, person))
    return aside + sum(person in _grades_with(arm, stage, arm.items[name], person) for name in sample.names)


def room(arm: Arm, stage: Stage, sample: Sample, item: str, person: str) -> int:
    """Return how many more grades of somebody's kind an item can take; a hidden check takes theirs."""
    if item not in sample.names:
        return 1
    return rule_of(stage).grades - len(_grades_with(arm, stage, arm.items[item], person))


def check_is_due(arm: Arm, stage: Stage, person: str, seed: int) -> bool:
    """Whether somebody's next item is to be a hidden check: one in each block, at a position drawn by lot."""
    every = rule_of(stage).checks
    if not every or not may_grade(arm, stage, person):
        return False
    block, position = divmod(arm.graders.get(stage.name, {}).get(person, 0), every)
    drawn = int.from_bytes(lot(seed, stage.name, person, f"check {block}")[:4], "big") % every
    return position >= drawn and len(arm.probes.get(stage.name, {}).get(person, {})) <= block


def hidden_check(arm: Arm, checks: Sequence[str], stage: Stage, person: str, seed: int) -> str | None:
    """Name the next of *checks* that is new to somebody; each begins at another place, drawn by lot."""
    start = int.from_bytes(lot(seed, stage.name, person)[:4], "big") % max(1, len(checks))
    for name in (*checks[start:], *checks[:start]):
        if _is_new(arm, arm.items[name], person):
            return name
    return None


def _is_new(arm: Arm, item: Item, person: str) -> bool:
    """Whether somebody has neither written nor graded an item."""
    seen = any(item.name in each.get(person, {}) for each in arm.probes.values())
    return not seen and item.writer != person and person not in item.grades


def _late(arm: Arm, stage: Stage, person: str) -> list[str]:
    return arm.late.get(stage.name, {}).get(person, [])


def _grades_with(arm: Arm, stage: Stage, item: Item, person: str) -> dict[str, Answers]:
    """Return the grades of an item among which somebody's belong."""
    return item.grades if person in arm.people or rule_of(stage).by == "experts" else item.checks


def _grades_needed(rule: GradingStage, item: Item, promoted: set[str]) -> int:
    if rule.by == "experts":
        return rule.grades
    return min(rule.grades, len((promoted | item.grades.keys()) - {item.writer}))
