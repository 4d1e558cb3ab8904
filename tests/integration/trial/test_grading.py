"""Grading by lease: each item gets as many grades as it takes, a lease that lapses comes back, graders are checked."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, Forbidden
from quintain.core.people import Actor, RoleName
from quintain.protocols.engine import Course
from quintain.services.access.notify import list_notifications
from quintain.services.pay.earnings import my_earnings
from quintain.services.pay.policy import save_policy
from quintain.services.tasks.definitions import put_task
from quintain.services.trial import earnings
from quintain.services.trial.courses import course_of
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.rubric import change_grade, grade, graded_before, next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import OpenTrial, find_trial, get_trial, open_trial, put_trial
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.tables import CrowdArm, CrowdEvent, CrowdLease
from tests.collecting import TASK, writers
from tests.integration.trial.life import WHERE, write
from tests.people import make_person
from tests.refusals import refusal

FAIR = {"answerable": "yes", "reading": "whole", "creative": "little", "distractors": "yes"}
POOR = FAIR | {"reading": "none", "creative": "not"}
PROMOTED = """
name = "graded"
workers = 4
[[stages]]
name = "first"
writing = {items = 1, sessions = 2, pay = 100}
[[stages]]
name = "by-experts"
grading = {of = "first", grades = 1, least = 2, hourly = 3000}
[[stages]]
name = "promote"
promotion = {by = "by-experts", top = 0.5}
[[stages]]
name = "second"
writing = {items = 1, sessions = 1, final = true, pay = 100}
[[stages]]
name = "by-crowd"
grading = {of = "second", by = "promoted", grades = 1, least = 0, pay = 50, checks = 2}
[validation]
votes = 2
many = 3
sample = 1
setting = 2
"""


@pytest.fixture
def people(db: Session, blobs: Blobs, owner: Actor) -> list[Actor]:
    """Three people who have written twice each, and wait for their grades."""
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [PROMOTED], title="Mood of texts")
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    found = writers(db, 3)
    for one in found:
        enter(db, one, *WHERE)
        for _ in range(2):
            write(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "first")
    return found


def course(db: Session) -> Course:
    """Give where the arm stands."""
    with course_of(db, find_trial(db, *WHERE), db.scalars(select(CrowdArm)).one()) as found:
        return found


def lapse(db: Session) -> None:
    """Let all leases lapse."""
    db.execute(update(CrowdLease).values(until=now() - timedelta(seconds=1)))
    db.commit()


def take_all(db: Session, actor: Actor, answers: dict[str, str]) -> int:
    """Grade all that one is given."""
    done = 0
    while (item := next_to_grade(db, actor, *WHERE)) is not None:
        grade(db, actor, *WHERE, stage=item.stage, item=item.item, answers=answers)
        done += 1
    return done


@pytest.mark.both_databases
def test_an_item_is_given_to_as_many_as_it_takes(db: Session, people: list[Actor]) -> None:
    """Two experts never hold the same item; who asks again gets the same; what was not given out is not taken."""
    first, second = (make_person(db, name, RoleName.EXPERT) for name in ("ex-one", "ex-two"))
    held = next_to_grade(db, first, *WHERE)
    assert held is not None
    assert held.item == next_to_grade(db, first, *WHERE).item
    assert (held.done, held.left) == (0, 6)
    other = next_to_grade(db, second, *WHERE)
    assert other is not None
    assert other.item != held.item
    assert other.left == 5
    with refusal(Conflict, "not_leased"):
        grade(db, second, *WHERE, stage=held.stage, item=held.item, answers=FAIR)
    with pytest.raises(Forbidden):
        grade(db, people[0], *WHERE, stage="by-experts", item="999999", answers=FAIR)
    grade(db, first, *WHERE, stage=held.stage, item=held.item, answers=FAIR)
    grade(db, first, *WHERE, stage=held.stage, item=held.item, answers=FAIR)  # sent again after a time-out
    with refusal(Conflict, "not_leased"):
        grade(db, first, *WHERE, stage=held.stage, item=held.item, answers=POOR)
    take_all(db, first, FAIR)
    assert next_to_grade(db, first, *WHERE) is None  # the last one is with the other expert
    lapse(db)
    assert next_to_grade(db, first, *WHERE).item == other.item
    assert {len(one.grades) for one in course(db).arm.items.values()} <= {0, 1}


def test_a_grade_that_comes_too_late_is_paid_for_and_not_counted(
    db: Session, blobs: Blobs, owner: Actor, people: list[Actor]
) -> None:
    """The lease of a promoted grader lapses, another one fills the place, then the first hands in all the same."""
    graders = promoted(db, blobs, owner, people)
    third = next(one for one in people if one not in graders)
    theirs = {name for name, item in course(db).arm.items.items() if item.writer == str(third.user_id)}
    first, second = graders
    late = _hold_one_of(db, first, theirs)
    lapse(db)
    taken = take_all(db, second, FAIR)
    assert taken >= 2
    before = sum(one.amount for one in my_earnings(db, first))
    grade(db, first, *WHERE, stage="by-crowd", item=late, answers=POOR)
    assert sum(one.amount for one in my_earnings(db, first)) == before + 50
    item = course(db).arm.items[late]
    assert [*item.grades] == [str(second.user_id)]


def _hold_one_of(db: Session, actor: Actor, wanted: set[str]) -> str:
    """Grade until one of the wanted items of the second round is held."""
    for _ in range(10):
        held = next_to_grade(db, actor, *WHERE)
        assert held is not None
        if held.item in wanted and course(db).arm.items[held.item].stage == "second":
            return held.item
        grade(db, actor, *WHERE, stage=held.stage, item=held.item, answers=FAIR)
    raise AssertionError("the item never came")


def promoted(db: Session, blobs: Blobs, owner: Actor, people: list[Actor]) -> list[Actor]:
    """Let an expert grade, promote two of three, and let all write the second round."""
    expert = make_person(db, "ex-one", RoleName.EXPERT)
    assert take_all(db, expert, FAIR) == 6
    for stage in ("by-experts", "promote"):
        close_stage(db, owner, *WHERE, "graded", stage)
    for one in people:
        write(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "second")
    found = [one for one in people if course(db).person(str(one.user_id)).promoted]
    assert len(found) == 2
    return found


def test_promoted_graders_are_checked_unseen(db: Session, blobs: Blobs, owner: Actor, people: list[Actor]) -> None:
    """Items that experts graded are among theirs, look the same, are paid, and the owner sees how far both agree."""
    first, second = promoted(db, blobs, owner, people)
    done = {one.name: take_all(db, one, answers) for one, answers in ((first, FAIR), (second, POOR))}
    assert trial_part(db, first, *WHERE).what == "wait"
    stage = next(one for one in get_trial(db, owner, *WHERE).arms[0].stages if one.name == "by-crowd")
    assert {one.name: one.grades for one in stage.graders} == done
    off = {one.name: one.off for one in stage.graders if one.checks}
    assert off, "nobody was checked"
    assert off.get(first.name, 0.0) == 0.0
    if second.name in off:
        assert off[second.name] == pytest.approx(0.75 + 0.33)
    assert stage.grades_missing == 0
    assert stage.short == 0
    paid = sum(one.amount == 50 for actor in (first, second) for one in my_earnings(db, actor))
    assert paid == sum(done.values())
    own = {one.name for one in course(db).arm.items.values() if one.stage == "second"}
    hidden = [name for each in course(db).arm.probes["by-crowd"].values() for name in each]
    assert hidden
    assert not own & {*hidden}
    close_stage(db, owner, *WHERE, "graded", "by-crowd")


def test_a_grade_can_be_changed_until_the_stage_is_closed(db: Session, owner: Actor, people: list[Actor]) -> None:
    """Back to the newest grade and the one before; the change counts and is no second grade."""
    expert = make_person(db, "ex-one", RoleName.EXPERT)
    take_all(db, expert, FAIR)
    newest, older = (graded_before(db, expert, *WHERE, back) for back in (1, 2))
    assert newest.item != older.item
    assert newest.answers == FAIR
    change_grade(db, expert, *WHERE, stage=older.stage, item=older.item, answers=POOR)
    assert graded_before(db, expert, *WHERE, 2).answers == POOR
    assert course(db).arm.items[older.item].grades == {str(expert.user_id): POOR}
    close_stage(db, owner, *WHERE, "graded", "by-experts")
    with pytest.raises(Conflict, match="closed"):
        graded_before(db, expert, *WHERE)
    with pytest.raises(Conflict):
        change_grade(db, expert, *WHERE, stage=older.stage, item=older.item, answers=FAIR)


@pytest.mark.both_databases
def test_many_at_once_give_each_item_one_grade(db: Session, people: list[Actor]) -> None:
    """Experts who ask and grade at the same moment never grade one item twice."""
    experts = [make_person(db, f"ex-{number}", RoleName.EXPERT) for number in range(4)]
    db.commit()
    bind = db.get_bind()
    start = threading.Barrier(len(experts))

    def work(actor: Actor) -> None:
        start.wait()
        with Session(bind) as own:
            take_all(own, actor, FAIR)

    threads = [threading.Thread(target=work, args=(one,)) for one in experts]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    kinds = [one.body["kind"] for one in db.scalars(select(CrowdEvent))]
    assert kinds.count("graded") == 6
    assert kinds.count("graded late") == 0


@pytest.mark.both_databases
def test_a_cap_pauses_grading_and_cheats_nobody(db: Session, blobs: Blobs, owner: Actor, people: list[Actor]) -> None:
    """The grade that reaches a cap is taken and paid; no other item is given out until there is room; experts go on."""
    (grader, *_) = promoted(db, blobs, owner, people)
    item = next_to_grade(db, grader, *WHERE)
    assert item is not None
    earned = sum(one.amount for one in my_earnings(db, grader))
    save_policy(db, owner, "mood", {"currency": "USD", "worker_cap": earned + 50})
    assert grade(db, grader, *WHERE, stage=item.stage, item=item.item, answers=FAIR) is None
    assert sum(one.amount for one in my_earnings(db, grader)) == earned + 50
    with pytest.raises(Conflict, match="New work pauses"):
        next_to_grade(db, grader, *WHERE)
    assert next_to_grade(db, make_person(db, "ex-late", RoleName.EXPERT), *WHERE) is not None
    save_policy(db, owner, "mood", {"currency": "USD", "worker_cap": earned + 500})
    assert next_to_grade(db, grader, *WHERE) is not None


def test_grading_that_pays_less_than_was_promised_is_told(
    db: Session, blobs: Blobs, owner: Actor, people: list[Actor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Owners hear of it once, by the times that graders take; quick graders alarm nobody."""
    monkeypatch.setattr(earnings, "ENOUGH_GRADES", 2)
    save_policy(db, owner, "mood", {"currency": "USD", "hourly": 1000})
    (grader, *_) = promoted(db, blobs, owner, people)
    told = []
    for minutes in (1, 14, 14):
        item = next_to_grade(db, grader, *WHERE)
        assert item is not None
        db.execute(update(CrowdLease).values(given_at=now() - timedelta(minutes=minutes)))
        db.commit()
        grade(db, grader, *WHERE, stage=item.stage, item=item.item, answers=FAIR)
        told.append([one.text for one in list_notifications(db, owner) if one.kind == "pay.wage"])
    assert [len(one) for one in told] == [0, 1, 1]
    assert "4.00 USD an hour" in told[-1][0]
