"""A whole trial with four workers and an expert: arms, tutorial, grades, letters, pay, the pool and the report."""

from __future__ import annotations

import contextlib

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.hashing import content_id
from quintain.core.people import Actor, RoleName
from quintain.core.rounds import Money
from quintain.protocols.events import entered
from quintain.services.access.notify import list_notifications
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.collect.writing.sessions import start_session
from quintain.services.pay.earnings import my_earnings
from quintain.services.tasks.definitions import put_task
from quintain.services.trial import courses
from quintain.services.trial.costs import trial_costs
from quintain.services.trial.courses import Courses, course_of
from quintain.services.trial.letters import answer_reply, edit_letter, letters, reply
from quintain.services.trial.participation import enter, leave, trial_part
from quintain.services.trial.reporting import open_pool, report
from quintain.services.trial.rubric import grade, next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import close_trial, find_trial, get_trial, list_trials, open_trial, put_trial
from quintain.services.validate.console.status import status
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.state import state_of
from quintain.store.tables import CrowdArm, CrowdMember, CrowdTrial
from quintain.web.error_text import translated
from tests.collecting import TASK, writers
from tests.integration.trial.life import PLAIN, TRAINED, WHERE, begin, grade_all, train, write
from tests.people import make_person
from tests.refusals import refusal
from tests.validation_support import judge_all, make_judges


def arms_of(db: Session) -> dict[str, list[int]]:
    """Give who is in which arm."""
    found: dict[str, list[int]] = {"plain": [], "trained": []}
    for name, user in db.execute(select(CrowdArm.name, CrowdMember.user_id).join(CrowdMember)):
        found[name].append(user)
    return found


