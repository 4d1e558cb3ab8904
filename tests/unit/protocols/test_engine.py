"""An arm under way: no dead ends, the same again from its record, everybody paid once, the impossible refused."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.protocols.due import AmountDue, due
from quintain.protocols.engine import Course, replay
from quintain.protocols.events import Event, back, closed, entered, finished, gone, graded, left, readmitted, stopped
from quintain.protocols.feedback import decision_in_words, figures_in_words, letter_of
from quintain.protocols.reading import parse_protocol, shipped
from quintain.protocols.spec import Protocol
from quintain.protocols.stages import END
from tests.properties import examples
from tests.unit.protocols.courses import answers, chance, run, small

SEEDS = st.integers(0, 2**32)
FAIR = {"answerable": "yes", "reading": "whole", "creative": "fairly", "distractors": "yes"}

TWO_ROUNDS = """
name = "rounds"
[[stages]]
name = "first"
writing = {items = 2, sessions = 2, pay = 100}
[[stages]]
name = "last"
writing = {items = 1, final = true}
"""


@settings(max_examples=examples(15), deadline=None)
@given(SEEDS, st.integers(1, 8))
def test_there_are_no_dead_ends(seed: int, people: int) -> None:
    """Whatever people do and whoever leaves, there is always a next step until everybody is through."""
    course = Course(small(), seed)
    happened = run(course, people, chance(seed))
    assert course.over, f"after {len(happened)} events: {Counter(one.at for one in course.arm.people.values())}"
    assert {one.at for one in course.arm.people.values()} == {END}


@settings(max_examples=examples(10), deadline=None)
@given(SEEDS, st.integers(1, 6))
def test_the_record_gives_the_same_again(seed: int, people: int) -> None:
    """Events kept as JSON lead to the same state, decisions and amounts; at every point, not only in the end."""
    course = Course(small(), seed)
    happened = run(course, people, chance(seed))
    kept = [Event.of(json.loads(json.dumps(one.as_dict()))) for one in happened]
    assert replay(small(), kept, seed).arm == course.arm
    half = len(kept) // 2
    later = replay(small(), kept[:half], seed)
    for event in kept[half:]:
        later.apply(event)
    assert later.arm == course.arm
    assert [*due(later)] == [*due(course)]


@settings(max_examples=examples(10), deadline=None)
@given(SEEDS, st.integers(1, 6))
def test_everybody_is_paid_once_under_crashes(seed: int, people: int) -> None:
    """A payer that dies between any two steps, and starts again from the record, pays each thing once and all of it."""
    happened = run(Course(small(), seed), people, chance(seed))
    wanted = paid_under_crashes(small(), happened, seed)
    sessions = Counter(one.stage for one in happened if one.kind == "finished")
    assert sum(one.amount for one in wanted if one.stage == "tutorial") == 350 * sessions["tutorial"]


@pytest.mark.parametrize("name", sorted(shipped()))
@settings(max_examples=examples(3), deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_the_shipped_protocols_have_no_dead_ends_and_pay_everybody_once(name: str, seed: int, people: int) -> None:
    """BASELINE, JUSTIFICATION, CROWD, EXPERT and FOOLING: all get through, the same again, and all is paid once."""
    protocol = shipped()[name]
    course = Course(protocol, seed)
    happened = run(course, people, chance(seed))
    assert course.over
    assert replay(protocol, happened, seed).arm == course.arm
    wanted = paid_under_crashes(protocol, happened, seed, dying=0.05)
    pays = {one.name: one.writing.pay for one in protocol.stages if one.writing is not None}
    for stage, pay in pays.items():
        sessions = sum(one.kind == "finished" and one.stage == stage for one in happened)
        assert sum(one.amount for one in wanted if one.stage == stage) == pay * sessions


def paid_under_crashes(protocol: Protocol, happened: list[Event], seed: int, dying: float = 0.3) -> list[AmountDue]:
    """Pay while things happen and the payer dies now and then; give what was due, which is what was paid."""
    rng = chance(seed)
    paid: dict[str, int] = {}  # what the ledger holds: it survives
    calls = 0
    course = Course(protocol, seed)
    for place, event in enumerate(happened):
        course.apply(event)
        if rng.random() < dying:  # dies before it pays, and begins anew
            course = replay(protocol, happened[: place + 1], seed)
            continue
        for one in due(course):
            if one.key not in paid:
                paid[one.key] = one.amount
                calls += 1
                if rng.random() < 0.05:  # dies between two payments
                    break
    for one in due(replay(protocol, happened, seed)):
        if one.key not in paid:
            paid[one.key] = one.amount
            calls += 1
    wanted = [*due(course)]
    assert len({one.key for one in wanted}) == len(wanted) == calls
    assert paid == {one.key: one.amount for one in wanted}
    return wanted


def start(people: int = 3) -> Course:
    """Let people hand in the tutorial."""
    course = Course(small(), 1)
    for number in range(people):
        course.apply(entered(f"w{number}"))
        course.apply(finished(f"w{number}", "tutorial", "t", (f"a{number}", f"b{number}")))
    course.apply(closed("tutorial"))
    return course


def test_what_cannot_be_is_refused_and_changes_nothing() -> None:
    """Strangers, repeated work, wrong numbers of items, closing out of turn, grades that are none."""
    course = start()
    before = repr(course.arm)
    refused: list[tuple[type[Exception], Event]] = [
        (Conflict, entered("w0")),
        (NotFound, left("nobody")),
        (Conflict, finished("w0", "final", "x", ("i", "j"))),
        (Conflict, finished("w0", "tutorial", "t", ("i", "j"))),
        (Conflict, closed("qualify-0")),
        (Conflict, closed("bonus-0")),
        (NotFound, closed("nowhere")),
        (Conflict, closed("grades-0")),
        (Conflict, graded("expert-1", "grades-1", "a0", FAIR)),
        (BadInput, graded("expert-1", "grades-0", "a0", {"answerable": "perhaps"})),
        (Forbidden, graded("w1", "grades-0", _one_of(course, "w0"), FAIR)),
        (Forbidden, graded("w0", "grades-0", _one_of(course, "w0"), FAIR)),
        (Conflict, graded("expert-1", "grades-0", "never written", FAIR)),
    ]
    for error, event in refused:
        with pytest.raises(error):
            course.apply(event)
        assert repr(course.arm) == before, event


def _one_of(course: Course, person: str) -> str:
    return course.sample(course.protocol.stage("grades-0")).of(person)[0]


def test_a_session_has_as_many_items_as_are_asked_for() -> None:
    """Fewer or more are refused, and so is an item under a name that is taken."""
    course = Course(small(), 1)
    course.apply(entered("w0"))
    course.apply(entered("w1"))
    for items in ((), ("a",), ("a", "b", "c"), ("a", "a")):
        with pytest.raises((BadInput, Conflict)):
            course.apply(finished("w0", "tutorial", "t", items))
    course.apply(finished("w0", "tutorial", "t", ("a", "b")))
    with pytest.raises(Conflict, match="twice"):
        course.apply(finished("w1", "tutorial", "t", ("c", "a")))


def test_a_session_that_was_ended_early_is_one_of_those_that_somebody_may_do() -> None:
    """It takes a place and its items count; who has done enough besides goes on, and who has not has left."""
    protocol = parse_protocol(TWO_ROUNDS)
    course = Course(protocol, 1)
    for name in ("w0", "w1"):
        course.apply(entered(name))
        course.apply(stopped(name, "first", "s1", (f"{name}-a",)))
        assert (course.room(name), course.sessions_left(name)) == (1, 1)
    for event in (finished("w0", "first", "s1", ("x", "y")), stopped("w0", "first", "s2", ("x", "y", "z"))):
        with pytest.raises((BadInput, Conflict)):
            course.apply(event)
    course.apply(finished("w0", "first", "s2", ("w0-b", "w0-c")))
    course.apply(stopped("w1", "first", "s2"))
    assert [(course.person(one).at, course.person(one).left) for one in ("w0", "w1")] == [("last", False), (END, True)]
    assert course.arm.written == {"first": 4}
    assert {one.name for one in course.arm.items.values()} == {"w0-a", "w1-a", "w0-b", "w0-c"}
    tutorial = Course(small(), 1)
    tutorial.apply(entered("w0"))
    with pytest.raises(Conflict, match="ends early"):
        tutorial.apply(stopped("w0", "tutorial", "t", ("a",)))


def test_what_is_gone_is_graded_by_nobody_and_makes_room() -> None:
    """An item without a grade is replaced by another of its writer; a graded one keeps its grades; it can come back."""
    course = start(2)
    stage = course.protocol.stage("grades-0")
    mine, other = _one_of(course, "w0"), _one_of(course, "w1")
    course.apply(gone(mine))
    second = _one_of(course, "w0")
    assert {mine, second} == {"a0", "b0"}
    assert mine not in course.waiting(stage, "expert-1")
    for refused in (gone(mine), back(second), gone("never written")):
        with pytest.raises((Conflict, NotFound)):
            course.apply(refused)
    with pytest.raises(Conflict, match="not among the items"):
        course.apply(graded("expert-1", "grades-0", mine, FAIR))
    course.apply(graded("expert-1", "grades-0", second, FAIR))
    course.apply(back(mine))
    assert _one_of(course, "w0") == second  # nobody has graded for nothing
    course.apply(gone(second))
    assert course.hindrances("grades-0") == ["2 grades are missing"]  # those of the other person's item
    for expert in ("expert-1", "expert-2"):
        course.apply(graded(expert, "grades-0", other, FAIR))
    course.apply(closed("grades-0"))
    course.apply(closed("qualify-0"))
    assert course.arm.decisions["qualify-0"]["w0"].score is not None
    letter = letter_of(course, course.protocol.stage("qualify-0"), "w0")
    assert (letter.items, letter.best, letter.unclear) == (1, [], [])


def test_nobody_gets_past_by_taking_everything_back() -> None:
    """Who has nothing left to grade is turned away, and can be let back in; who was merely not graded goes on."""
    course = start(3)
    for name in ("a0", "b0"):
        course.apply(gone(name))
    course.apply(closed("grades-0", force=True))
    course.apply(closed("qualify-0"))
    assert {name: one.reason for name, one in course.arm.decisions["qualify-0"].items()} == {
        "w0": "gone",
        "w1": "ungraded",
        "w2": "ungraded",
    }
    assert course.person("w0").at == END
    course.apply(readmitted("w0", "qualify-0"))
    assert course.person("w0").at == "round-1"


def test_nobody_enters_once_a_stage_is_closed() -> None:
    """Who comes later was not graded with the others, so the way in is shut."""
    course = start()
    with pytest.raises(Conflict, match="tutorial is closed"):
        course.apply(entered("late"))


def test_the_best_go_on_and_the_unanswerable_do_not() -> None:
    """Of three, the two with answerable items go on to the bonus and the next round; the third is through."""
    course = start()
    for number, said in enumerate(("yes", "yes", "no")):
        for expert in ("expert-1", "expert-2"):
            grade = FAIR | {"answerable": said}
            course.apply(graded(expert, "grades-0", _one_of(course, f"w{number}"), grade))
    course.apply(closed("grades-0"))
    course.apply(closed("qualify-0"))
    decisions = course.arm.decisions["qualify-0"]
    assert {name: one.reason for name, one in decisions.items()} == {
        "w0": "qualified",
        "w1": "qualified",
        "w2": "unanswerable",
    }
    assert [course.person(name).at for name in ("w0", "w1", "w2")] == ["round-1", "round-1", END]
    assert {one.person for one in due(course) if one.stage == "bonus-0"} == {"w0", "w1"}


def test_a_letter_tells_grades_decision_and_what_comes() -> None:
    """The letter has own figures beside the round's, the best and the worst item, and the bonus on the way."""
    protocol = shipped()["expert"]
    course = Course(protocol, 3)
    rng = chance(3)
    for number in range(4):
        course.apply(entered(f"w{number}"))
        course.apply(finished(f"w{number}", "tutorial", "t", tuple(f"t{number}-{place}" for place in range(4))))
    course.apply(closed("tutorial"))
    grade_all(course, "grades-0", rng)
    for stage in ("grades-0", "qualify-0"):
        course.apply(closed(stage))
    for name in course.at("round-1"):
        for unit in range(3):
            course.apply(finished(name, "round-1", f"{unit}", tuple(f"{name}-{unit}-{place}" for place in range(2))))
    course.apply(closed("round-1"))
    grade_all(course, "grades-1", rng)
    for stage in ("grades-1", "qualify-1"):
        course.apply(closed(stage))
    person = course.at("feedback-1")[0]
    letter = letter_of(course, protocol.stage("feedback-1"), person)
    assert letter.items == 4
    assert letter.next == "round-2"
    assert letter.bonus == 500
    assert letter.best != letter.worst
    assert letter.passed
    lines = [*figures_in_words(letter), *decision_in_words(letter, protocol, "5.00 USD")]
    assert lines[0] == "12 grades of 4 items of yours count here."
    assert "“Is the question answerable and unambiguous?” Of the grades of your items: “Yes” 100%" in lines[1]
    assert (
        "on a scale from 0 (“Wouldn’t need to read it”) to 1 (“May need to read the passage more than once”)"
        in lines[2]
    )
    assert lines[-2:] == [
        "You get a bonus of 5.00 USD.",
        "What comes next: you write again, 2 items in each of up to 3 sessions.",
    ]
    assert "round-2" not in " ".join(lines)


def grade_all(course: Course, stage: str, rng: random.Random) -> None:
    """Let three experts grade all that is to be graded, each item alike, so that something is answerable."""
    for item in sorted(course.sample(course.protocol.stage(stage)).names):
        for expert in ("expert-1", "expert-2", "expert-3"):
            course.apply(graded(expert, stage, item, answers(course, rng) | {"answerable": "yes"}))
