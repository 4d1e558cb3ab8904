"""All work in a trial is paid, whatever becomes of it: begun, in hand while something closes, or of a panel."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.services.access.notify import list_notifications
from quintain.services.collect.writing.sessions import start_session
from quintain.services.house.job_kinds import count_kinds
from quintain.services.jobs import figures
from quintain.services.pay import ledger
from quintain.services.pay.caps import PAY_CAP, spent_in_trial, trial_standings
from quintain.services.pay.earnings import decide, list_earnings, my_earnings
from quintain.services.pay.policy import get_policy, put_policy
from quintain.services.tasks.definitions import put_task
from quintain.services.trial import panel_entry
from quintain.services.trial.participation import answer_quiz, enter, leave, quiz_step, trial_part
from quintain.services.trial.rubric import grade, next_to_grade
from quintain.services.trial.stages import close_stage
from quintain.services.trial.trials import OpenTrial, close_trial, find_trial, open_trial, put_trial
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.tables import WritingSession
from tests.collecting import TASK, writers
from tests.integration.trial.life import TRAINED, WHERE, grade_all, train, write
from tests.integration.trial.test_grading import FAIR, PROMOTED, course
from tests.integration.trial.test_trial_entry import BASE, DOORS, come, key_in
from tests.people import make_person

pytestmark = pytest.mark.both_databases
GRADED = PROMOTED.replace("pay = 50,", "pay = 50, bonus = 500,")
EXERCISE = """
name = "exercise"
workers = 4
[[stages]]
name = "tutorial"
tutorial = {contexts = 1, items = 1, pay = 100}
[[stages]]
name = "writing"
writing = {items = 1, sessions = 2, final = true, pay = 100}
"""


def opened(db: Session, blobs: Blobs, owner: Actor, *protocols: str, name: str = WHERE[1]) -> None:
    """Open a trial."""
    put_task(db, owner, TASK)
    put_trial(db, owner, WHERE[0], name, protocols)
    open_trial(db, blobs, owner, WHERE[0], name, OpenTrial())


def answer(db: Session, actor: Actor) -> None:
    """Answer the first step of the quiz."""
    asked = quiz_step(db, actor, *WHERE)
    assert asked is not None
    answer_quiz(db, actor, *WHERE, quiz=asked.quiz, step=asked.step, answer="second")


def amounts(db: Session, actor: Actor) -> list[int]:
    """Give what somebody earned, the newest first."""
    return [one.amount for one in my_earnings(db, actor)]


def fine(db: Session, blobs: Blobs) -> bool:
    """Say whether the books and the counts agree with the facts."""
    return ledger.check(db, OPERATOR).ok and not figures.check(db, blobs, OPERATOR, (), count_kinds()).faults


def test_an_unfinished_tutorial_pays_its_share(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Whoever leaves, and whose tutorial is closed, is paid what they did of it; who did all is paid all, once."""
    opened(db, blobs, owner, TRAINED)
    leaving, late, whole, idle = people = writers(db, 4)
    for one in people:
        enter(db, one, *WHERE)
    answer(db, leaving)
    leave(db, leaving, *WHERE)
    answer(db, late)
    train(db, blobs, whole)
    close_stage(db, owner, *WHERE, "trained", "tutorial", force=True)
    assert [amounts(db, one) for one in people] == [[175], [175], [350], []]
    close_trial(db, owner, *WHERE)
    assert [amounts(db, one) for one in people] == [[175], [175], [350], []]
    assert idle not in (leaving, late)
    assert fine(db, blobs)


def test_closing_a_trial_pays_what_was_done(db: Session, blobs: Blobs, owner: Actor) -> None:
    """What was finished and nobody looked at since is paid, and what was begun by its share, with nobody looking."""
    opened(db, blobs, owner, TRAINED)
    done, begun = writers(db, 2)
    for one in (done, begun):
        enter(db, one, *WHERE)
    train(db, blobs, done)
    answer(db, begun)
    close_trial(db, owner, *WHERE)
    assert (amounts(db, done), amounts(db, begun)) == ([350], [175])
    assert fine(db, blobs)


def promoted(db: Session, blobs: Blobs, owner: Actor) -> Actor:
    """Bring a trial to the grading by promoted workers; give one of them."""
    opened(db, blobs, owner, GRADED)
    people = writers(db, 3)
    for one in people:
        enter(db, one, *WHERE)
        for _ in range(2):
            write(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "first")
    grade_all(db, make_person(db, "eva", RoleName.EXPERT))
    for stage in ("by-experts", "promote"):
        close_stage(db, owner, *WHERE, "graded", stage)
    for one in people:
        write(db, blobs, one)
        trial_part(db, one, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "second")
    return next(one for one in people if trial_part(db, one, *WHERE).grading)


