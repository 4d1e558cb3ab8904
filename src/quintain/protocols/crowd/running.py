"""One simulated arm, taken through its protocol by the same state machine that real people go through."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from quintain.protocols import grading
from quintain.protocols.crowd.grades import draw_answers
from quintain.protocols.crowd.people import CrowdModel, CrowdPeople, WrittenItems, model_right, write_items
from quintain.protocols.due import due
from quintain.protocols.engine import INSTANT, Course
from quintain.protocols.events import closed, entered, finished, graded, left
from quintain.protocols.paths import in_order
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import END, Stage, WritingStage
from quintain.stats.bootstrap import FloatArray, IntArray

EXPERTS = tuple(f"expert-{number}" for number in (1, 2, 3, 4, 5))
EXPERT_HOURS_A_DAY = 5.0
TUTORIAL_LEARNING = 0.5  # of what a letter teaches


@dataclass(slots=True)
class ArmRun:
    """An arm under simulation; in the end *items* are its data, *minutes* and *days* what it took."""

    protocol: Protocol
    crowd: CrowdPeople
    model: CrowdModel
    rng: np.random.Generator
    course: Course
    skill: FloatArray
    minutes: dict[str, float] = field(default_factory=dict)
    expert_minutes: float = 0.0
    expert_cost: float = 0.0
    days: float = 0.0
    came: dict[str, int] = field(default_factory=dict)
    hard: dict[str, tuple[float, bool]] = field(default_factory=dict)
    final: WrittenItems | None = None
    names: list[str] = field(default_factory=list)

    @property
    def paid(self) -> dict[str, int]:
        """What was paid at each stage."""
        amounts: dict[str, int] = {}
        for earning in due(self.course):
            amounts[earning.stage] = amounts.get(earning.stage, 0) + earning.amount
        return amounts


def run_arm(protocol: Protocol, crowd: CrowdPeople, model: CrowdModel, seed: int) -> ArmRun:
    """Take a crowd through a protocol."""
    run = ArmRun(protocol, crowd, model, np.random.default_rng(seed), Course(protocol, seed), crowd.skill.copy())
    for number in range(len(crowd)):
        run.course.apply(entered(f"w{number:06d}"))
    for stage in in_order(protocol.stages):
        if stage.kind in INSTANT:
            continue
        here = _stay(run, stage)
        run.came[stage.name] = len(here)
        if stage.tutorial is not None:
            _tutorial(run, stage, here)
        elif stage.writing is not None:
            _writing(run, stage, stage.writing, here)
        elif stage.grading is not None:
            _grading(run, stage)
        elif stage.feedback is not None:
            _learn(run, here, _share_taught(run, stage.feedback.by))
        run.course.apply(closed(stage.name, force=True))
    return run


def _stay(run: ArmRun, stage: Stage) -> IntArray:
    """Let some leave who come to work; give the others."""
    here = np.array([int(name[1:]) for name in run.course.at(stage.name)], dtype=np.int64)
    if stage.work is None:
        return here
    goes = run.rng.random(len(here)) < run.model.leaving
    for number in here[goes].tolist():
        run.course.apply(left(f"w{number:06d}"))
    return here[~goes]


def _tutorial(run: ArmRun, stage: Stage, here: IntArray) -> None:
    rule = stage.tutorial
    if rule is None:
        return
    _learn(run, here, TUTORIAL_LEARNING)
    count = rule.written
    items = write_items(run.crowd, np.repeat(here, count), run.skill, run.model, run.rng)
    for position, number in enumerate(here.tolist()):
        names = tuple(f"{stage.name}-{number}-{each}" for each in range(count))
        _note(run, names, items, position * count)
        run.course.apply(finished(f"w{number:06d}", stage.name, "tutorial", names))
    _spend(run, stage, here, rule.minutes)


def _writing(run: ArmRun, stage: Stage, rule: WritingStage, here: IntArray) -> None:
    """Let people write session by session, those with more drive more, until enough is written."""
    sessions = _sessions(run, rule, here)
    if rule.target:
        items, sizes = _fooling(run, sessions, rule)
    else:
        items = write_items(run.crowd, np.repeat(sessions, rule.items), run.skill, run.model, run.rng)
        sizes = np.full(len(sessions), rule.items)
    start, units = 0, dict.fromkeys(here.tolist(), 0)
    written: list[str] = []
    for number, size in zip(sessions.tolist(), sizes.tolist(), strict=True):
        name = f"w{number:06d}"
        names = tuple(f"{stage.name}-{number}-{units[number]}-{each}" for each in range(size))
        _note(run, names, items, start)
        run.course.apply(finished(name, stage.name, str(units[number]), names))
        units[number] += 1
        start += size
        written += names
    if rule.final:
        run.final, run.names = items, written
    _spend(run, stage, sessions, rule.minutes)


def _sessions(run: ArmRun, rule: WritingStage, here: IntArray) -> IntArray:
    """Return who does each session, in the order in which they are done."""
    if not rule.final:
        done = np.where(run.rng.random(len(here)) < 0.9, rule.sessions, rule.least)
    else:
        share = run.crowd.drive[here] / max(run.crowd.drive[here].sum(), 1e-9)
        needed = -(-rule.wanted // rule.items) if rule.wanted else len(here) * rule.sessions
        done = np.minimum(rule.sessions, np.ceil(share * needed * 1.3)).astype(np.int64)
    sessions = run.rng.permutation(np.repeat(here, done))
    return sessions[: -(-rule.wanted // rule.items)] if rule.wanted else sessions


def _fooling(run: ArmRun, sessions: IntArray, rule: WritingStage) -> tuple[WrittenItems, IntArray]:
    """Let each session try until the model is fooled, and keep what fooled it."""
    tries = np.repeat(sessions, rule.attempts)
    items = write_items(run.crowd, tries, run.skill, run.model, run.rng)
    fooled = ~model_right(items, run.model, run.rng).reshape(len(sessions), rule.attempts)
    first = fooled.argmax(axis=1)
    has_fooled = fooled.any(axis=1)
    rows = (np.arange(len(sessions)) * rule.attempts + first)[has_fooled]
    return WrittenItems(items.writer[rows], items.hard[rows], items.flawed[rows]), np.asarray(
        has_fooled, dtype=np.int64
    )


def _grading(run: ArmRun, stage: Stage) -> None:
    """Grade the sample: experts in turn, or promoted workers, each item by as many as are wanted."""
    rule = grading.rule_of(stage)
    sample = run.course.sample(stage)
    names = sorted(sample.names)
    experts = rule.by == "experts"
    graders = list(EXPERTS[: max(3, rule.grades)]) if experts else _promoted(run, stage)
    if not names or not graders:
        return
    noise = run.model.expert_noise if experts else run.model.crowd_noise
    hard = np.array([run.hard[name][0] for name in names])
    flawed = np.array([run.hard[name][1] for name in names], dtype=np.float64)
    for turn in range(min(rule.grades, len(graders))):
        answers = draw_answers(run.protocol.questions, hard, flawed, noise, run.rng)
        for position, name in enumerate(names):
            item = run.course.arm.items[name]
            grader = graders[(position + turn) % len(graders)]
            if grader in item.grades or grader == item.writer:
                free = [grader for grader in graders if grader not in item.grades and grader != item.writer]
                if not free:
                    continue
                grader = free[position % len(free)]
            run.course.apply(graded(grader, stage.name, name, answers[position]))
    checks = 0 if experts else _hidden_checks(run, stage, graders)
    spent = rule.minutes * (rule.grades * len(names) + checks)
    run.days += spent / 60 / (len(graders) * (EXPERT_HOURS_A_DAY if experts else run.model.hours_a_day))
    if experts:
        run.expert_minutes += spent
        run.expert_cost += spent / 60 * rule.hourly
    else:
        run.minutes[stage.name] = spent


def _hidden_checks(run: ArmRun, stage: Stage, graders: list[str]) -> int:
    """Let promoted graders grade what they are checked with, too; the draws have a source of their own."""
    rng = np.random.default_rng([run.course.seed, len(run.came)])
    done = 0
    for grader in graders:
        while (hidden := run.course.hidden(stage, grader)) is not None:
            hard, flawed = run.hard[hidden]
            (answers,) = draw_answers(
                run.protocol.questions, np.array([hard]), np.array([float(flawed)]), run.model.crowd_noise, rng
            )
            run.course.apply(graded(grader, stage.name, hidden, answers))
            done += 1
    return done


def _promoted(run: ArmRun, stage: Stage) -> list[str]:
    return [person for person in run.course.arm.people if grading.may_grade(run.course.arm, stage, person)]


def _share_taught(run: ArmRun, by: str) -> float:
    rule = grading.rule_of(run.protocol.stage(by))
    return 1.0 if rule.by == "experts" else run.model.crowd_feedback


def _learn(run: ArmRun, here: IntArray, share: float) -> None:
    run.skill[here] += share * run.crowd.learns[here]


def _note(run: ArmRun, names: tuple[str, ...], items: WrittenItems, start: int) -> None:
    for row, name in enumerate(names, start):
        run.hard[name] = (float(items.hard[row]), bool(items.flawed[row]))


def _spend(run: ArmRun, stage: Stage, sessions: IntArray, minutes: float) -> None:
    """Count the time that *sessions* took; the stage lasts as long as all but the slowest twentieth need."""
    if not len(sessions):
        return
    spent = np.bincount(sessions, minlength=len(run.crowd)) * run.crowd.speed * minutes
    run.minutes[stage.name] = float(spent.sum())
    run.days += float(np.quantile(spent[spent > 0], 0.95)) / 60 / run.model.hours_a_day


def finalists(run: ArmRun) -> int:
    """Count the people who wrote data."""
    name = run.protocol.final.name
    return sum(person.done(name) > 0 for person in run.course.arm.people.values() if person.at == END)