@pytest.mark.both_databases
def test_a_whole_trial(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Two of four are in each arm; one of the trained qualifies, reads a letter and writes; all is paid once."""
    begin(db, blobs, owner)
    people = writers(db, 4)
    for one in people:
        assert trial_part(db, one, *WHERE).what == "enter"
        enter(db, one, *WHERE)
        enter(db, one, *WHERE)  # a second click changes nothing
    arms = arms_of(db)
    assert [len(arms[name]) for name in ("plain", "trained")] == [2, 2]
    plain, trained = ([one for one in people if one.user_id in arms[name]] for name in ("plain", "trained"))
    assert list_rounds(db, plain[0], "mood") == []
    for one in plain:
        write(db, blobs, one)
        write(db, blobs, one)
        assert trial_part(db, one, *WHERE).what == "end"
    for one in trained:
        assert trial_part(db, one, *WHERE).quiz
        train(db, blobs, one)
        assert trial_part(db, one, *WHERE).what == "wait"
    expert = make_person(db, "expert", RoleName.EXPERT)
    with pytest.raises(Forbidden):
        next_to_grade(db, make_person(db, "stranger", RoleName.WORKER), *WHERE)
    assert next_to_grade(db, expert, *WHERE) is None  # somebody may still come in
    close_stage(db, owner, *WHERE, "trained", "tutorial")
    assert grade_all(db, expert) == 2
    for stage in ("grades", "qualify"):
        close_stage(db, owner, *WHERE, "trained", stage)
    drafts = letters(db, owner, *WHERE, "trained", "feedback")
    assert len(drafts) == 1
    assert "Skala von 0 (" in translated("de", drafts[0].text)
    assert "You get a bonus of 1.50 USD." in drafts[0].text
    edit_letter(db, owner, *WHERE, arm="trained", stage="feedback", person=drafts[0].person, text="Well done!")
    close_stage(db, owner, *WHERE, "trained", "feedback")
    best = next(one for one in trained if one.name == drafts[0].person)
    other = next(one for one in trained if one is not best)
    assert [one.text for one in trial_part(db, best, *WHERE).letters] == ["Well done!"]
    reply(db, best, *WHERE, "feedback", "Thank you.", appeal=True)
    assert letters(db, owner, *WHERE, "trained", "feedback")[0].appeal
    told = [one.text for one in list_notifications(db, owner)]
    assert any("asks you to look at a decision" in one for one in told)
    answer_reply(db, owner, *WHERE, arm="trained", stage="feedback", person=best.name, text="It stands.")
    assert trial_part(db, best, *WHERE).letters[0].answer == "It stands."
    write(db, blobs, best)
    assert trial_part(db, best, *WHERE).what == "end"
    assert trial_part(db, other, *WHERE).what == "end"
    assert any("You do not go on" in one for one in trial_part(db, other, *WHERE).reasons)
    assert sorted(one.amount for one in my_earnings(db, best)) == [100, 150, 350]
    assert sorted(one.amount for one in my_earnings(db, other)) == [350]
    assert sorted(one.amount for one in my_earnings(db, plain[0])) == [100, 100]
    _judge_and_report(db, blobs, owner, people)


def _judge_and_report(db: Session, blobs: Blobs, owner: Actor, people: list[Actor]) -> None:
    """Judge the pool; the report has the arms, what was paid, and who came where."""
    added = open_pool(db, owner, *WHERE)
    assert added.added == 5
    judging = get_trial(db, owner, *WHERE).judging
    assert judging is not None
    assert (judging.validation, judging.items, judging.judgements) == ("trial-training", 5, 2 * 3 + 3 * 2)
    assert str(judging.cost) == "4.50 USD"
    pool = status(db, owner, "mood/trial-training")
    assert [(one.part, one.items, one.often) for one in pool.asking.parts] == [("plain", 4, 1), ("trained", 1, 1)]
    assert pool.forecast.judgements == judging.judgements
    judge_all(db, make_judges(db, 4), lambda inputs: "neutral", ref="mood/trial-training")
    assert open_pool(db, owner, *WHERE).added == 0
    assert status(db, owner, "mood/trial-training").progress.labelled == 5
    found = report(db, blobs, owner, *WHERE)
    sections = {one.key: one for one in found.sections}
    costs = {row[0]: row for row in sections["costs"].tables[0].rows}
    assert costs["plain"][2] == 1.0
    assert costs["trained"][7] == 9.5
    came = {(row[0], row[1]): row[2] for row in sections["attrition"].tables[0].rows}
    assert came["trained", "tutorial"] == 2
    assert came["trained", "final"] == 1
    told = {one.arm: one.costs for one in trial_costs(db, owner, *WHERE).arms}
    assert (told["plain"].each, told["plain"].texts) == (Money(100), 4)
    assert told["trained"].each_without_training == Money(100)
    paid = sum(one.base.amount + one.bonus.amount for one in told["trained"].groups)
    assert paid == 950
    assert told["trained"].total.amount == paid + sum(one.expert.amount for one in told["trained"].groups)
    with pytest.raises(Forbidden):
        trial_costs(db, people[0], *WHERE)
    with pytest.raises(Forbidden):
        report(db, blobs, people[0], *WHERE)
    assert close_trial(db, owner, *WHERE).state == "closed"


@pytest.mark.both_databases
def test_what_is_kept_in_memory_is_what_the_record_says(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A server that starts anew, and one whose transaction was rolled back, have the course of the record."""
    begin(db, blobs, owner)
    (person,) = writers(db, 1)
    enter(db, person, *WHERE)
    trial = find_trial(db, *WHERE)
    arm = next(
        one for one in db.scalars(select(CrowdArm)) if one.name in {"plain", "trained"} and arms_of(db)[one.name]
    )
    with course_of(db, trial, arm) as course:
        before = repr(course.arm)
    leave(db, person, *WHERE)
    state_of(db).part(Courses).clear()
    with course_of(db, trial, arm) as course:
        after = repr(course.arm)
    assert before != after
    with pytest.raises(RuntimeError):
        _die_after_entering(db, trial, arm)
    with course_of(db, trial, arm) as course:
        assert repr(course.arm) == after


def _die_after_entering(db: Session, trial: CrowdTrial, arm: CrowdArm) -> None:
    with transaction(db):
        courses.record(db, trial, arm, entered("77"))
        raise RuntimeError("the server dies")


@pytest.mark.both_databases
def test_nobody_sees_what_is_not_committed(db: Session, blobs: Blobs, owner: Actor) -> None:
    """While somebody adds to an arm, others see its course as it was, until it is committed."""
    begin(db, blobs, owner)
    trial = find_trial(db, *WHERE)
    arm = next(one for one in db.scalars(select(CrowdArm)) if one.name == "plain")
    with course_of(db, trial, arm) as course:
        assert not course.arm.people
    db.commit()
    for ends_well in (False, True):
        with Session(db.get_bind()) as elsewhere, contextlib.suppress(RuntimeError), transaction(db):
            courses.record(db, trial, arm, entered("77"))
            with course_of(db, trial, arm) as course:
                assert [*course.arm.people] == ["77"]
            with course_of(elsewhere, trial, arm) as course:
                assert not course.arm.people
            if not ends_well:
                raise RuntimeError("it is undone")
        with Session(db.get_bind()) as later, course_of(later, trial, arm) as course:
            assert [*course.arm.people] == (["77"] if ends_well else [])


def test_what_a_part_of_a_transaction_did_is_undone_with_it(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A part that fails takes its events back, and what was added before it in the same transaction stays."""
    begin(db, blobs, owner)
    trial = find_trial(db, *WHERE)
    arm = next(one for one in db.scalars(select(CrowdArm)) if one.name == "plain")
    with transaction(db):
        courses.record(db, trial, arm, entered("1"))
        with contextlib.suppress(RuntimeError), transaction(db):
            courses.record(db, trial, arm, entered("2"))
            raise RuntimeError("this part is undone")
        with course_of(db, trial, arm) as course:
            assert [*course.arm.people] == ["1"]
        courses.record(db, trial, arm, entered("3"))
    with Session(db.get_bind()) as later, course_of(later, trial, arm) as course:
        assert [*course.arm.people] == ["1", "3"]


def test_nobody_does_what_is_not_theirs(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Workers see no arms and close nothing; rounds of a trial are for those who are there."""
    begin(db, blobs, owner)
    first, second = writers(db, 2)
    enter(db, first, *WHERE)
    assert get_trial(db, first, *WHERE).arms == []
    assert [one.name for one in list_trials(db, first, "mood")] == ["training"]
    with pytest.raises(Forbidden):
        close_stage(db, first, *WHERE, "plain", "writing")
    round_ = trial_part(db, first, *WHERE).round
    if round_ is not None:
        with pytest.raises(NotFound, match="no round"):
            start_session(db, blobs, second, f"mood/{round_}")
    with pytest.raises(NotFound):
        close_stage(db, owner, *WHERE, "plain", "nowhere")
    with pytest.raises(NotFound, match="no arm"):
        close_stage(db, owner, *WHERE, "other", "writing")
    with pytest.raises(Conflict, match="cannot change any more"):
        put_trial(db, owner, *WHERE, [PLAIN])
    with pytest.raises(Conflict, match="already"):
        open_trial(db, blobs, owner, *WHERE)
    with pytest.raises(Forbidden):
        grade(db, first, *WHERE, stage="grades", item="1", answers={})


def test_arms_that_cannot_stand_side_by_side_are_refused(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Two of one name, two currencies, two ways of judging; a model to fool that nobody names."""
    begin(db, blobs, owner)
    for tomls, reason in (
        ([PLAIN, PLAIN], "same name"),
        ([PLAIN, TRAINED.replace("workers = 4", 'workers = 4\ncurrency = "EUR"')], "different currencies"),
        ([PLAIN, TRAINED.replace("many = 3", "many = 5")], "one pool"),
    ):
        with pytest.raises(BadInput, match=reason):
            put_trial(db, owner, "mood", "another", tomls)
    put_trial(db, owner, "mood", "fooling", [PLAIN.replace("items = 1,", "items = 1, target = true,")])
    with pytest.raises(BadInput, match="a model to fool, and none is named"):
        open_trial(db, blobs, owner, "mood", "fooling")
    assert get_trial(db, owner, "mood", "fooling").state == "draft"


def test_who_enters_agrees_first_and_that_is_kept(db: Session, blobs: Blobs, owner: Actor) -> None:
    """The consent of all arms is shown; without it nobody enters; what was agreed to is on record."""
    put_task(db, owner, TASK)
    asking = PLAIN.replace(
        "[[stages]]", '[[stages]]\nname = "entry"\nentry = {consent = "You may stop."}\n[[stages]]', 1
    )
    put_trial(db, owner, *WHERE, [asking, TRAINED])
    open_trial(db, blobs, owner, *WHERE)
    (person,) = writers(db, 1)
    assert trial_part(db, person, *WHERE).consent == "You may stop."
    with refusal(Forbidden, "consent_needed"):
        enter(db, person, *WHERE)
    assert trial_part(db, person, *WHERE).what == "enter"
    enter(db, person, *WHERE, consent=True)
    assert db.scalars(select(CrowdMember)).one().consent == content_id("You may stop.")