@pytest.mark.parametrize("closing", ["stage", "trial"])
def test_a_grade_in_hand_is_paid_when_something_closes(db: Session, blobs: Blobs, owner: Actor, closing: str) -> None:
    """It is handed in afterwards, paid with the bonus of the round, and does not count; nothing new is given out."""
    grader = promoted(db, blobs, owner)
    before = sum(amounts(db, grader))
    item = next_to_grade(db, grader, *WHERE)
    assert item is not None
    graded = len(course(db).arm.items[item.item].grades)
    if closing == "stage":
        close_stage(db, owner, *WHERE, "graded", "by-crowd", force=True)
    else:
        close_trial(db, owner, *WHERE)
    assert sum(amounts(db, grader)) == before
    assert grade(db, grader, *WHERE, stage=item.stage, item=item.item, answers=FAIR) is None
    assert sum(amounts(db, grader)) == before + 50 + 500
    assert len(course(db).arm.items[item.item].grades) == graded
    assert next_to_grade(db, grader, *WHERE) is None
    with pytest.raises(Conflict):
        grade(db, grader, *WHERE, stage=item.stage, item=item.item, answers=FAIR)
    assert sum(amounts(db, grader)) == before + 50 + 500


def test_closing_a_trial_pays_the_bonus_of_graders(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Who has graded in a stage that was never closed gets what having graded in it adds."""
    grader = promoted(db, blobs, owner)
    item = next_to_grade(db, grader, *WHERE)
    assert item is not None
    grade(db, grader, *WHERE, stage=item.stage, item=item.item, answers=FAIR)
    assert 500 not in amounts(db, grader)
    close_trial(db, owner, *WHERE)
    assert amounts(db, grader).count(500) == 1


def test_experts_from_a_panel_are_paid_for_each_grade(db: Session, blobs: Blobs, owner: Actor) -> None:
    """By what the door says, once for each grade, also for one that they hand in after the trial was closed."""
    opened(db, blobs, owner, PROMOTED)
    (writer,) = writers(db, 1)
    enter(db, writer, *WHERE)
    for _ in range(2):
        write(db, blobs, writer)
    trial_part(db, writer, *WHERE)
    close_stage(db, owner, *WHERE, "graded", "first")
    text = f"experts = true\nexpert_pay = 40\n{DOORS}"
    key = key_in(panel_entry.put_doors(db, owner, *WHERE, text, base_url=BASE).grading)
    expert, house = come(db, key, "E1"), make_person(db, "eva", RoleName.EXPERT)
    item = next_to_grade(db, expert, *WHERE)
    assert item is not None
    following = grade(db, expert, *WHERE, stage=item.stage, item=item.item, answers=FAIR)
    assert following is not None
    grade(db, expert, *WHERE, stage=item.stage, item=item.item, answers=FAIR)  # sent again
    assert amounts(db, expert) == [40]
    close_trial(db, owner, *WHERE)
    assert grade(db, expert, *WHERE, stage=following.stage, item=following.item, answers=FAIR) is None
    assert (amounts(db, expert), amounts(db, house)) == ([40, 40], [])
    assert fine(db, blobs)


def test_a_trial_has_a_cap_of_its_own(db: Session, blobs: Blobs, owner: Actor) -> None:
    """What is spent in one trial pauses that one, tutorials and writing, and no other; what was done is paid."""
    opened(db, blobs, owner, EXERCISE)
    put_policy(db, owner, "mood", "trial_cap = 300")
    first, second = writers(db, 2)
    for one in (first, second):
        enter(db, one, *WHERE)
        write(db, blobs, one)
        trial_part(db, one, *WHERE)
    assert spent_in_trial(db, find_trial(db, *WHERE).id, "USD").amount == 200
    write(db, blobs, first)
    part = trial_part(db, second, *WHERE)
    with pytest.raises(Conflict, match="for this trial") as refused:
        start_session(db, blobs, second, f"mood/{part.round}")
    assert refused.value.code == PAY_CAP
    told = [one.text for one in list_notifications(db, owner) if "pauses" in one.text]
    assert told == ["Work on mood pauses: 3.00 USD of 3.00 USD are used. Raise the cap to go on."]
    opened(db, blobs, owner, EXERCISE, name="other")
    found = trial_standings(db, "mood", get_policy(db, owner, "mood"))
    assert [(one.trial, one.spent.amount, one.cap.amount) for one in found] == [
        ("other", 0, 300),
        ("training", 300, 300),
    ]
    enter(db, second, "mood", "other")
    other = trial_part(db, second, "mood", "other")
    start_session(db, blobs, second, f"mood/{other.round}")
    tutorial = next(one for one in list_earnings(db, owner, "mood").earnings if one.round is None)
    decide(db, owner, "mood", [tutorial.id], approved=False, reason="Copied.")
    assert spent_in_trial(db, find_trial(db, *WHERE).id, "USD").amount == 200
    assert start_session(db, blobs, second, f"mood/{part.round}").key
    assert fine(db, blobs)


def test_a_tutorial_that_pays_too_little_is_told(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Measured times of tutorials are compared with the promise as those of rounds are; it is said once."""
    opened(db, blobs, owner, EXERCISE)
    put_policy(db, owner, "mood", "hourly = 900")
    for number, one in enumerate(writers(db, 6)):
        enter(db, one, *WHERE)
        write(db, blobs, one)
        db.execute(update(WritingSession).values(started_at=now() - timedelta(hours=1)))
        db.commit()
        told = [one.text for one in list_notifications(db, owner) if "an hour" in one.text]
        assert bool(told) == (number > 4)
        trial_part(db, one, *WHERE)
    (said,) = [one.text for one in list_notifications(db, owner) if "an hour" in one.text]
    assert said.startswith("mood/training tutorial pays 1.00 USD an hour")
