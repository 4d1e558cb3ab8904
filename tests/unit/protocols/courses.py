"""Arms that anything can happen in: every step that somebody could take next."""

from __future__ import annotations

import random
from collections.abc import Iterator

from quintain.protocols.engine import INSTANT, Course
from quintain.protocols.events import Event, back, closed, entered, finished, gone, graded, left, readmitted, stopped
from quintain.protocols.reading import parse_protocol
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import END

CROWD = """
name = "small"
workers = 12
[[stages]]
name = "tutorial"
tutorial = {contexts = 1, items = 2, pay = 350}
[[stages]]
name = "grades-0"
grading = {of = "tutorial", grades = 2, least = 1}
[[stages]]
name = "qualify-0"
qualification = {by = "grades-0", top = 0.8, answerable = 0.5}
[[stages]]
name = "bonus-0"
bonus = {amount = 150}
[[stages]]
name = "round-1"
writing = {items = 2, sessions = 2, pay = 350}
[[stages]]
name = "grades-1"
grading = {of = "round-1", grades = 2, least = 2}
[[stages]]
name = "promote"
promotion = {by = "grades-1", top = 0.5}
[[stages]]
name = "round-2"
writing = {items = 1, sessions = 1, pay = 175}
[[stages]]
name = "grades-2"
grading = {of = "round-2", by = "promoted", grades = 2, least = 0, pay = 50, bonus = 500, checks = 2}
[[stages]]
name = "qualify-2"
qualification = {by = "grades-2", at_least = 1.0, otherwise = "consolation"}
[[stages]]
name = "feedback"
feedback = {by = "grades-2"}
[[stages]]
name = "final"
next = "end"
writing = {items = 2, sessions = 3, wanted = 20, final = true, pay = 350}
[[stages]]
name = "consolation"
bonus = {amount = 50}
"""
EXPERTS = ("expert-1", "expert-2", "expert-3")


def chance(seed: int) -> random.Random:
    """Make what draws at random."""
    return random.Random(seed)  # noqa: S311 - nothing secret


def small() -> Protocol:
    """Give a protocol with every kind of stage but an entry, for a dozen people."""
    return parse_protocol(CROWD)


def answers(course: Course, rng: random.Random) -> dict[str, str]:
    """Grade at random."""
    return {one.name: rng.choice(one.options).name for one in course.protocol.questions}


def _work(course: Course, rng: random.Random) -> Iterator[Event]:
    """Give what people could hand in next: a whole session, or now and then a part of one."""
    for person in course.arm.people.values():
        todo = course.todo(person.name)
        if todo.what == "work":
            stage = course.protocol.stage(todo.stage)
            count = stage.tutorial.written if stage.tutorial else stage.writing.items if stage.writing else 0
            unit = f"{person.name}-{person.used(stage.name)}"
            items = tuple(f"{stage.name}-{unit}-{place}" for place in range(count))
            if stage.writing is not None and rng.random() < 0.1:
                yield stopped(person.name, stage.name, unit, items[1:])
            yield finished(person.name, stage.name, unit, items)


def possible(course: Course, rng: random.Random) -> Iterator[Event]:
    """Give what could happen next, but for people entering or leaving: work, grades, and stages that can be closed."""
    yield from _work(course, rng)
    for stage in course.gradings():
        graders = EXPERTS if stage.grading and stage.grading.by == "experts" else [*course.arm.people]
        for grader in graders:
            for item in course.waiting(stage, grader)[:1]:
                yield graded(grader, stage.name, item, answers(course, rng))
    if course.arm.items and rng.random() < 0.03:
        name = rng.choice(sorted(course.arm.items))
        yield back(name) if name in course.arm.gone else gone(name)
    for stage in course.protocol.stages:
        if stage.kind not in INSTANT and not course.hindrances(stage.name):
            yield closed(stage.name)
    for name, decisions in course.arm.decisions.items():
        for person, decision in decisions.items():
            if (
                not decision.passed
                and course.protocol.stage(name).qualification
                and can_come_back(course, name, person)
            ):
                yield readmitted(person, name)


def can_come_back(course: Course, stage: str, person: str) -> bool:
    """Say whether somebody who was turned away can be let back in: their next work is not over."""
    name = course.protocol.follows(course.protocol.stage(stage))
    while name != END and course.protocol.stage(name).kind in {"bonus", "promotion", "feedback"}:
        if course.protocol.stage(name).kind != "bonus" and name not in course.arm.closed:
            break
        name = course.protocol.follows(course.protocol.stage(name))
    return name not in course.arm.closed and not course.person(person).left


def run(course: Course, people: int, rng: random.Random, leaving: float = 0.02, most: int = 3000) -> list[Event]:
    """Let people enter, work, grade and leave at random until nobody has anything left to do; give what happened."""
    happened: list[Event] = []

    def apply(event: Event) -> None:
        course.apply(event)
        happened.append(event)

    for number in range(people):
        apply(entered(f"w{number}"))
    while not course.over and len(happened) < most:
        there = [one.name for one in course.arm.people.values() if one.at != END]
        if there and rng.random() < leaving:
            apply(left(rng.choice(there)))
            continue
        events = [*possible(course, rng)]
        work = [one for one in events if one.kind != "closed"]
        # An owner is in no hurry, and yet does not wait for everybody.
        apply(rng.choice(work if work and rng.random() < 0.95 else events))
    return happened
