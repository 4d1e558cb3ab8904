"""Approving what many earned: some at a time, by a worker, going on where another one was."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR, Actor
from quintain.core.rounds import Money
from quintain.services.access import audit
from quintain.services.access.notify import list_notifications
from quintain.services.collect.rounds import round_pay
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.house.job_kinds import job_handlers
from quintain.services.jobs import queue
from quintain.services.jobs.running import run_all, run_next
from quintain.services.pay import approving, ledger, payouts
from quintain.services.pay.earnings import decide, earn, list_earnings, my_earnings
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from tests.collecting import add_round, writers

pytestmark = pytest.mark.both_databases
HANDLERS = {round_pay.JOB: job_handlers()[round_pay.JOB]}
Sessions = Callable[[], AbstractContextManager[Session]]


@pytest.fixture
def sessions(db: Session) -> Sessions:
    """Sessions of their own on the database of *db*, as workers have."""
    engine = db.get_bind()

    @contextmanager
    def open_session() -> Iterator[Session]:
        with Session(engine, expire_on_commit=False) as session:
            yield session

    return open_session


@pytest.fixture
def info(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RoundInfo:
    """A round; three earnings are many here, and two are approved at a time."""
    monkeypatch.setattr(round_pay, "AT_ONCE", 3)
    monkeypatch.setattr(approving, "AT_A_TIME", 2)
    return add_round(db, blobs, owner, tmp_path)


def earned(db: Session, info: RoundInfo, people: list[Actor], each: int) -> None:
    """Let people earn a cent *each* time, in turns."""
    with transaction(db):
        for number in range(each):
            for one in people:
                work, user = f"w:{one.name}:{number}", one.user_id or 0
                earn(db, user, info.task_id, kind="base", work=work, money=Money(1), round_id=info.id)


def approvals(db: Session) -> list[dict[str, Any]]:
    """Give what the audit says of approvals, the oldest first."""
    return [dict(one.details) for one in audit.entries(db, OPERATOR)[::-1] if one.action == "pay.approve"]


def test_a_worker_approves_many_and_goes_on_where_another_was(
    db: Session, blobs: Blobs, owner: Actor, info: RoundInfo, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job says how far it is, stops in the middle, goes on after that; each worker is told once, for everything."""
    people = writers(db, 3)
    earned(db, info, people, 3)
    stop, approve = threading.Event(), approving.approve_some

    def approve_and_stop(*given: Any) -> list[int]:
        stop.set()
        return approve(*given)

    asked = round_pay.approve_all(db, owner, info.ref)
    assert asked is not None
    assert round_pay.approve_all(db, owner, info.ref) == asked
    monkeypatch.setattr(approving, "approve_some", approve_and_stop)
    run_next(sessions, blobs, HANDLERS, "first", stop)
    monkeypatch.setattr(approving, "approve_some", approve)
    db.rollback()
    db.expire_all()
    assert list_earnings(db, owner, info.task, status="approved").total == 2
    found = round_pay.round_pay(db, owner, info.ref, limit=1).approving
    assert found is not None
    assert (found.state, found.done, found.total) == ("queued", 0, 0)
    earned(db, info, people[:1], 4)  # one more, which came later and waits for the next time
    run_all(sessions, blobs, HANDLERS)
    db.rollback()
    db.expire_all()
    done = queue.get_job(db, owner, asked.id)
    assert (done.state, dict(done.result), done.done) == ("done", {"earnings": 9}, 10)
    assert list_earnings(db, owner, info.task, status="approved").total == 9
    assert [len(one["earnings"]) for one in approvals(db)] == [2, 2, 2, 2, 1]
    said = [[one.text for one in list_notifications(db, person) if "approved" in one.text] for person in people]
    assert said == [["0.03 USD for your work on mood: approved."]] * 3
    assert round_pay.round_pay(db, owner, info.ref, limit=1).approving is None
    assert ledger.check(db, OPERATOR).ok


def test_few_are_approved_at_once(db: Session, owner: Actor, info: RoundInfo) -> None:
    """Where little is pending, or somebody can wait, no worker is needed; what was decided on stays as it is."""
    (one,) = writers(db, 1)
    earned(db, info, [one], 3)
    first = min(earning.id for earning in my_earnings(db, one))
    decide(db, owner, info.task, [first], approved=False, reason="Copied.")
    assert round_pay.approve_all(db, owner, info.ref) is None
    assert [earning.status for earning in my_earnings(db, one)] == ["approved", "approved", "declined"]
    earned(db, info, [one], 9)
    assert round_pay.approve_all(db, OPERATOR, info.ref, wait=True) is None
    assert list_earnings(db, owner, info.task, status="pending").total == 0
    assert payouts.owed(db, owner, info.task)[0].amount == 8


def test_the_audit_says_how_many_and_which(
    db: Session, owner: Actor, info: RoundInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more than are named one by one, their number and the first and last of them."""
    (one,) = writers(db, 1)
    monkeypatch.setattr(approving, "AT_A_TIME", 100)
    earned(db, info, [one], 60)
    numbers = [earning.id for earning in my_earnings(db, one)]
    round_pay.approve_all(db, owner, info.ref, wait=True)
    assert approvals(db) == [{"number": 60, "first": min(numbers), "last": max(numbers)}]
