"""One arm under way: a state that follows from the events of its record, and from nothing else.

    course = Course(protocol, seed=7)
    course.apply(entered("ann"))

People work at tutorials and writings and then wait; the owner closes stages in their order, and those who wait go on.
An event that cannot be is refused with the reason and changes nothing. `replay` gives the same course from the same
events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from quintain.core.errors import BadInput, Conflict, NotFound
from quintain.core.texts import Text, joined
from quintain.protocols import grading
from quintain.protocols.events import Event, EventKind
from quintain.protocols.paths import leads_to
from quintain.protocols.ranking import GradeStanding, grade_standing, lot, promote, qualify
from quintain.protocols.rubric import faults_in
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import END, Stage
from quintain.protocols.state import Arm, Item, Participant

INSTANT = frozenset({"entry", "bonus"})  # nobody waits there
NO_WORK = frozenset({"promotion", "feedback"})  # one can go on without

What = Literal["work", "wait", "end"]


@dataclass(frozen=True, slots=True)
class Todo:
    """What somebody can do now: work at a stage, wait there, or nothing more; and whether they may grade."""

    what: What
    stage: str
    left: int = 0
    grading: tuple[str, ...] = ()


@dataclass(slots=True)
class Course:
    """A protocol under way; *seed* draws samples and decides between those who are level."""

    protocol: Protocol
    seed: int = 0
    arm: Arm = field(default_factory=Arm)
    _stages: dict[str, Stage] = field(default_factory=dict)
    _next: dict[str, str] = field(default_factory=dict)
    _options: dict[str, frozenset[str]] = field(default_factory=dict)
    _upstream: dict[str, list[str]] = field(default_factory=dict)
    _samples: dict[str, grading.Sample] = field(default_factory=dict)
    _experts: dict[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._stages = {stage.name: stage for stage in self.protocol.stages}
        self._next = {stage.name: self.protocol.follows(stage) for stage in self.protocol.stages}
        self._options = {
            question.name: frozenset(each.name for each in question.options) for question in self.protocol.questions
        }
        self._upstream = {stage.name: leads_to(self.protocol.stages, stage.name) for stage in self.protocol.stages}

    def apply(self, event: Event) -> None:
        """Take in what happened, or refuse it."""
        match event.kind:
            case EventKind.ENTERED:
                self._enter(event.person)
            case EventKind.FINISHED:
                self._finish(event)
            case EventKind.STOPPED:
                self._stop(event)
            case EventKind.GRADED | EventKind.GRADED_LATE | EventKind.REGRADED:
                self._grade(event)
            case EventKind.CLOSED:
                self._close(event.stage, event.force)
            case EventKind.LEFT:
                self._leave(event.person)
            case EventKind.READMITTED:
                self._readmit(event)
            case EventKind.GONE | EventKind.BACK:
                self._move(event.unit, gone=event.kind is EventKind.GONE)

    def todo(self, name: str) -> Todo:
        """Return what somebody can do now."""
        person = self.person(name)
        may_grade = tuple(one.name for one in self.gradings() if grading.may_grade(self.arm, one, name))
        if person.at == END:
            return Todo("end", END, grading=may_grade)
        stage = self._stages[person.at]
        room = self.room(name) if stage.work is not None else 0
        return Todo("work" if room else "wait", stage.name, room, may_grade)

    def room(self, name: str) -> int:
        """Return how many sessions somebody may still begin at the stage where they are."""
        person = self.person(name)
        stage = self._stages[person.at] if person.at != END else None
        if stage is None or stage.work is None:
            return 0
        if stage.tutorial is not None:
            return 1 - person.done(stage.name)
        rule = stage.writing
        if rule is None or (rule.wanted and self.arm.written.get(stage.name, 0) >= rule.wanted):
            return 0
        return rule.sessions - person.used(stage.name)

    def sessions_left(self, name: str) -> int:
        """Return how many sessions somebody can still hand in at their stage; one begun in time counts."""
        person = self.person(name)
        most = _most(self._stages[person.at]) if person.at != END else None
        return 0 if most is None else most - person.used(person.at)

    def gradings(self) -> Iterator[Stage]:
        """Return the gradings that are going on: what they grade was all handed in."""
        yield from (stage for stage in self.protocol.stages if self._is_grading(stage))

    def sample(self, stage: Stage) -> grading.Sample:
        """Return the items that a grading is about; it is fixed once everybody has come to it."""
        if stage.name not in self._samples:
            self._samples[stage.name] = grading.draw(self.arm, stage, self.seed)
        return self._samples[stage.name]

    def waiting(self, stage: Stage, person: str) -> list[str]:
        """Name what somebody can grade at a stage, in the order in which they get it; now and then a hidden check."""
        names = grading.to_grade(self.arm, stage, self.sample(stage), person, self.seed)
        hidden = self.hidden(stage, person) if names else None
        return names if hidden is None else [hidden, *names]

    def hidden(self, stage: Stage, person: str) -> str | None:
        """Name the item with which somebody's grades are to be checked now, if one is: experts have graded it."""
        if not grading.check_is_due(self.arm, stage, person, self.seed):
            return None
        return grading.hidden_check(self.arm, self._checks(stage), stage, person, self.seed)

    def hindrances(self, name: str) -> list[Text]:
        """Return why a stage cannot be closed yet; nothing where it can."""
        if name in self.arm.closed:
            return [Text("it is closed already")]
        reasons = []
        behind = self._behind(name)
        if behind:
            reasons.append(Text("close {stages} first", stages=", ".join(behind)))
        stage = self._stages[name]
        if stage.kind in INSTANT:
            reasons.append(Text("nobody waits there"))
        if stage.grading is not None and not behind:
            missing = grading.missing(self.arm, stage, self.sample(stage))
            if missing:
                reasons.append(
                    Text.plural("{n} grade is missing", "{n} grades are missing", n=missing),
                )
        return reasons

    def hindrances_before(self, name: str) -> list[str]:
        """Name the stages before this one that are not closed."""
        return self._behind(name)

    def person(self, name: str) -> Participant:
        """Return somebody of the arm; NotFound where there is nobody of that *name*."""
        participant = self.arm.people.get(name)
        if participant is None:
            raise NotFound("{name} is not in this arm.", name=name)
        return participant

    def standings(self, by: str, people: Iterable[str]) -> list[GradeStanding]:
        """Return how the items of *people* did in a grading."""
        stage = self._stages[by]
        sample = self.sample(stage)
        rubric, stands = self.protocol.questions, {*self._writers(stage)}
        return [
            grade_standing(
                rubric, person, (self.arm.items[name] for name in sample.of(person)), emptied=person not in stands
            )
            for person in people
        ]

    def _writers(self, grades: Stage) -> Iterator[str]:
        """Name those of whom a grading has something left, or never had anything."""
        of = grading.rule_of(grades).of
        wrote = {item.writer for item in self.arm.items.values() if item.stage == of}
        yield from self.arm.people.keys() - wrote
        yield from (
            item.writer for item in self.arm.items.values() if item.stage == of and item.name not in self.arm.gone
        )

    def at(self, stage: str) -> list[str]:
        """Name the people who are at a stage."""
        return [person.name for person in self.arm.people.values() if person.at == stage]

    @property
    def over(self) -> bool:
        """Whether nobody of the arm has anything to do or to wait for."""
        return not any(self.arm.here.values())

    def _checks(self, stage: Stage) -> tuple[str, ...]:
        """Name the items that experts have graded before a stage, in an order that is drawn by lot."""
        key = (stage.name, len(self.arm.closed))
        if key not in self._experts:
            settled = {
                stage.grading.of
                for stage in self.protocol.stages
                if stage.grading is not None and stage.grading.by == "experts" and stage.name in self.arm.closed
            }
            names = [item.name for item in self.arm.items.values() if item.stage in settled and item.grades]
            self._experts[key] = tuple(sorted(names, key=lambda name: lot(self.seed, stage.name, name)))
        return tuple(expert for expert in self._experts[key] if expert not in self.arm.gone)

    def _is_grading(self, stage: Stage) -> bool:
        return stage.grading is not None and stage.name not in self.arm.closed and not self._behind(stage.name)

    def _behind(self, name: str) -> list[str]:
        """Name the stages that come first and are not closed: somebody may still be there, or come in."""
        return [
            one for one in self._upstream[name] if one not in self.arm.closed and self._stages[one].kind not in INSTANT
        ]

    def _enter(self, name: str) -> None:
        if name in self.arm.people:
            raise Conflict("{name} is in this arm already.", name=name)
        if self.arm.closed:
            raise Conflict("Nobody can enter the arm any more: {stage} is closed.", stage=next(iter(self.arm.closed)))
        person = Participant(name, END)
        self.arm.people[name] = person
        self._arrive(person, self.protocol.stages[0].name)

    def _finish(self, event: Event) -> None:
        person, stage = self._hand_in(event)
        _check_items(stage, event.items, self.arm)
        person.units.setdefault(stage.name, []).append(event.unit)
        self._take_items(person, stage, event.items)

    def _stop(self, event: Event) -> None:
        """Take in a session that was ended early: it counts as one that was done, but not towards going on."""
        person, stage = self._hand_in(event)
        if stage.writing is None:
            raise Conflict("No session ends early at {stage}.", stage=stage.name)
        _check_items(stage, event.items, self.arm, part=True)
        person.stopped.setdefault(stage.name, []).append(event.unit)
        self._take_items(person, stage, event.items)

    def _hand_in(self, event: Event) -> tuple[Participant, Stage]:
        """Return who hands something in at which stage; refuse it where they cannot."""
        person = self.person(event.person)
        if person.at != event.stage:
            raise Conflict("{name} is at {at}, not at {stage}.", name=person.name, at=person.at, stage=event.stage)
        stage = self._stages[event.stage]
        most = _most(stage)
        if most is None:
            raise Conflict("Nothing is handed in at {stage}.", stage=stage.name)
        if event.unit in (*person.units.get(stage.name, ()), *person.stopped.get(stage.name, ())):
            raise Conflict("{unit} was handed in already.", unit=event.unit)
        if person.used(stage.name) >= most:
            raise Conflict("{name} has done all that {stage} takes.", name=person.name, stage=stage.name)
        return person, stage

    def _take_items(self, person: Participant, stage: Stage, items: tuple[str, ...]) -> None:
        """Keep what was written; who has no session left goes on, if they did enough."""
        for name in items:
            self.arm.items[name] = Item(name, person.name, stage.name)
        self.arm.written[stage.name] = self.arm.written.get(stage.name, 0) + len(items)
        if person.used(stage.name) >= (_most(stage) or 0):
            self._close_work(stage, [person])

    def _grade(self, event: Event) -> None:
        stage = self._stages.get(event.stage)
        was = stage is not None and stage.grading is not None and stage.name in self.arm.closed
        late = was and event.kind is EventKind.GRADED_LATE  # begun before the stage was closed: paid, and not counted
        if stage is None or not (late or self._is_grading(stage)):
            raise Conflict("Nothing is graded at {stage} now.", stage=event.stage)
        answers = event.answers
        if answers.keys() != self._options.keys() or any(
            answers[name] not in one for name, one in self._options.items()
        ):
            raise BadInput(faults=faults_in(self.protocol.questions, answers))
        if event.kind is EventKind.REGRADED:
            grading.change(self.arm, stage, event)
        else:
            due = grading.check_is_due(self.arm, stage, event.person, self.seed)
            grading.take(self.arm, stage, self.sample(stage), event, self._checks(stage) if due else ())

    def _close(self, name: str, force: bool) -> None:
        stage = self._stages.get(name)
        if stage is None:
            raise NotFound("There is no stage '{name}'.", name=name)
        reasons = self.hindrances(name)
        if force and not self._behind(name) and name not in self.arm.closed and stage.kind not in INSTANT:
            reasons = []
        if reasons:
            raise Conflict("{stage} cannot be closed: {reasons}.", stage=name, reasons=joined(reasons, "; "))
        here = [self.arm.people[one] for one in self.at(name)]
        if stage.grading is not None:
            self.sample(stage)
        self.arm.closed[name] = force
        if stage.work is not None:
            self._close_work(stage, here)
        elif stage.qualification is not None or stage.promotion is not None:
            self._decide(stage, here)
        else:
            for person in here:
                self._arrive(person, self._next[stage.name])

    def _close_work(self, stage: Stage, here: list[Participant]) -> None:
        """Let those go on who did enough; the others have left."""
        least = stage.writing.least if stage.writing is not None else 1
        for person in here:
            enough = person.done(stage.name) >= least
            person.left = not enough
            self._arrive(person, self._next[stage.name] if enough else END)

    def _decide(self, stage: Stage, here: list[Participant]) -> None:
        names = [one.name for one in here]
        if stage.qualification is not None:
            rule = stage.qualification
            decisions = qualify(stage.name, rule, self.standings(rule.by, names), self.seed)
            for person in here:
                passed = decisions[person.name].passed
                self._arrive(person, self._next[stage.name] if passed else rule.otherwise)
        elif stage.promotion is not None:
            decisions = promote(stage.name, stage.promotion, self.standings(stage.promotion.by, names), self.seed)
            for person in here:
                person.promoted = person.promoted or (person.name in decisions and decisions[person.name].passed)
                self._arrive(person, self._next[stage.name])
        self.arm.decisions[stage.name] = decisions

    def _leave(self, name: str) -> None:
        person = self.person(name)
        if person.at == END:
            raise Conflict("{name} is through already.", name=name)
        person.left = True
        self._arrive(person, END)

    def _readmit(self, event: Event) -> None:
        """Let somebody go on whom a qualification turned away, past what was closed meanwhile and takes no work."""
        person, stage = self.person(event.person), event.stage
        decision = self.arm.decisions.get(stage, {}).get(person.name)
        if decision is None or decision.passed or self._stages[stage].qualification is None:
            raise Conflict("{name} was not turned away at {stage}.", name=person.name, stage=stage)
        if person.left:
            raise Conflict("{name} has left.", name=person.name)
        passed, name = self._past(self._next[stage])
        if name in self.arm.closed:
            raise Conflict(
                "{name} cannot go on any more: {stage} is closed.",
                name=person.name,
                stage=name,
                remedy="What they did is paid; they can take part in another trial.",
            )
        changed = replace(decision, passed=True, reason="readmitted")
        self.arm.decisions[stage] = {**self.arm.decisions[stage], person.name: changed}
        person.been += [one for one in passed if one not in person.been]
        self._arrive(person, name)

    def _move(self, name: str, *, gone: bool) -> None:
        """Take an item out of what is graded, or back into it; what a grading that is over has graded stays."""
        item = self.arm.items.get(name)
        if item is None:
            raise NotFound("There is no item '{name}'.", name=name)
        if (name in self.arm.gone) == gone:
            raise Conflict("{name} is gone already." if gone else "{name} is not gone.", name=name)
        going_on = [one for one in self.gradings() if grading.rule_of(one).of == item.stage]
        before = {one.name: self.sample(one) for one in going_on}
        self.arm.gone ^= {name}
        for stage in going_on:
            self._samples[stage.name] = grading.redraw(self.arm, stage, before[stage.name], item.writer, self.seed)

    def _past(self, name: str) -> tuple[list[str], str]:
        """Name the stages from one on that somebody passes who comes late, and the first at which they stay."""
        passed = []
        while name != END:
            kind = self._stages[name].kind
            if kind not in INSTANT and not (kind in NO_WORK and name in self.arm.closed):
                break
            passed.append(name)
            name = self._next[name]
        return passed, name

    def _arrive(self, person: Participant, name: str) -> None:
        """Put somebody at a stage, and on past those where nobody waits."""
        while name != END:
            stage = self._stages[name]
            person.been.append(name)
            if stage.kind not in INSTANT:
                break
            name = self._next[stage.name]
        for stop, change in ((person.at, -1), (name, 1)):
            if stop != END:
                self.arm.here[stop] = self.arm.here.get(stop, 0) + change
        person.at = name


def replay(protocol: Protocol, events: Iterable[Event], seed: int = 0) -> Course:
    """Return the course that *events* lead to."""
    course = Course(protocol, seed)
    for event in events:
        course.apply(event)
    return course


def _most(stage: Stage) -> int | None:
    if stage.tutorial is not None:
        return 1
    return stage.writing.sessions if stage.writing is not None else None


def _check_items(stage: Stage, items: tuple[str, ...], arm: Arm, *, part: bool = False) -> None:
    expected = stage.tutorial.written if stage.tutorial is not None else stage.writing.items if stage.writing else 0
    at_most = part or (stage.writing is not None and stage.writing.target)  # not every session fools the model
    if len(items) > expected or (len(items) < expected and not at_most):
        raise BadInput(
            "{stage} takes {wanted} items at once, and {count} were given.",
            stage=stage.name,
            wanted=expected,
            count=len(items),
        )
    again = [name for name in items if name in arm.items]
    if again or len(set(items)) < len(items):
        raise Conflict("An item was handed in twice: {names}.", names=", ".join(again or items))
