"""What a cheat tries for more pay: more sessions than a stage takes, or sessions that are given up half done."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.services.collect.rounds.manage import get_round
from quintain.services.collect.writing.sessions import give_up, start_session
from quintain.services.collect.writing.submit_attempt import submit_attempt
from quintain.services.pay.earnings import my_earnings
from quintain.services.tasks.definitions import put_task
from quintain.services.trial.costs import trial_costs
from quintain.services.trial.courses import course_of
from quintain.services.trial.participation import enter, trial_part
from quintain.services.trial.pool import final_items
from quintain.services.trial.trials import close_trial, find_trial, get_trial, open_trial, put_trial
from quintain.store.blobs import Blobs
from quintain.store.queries.trial import trials as queries
from tests.collecting import TASK, writers
from tests.integration.trial.life import WHERE, text
from tests.refusals import refusal

ARM = """
name = "pairs"
workers = 4
[[stages]]
name = "writing"
writing = {items = 2, sessions = 2, final = true, pay = 100%s}
"""
LIMITS = ("sessions", "wanted")
pytestmark = pytest.mark.both_databases


def _open(db: Session, blobs: Blobs, owner: Actor, people: int, more: str = "") -> list[Actor]:
    put_task(db, owner, TASK)
    put_trial(db, owner, *WHERE, [ARM % more])
    open_trial(db, blobs, owner, *WHERE)
    found = writers(db, people)
    for one in found:
        enter(db, one, *WHERE)
    return found


def _write(db: Session, blobs: Blobs, actor: Actor, count: int = 2) -> str:
    """Write so many texts in a session, by its address alone: nobody looks at the trial."""
    session = start_session(db, blobs, actor, "mood/1")
    for _ in range(count):
        said = text()
        submit_attempt(db, blobs, actor, session.key, {"text": said}, target="neutral", token=said[:80])
    return session.key


def test_nobody_writes_more_sessions_than_the_stage_takes(db: Session, blobs: Blobs, owner: Actor) -> None:
    """The third session is refused although nobody looked at the trial meanwhile; two are paid."""
    (cheat,) = _open(db, blobs, owner, 1)
    for _ in range(2):
        _write(db, blobs, cheat)
    with refusal(Conflict, "sessions_used") as refused:
        start_session(db, blobs, cheat, "mood/1")
    assert refused.value.code == "sessions_used"
    assert [one.amount for one in my_earnings(db, cheat)] == [100, 100]
    assert trial_part(db, cheat, *WHERE).what == "end"


def test_sessions_that_are_given_up_count(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Half sessions are paid by their share and are two of two; one in which nothing was written takes nothing away."""
    cheat, honest = _open(db, blobs, owner, 2)
    give_up(db, cheat, start_session(db, blobs, cheat, "mood/1").key)
    give_up(db, cheat, _write(db, blobs, cheat, 1))
    assert trial_part(db, cheat, *WHERE).sessions_left == 1
    give_up(db, cheat, _write(db, blobs, cheat, 1))
    with refusal(Conflict, "sessions_used"):
        start_session(db, blobs, cheat, "mood/1")
    assert trial_part(db, cheat, *WHERE).what == "end"
    assert sorted(one.amount for one in my_earnings(db, cheat)) == [50, 50]
    for _ in range(2):
        _write(db, blobs, honest)
    assert trial_part(db, honest, *WHERE).what == "end"
    _check_items(db, owner, 6, "0.50 USD")


def _check_items(db: Session, owner: Actor, count: int, each: str) -> None:
    """The data, the record and what a question cost all have the same items."""
    trial = find_trial(db, *WHERE)
    (arm,) = queries.arms(db, trial.id)
    names = {str(one.id) for one in final_items(db, arm)}
    with course_of(db, trial, arm) as course:
        assert names == course.arm.items.keys()
        assert course.arm.written == {"writing": count}
    (costs,) = trial_costs(db, owner, *WHERE).arms
    assert costs.costs.texts == len(names) == count
    assert str(costs.costs.each) == each


def test_no_session_begins_once_all_is_written(db: Session, blobs: Blobs, owner: Actor) -> None:
    """Where four items are wanted, the fifth is not begun, whoever has looked; who comes later waits."""
    first, second = _open(db, blobs, owner, 2, ", wanted = 4")
    assert get_round(db, owner, "mood/1").spec.wanted == 4
    for _ in range(2):
        _write(db, blobs, first)
    with refusal(Conflict, "enough_written") as refused:
        start_session(db, blobs, second, "mood/1")
    assert refused.value.code == "enough_written"
    assert trial_part(db, second, *WHERE).what == "wait"


def test_what_is_under_way_when_the_trial_closes_is_its_last(db: Session, blobs: Blobs, owner: Actor) -> None:
    """A session that ends with its round is paid in full and on record, as is one that nobody had looked at."""
    first, second = _open(db, blobs, owner, 2)
    _write(db, blobs, first)
    _write(db, blobs, second, 1)
    close_trial(db, owner, *WHERE)
    assert get_trial(db, owner, *WHERE).state == "closed"
    assert [one.amount for one in my_earnings(db, second)] == [100]
    _check_items(db, owner, 3, "0.67 USD")
