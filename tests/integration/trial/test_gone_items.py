"""What was taken back or withheld is given to no grader, holds up no stage, and is quoted in no letter."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor, RoleName
from quintain.services.collect.writing.list_attempts import flag_queue, report
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.letters import letters
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.rubric import grade, graded_before, next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import get_trial, open_trial, put_trial
from quintain.services.validate.judging.retraction import decide_flag, retract
from quintain.store.blobs import Blobs
from quintain.store.tables import Attempt
from tests.collecting import TASK, writers
from tests.integration.trial.life import WHERE, grade_all, write
from tests.people import make_person

ARM = """
name = "graded"
workers = 4
[[stages]]
name = "first"
writing = {items = 2, sessions = 1, pay = 100}
[[stages]]
name = "grades"
grading = {of = "first", grades = 1, least = 0}
[[stages]]
name = "qualify"
qualification = {by = "grades", top = 1.0}
[[stages]]
name = "feedback"
feedback = {by = "grades"}
[[stages]]
name = "last"
writing = {items = 1, final = true, pay = 100}
"""
FAIR = {"answerable": "yes", "reading": "whole", "creative": "little", "distractors": "yes"}
pytestmark = pytest.mark.both_databases


@pytest.fixture
def people(db: Session, blobs: Blobs, owner: Actor) -> list[Actor]:
    """Two people who have written two items each, which wait for grades."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [ARM])
    open_trial(db, blobs, owner, *WHERE)
    found = writers(db, 2)
    for one in found:
        enter(db, one, *WHERE)
        write(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "first")
    return found


def _items(db: Session, actor: Actor) -> list[Attempt]:
    return [*db.scalars(select(Attempt).where(Attempt.user_id == actor.user_id).order_by(Attempt.id))]


def _missing(db: Session, owner: Actor) -> int:
    return next(one.grades_missing for one in get_trial(db, owner, *WHERE).arms[0].stages if one.name == "grades")


def test_what_is_gone_is_neither_graded_nor_quoted(
    db: Session, blobs: Blobs, owner: Actor, people: list[Actor]
) -> None:
    """One item is taken back and one withheld: the expert gets the others, and letters quote those alone."""
    (first, second), (third, fourth) = (_items(db, one) for one in people)
    expert = make_person(db, "eva", RoleName.EXPERT)
    assert _missing(db, owner) == 4
    retract(db, people[0], first.id, "A slip.")
    report(db, expert, third.id, "It names somebody.")
    flag = flag_queue(db, owner, "mood/1").flags[0]
    decide_flag(db, owner, flag.id, withhold=True)
    assert _missing(db, owner) == 2
    assert grade_all(db, expert) == 2
    close_stage(db, owner, *WHERE, "graded", "grades")
    close_stage(db, owner, *WHERE, "graded", "qualify")
    retract(db, people[1], fourth.id)  # after it was graded: its grade stands, its text is read by nobody
    told = "\n".join(one.text for one in letters(db, owner, *WHERE, "graded", "feedback"))
    assert str(second.inputs["text"]) in told
    for one in (first, third, fourth):
        assert str(one.inputs["text"]) not in told
    close_stage(db, owner, *WHERE, "graded", "feedback")
    sent = "\n".join(letter.text for one in people for letter in trial_part(db, one, *WHERE).letters)
    assert str(second.inputs["text"]) in sent
    assert str(fourth.inputs["text"]) not in sent


def test_what_is_let_stand_again_is_graded(db: Session, owner: Actor, people: list[Actor]) -> None:
    """An owner who withheld an item and changes their mind has it graded with the others."""
    expert = make_person(db, "eva", RoleName.EXPERT)
    item = _items(db, people[0])[0]
    report(db, expert, item.id, "It names somebody.")
    flag = flag_queue(db, owner, "mood/1").flags[0]
    for withhold, missing in ((True, 3), (False, 4)):
        decide_flag(db, owner, flag.id, withhold=withhold)
        assert _missing(db, owner) == missing
    assert grade_all(db, expert) == 4


def test_a_grade_of_what_went_meanwhile_is_taken_and_does_not_count(
    db: Session, owner: Actor, people: list[Actor]
) -> None:
    """Who was given an item before it went is not refused; nobody reads it again, and the stage waits for others."""
    expert = make_person(db, "eva", RoleName.EXPERT)
    given = next_to_grade(db, expert, *WHERE)
    assert given is not None
    writer = next(one for one in people if given.item in {str(each.id) for each in _items(db, one)})
    retract(db, writer, int(given.item))
    following = grade(db, expert, *WHERE, stage=given.stage, item=given.item, answers=FAIR)
    assert following is not None
    assert following.item != given.item
    assert _missing(db, owner) == 3
    grade(db, expert, *WHERE, stage=following.stage, item=following.item, answers=FAIR)
    other = next(one for one in people if following.item in {str(each.id) for each in _items(db, one)})
    retract(db, other, int(following.item))
    next_to_grade(db, expert, *WHERE)
    with pytest.raises(Conflict, match="taken back or withheld"):
        graded_before(db, expert, *WHERE)


def test_taking_everything_back_is_no_way_past_a_qualification(db: Session, owner: Actor, people: list[Actor]) -> None:
    """Who has nothing left is turned away with a letter that says so."""
    for one in _items(db, people[0]):
        retract(db, people[0], one.id)
    grade_all(db, make_person(db, "eva", RoleName.EXPERT))
    close_stage(db, owner, *WHERE, "graded", "grades")
    close_stage(db, owner, *WHERE, "graded", "qualify")
    part = trial_part(db, people[0], *WHERE)
    assert part.what == "end"
    assert "nothing that you wrote was left to be graded" in part.reasons[0]
    assert "nothing that you wrote was left" in part.letters[0].text
    assert trial_part(db, people[1], *WHERE).what == "wait"
