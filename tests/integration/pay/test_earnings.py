"""Earnings: facts, once per piece of work, and never for fooling."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import Actor
from quintain.core.records.pay import Earning as EarningRecord
from quintain.core.records.pay import EarningOrder
from quintain.core.rounds import Money
from quintain.services.collect.rounds.manage import close_round
from quintain.services.collect.writing.readiness import record_choice
from quintain.services.collect.writing.sessions import get_session, give_up, start_session
from quintain.services.collect.writing.submit_attempt import confirm
from quintain.services.pay.earnings import (
    decide,
    earn,
    earn_bonus,
    hourly,
    list_earnings,
    my_earnings,
    my_totals,
    round_totals,
    wage,
)
from quintain.services.tasks.definitions import find_row, put_task
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import Earning, WritingSession
from tests.collecting import TASK, add_round, submit, writers

pytestmark = pytest.mark.both_databases


def test_base_pay_does_not_depend_on_fooling(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Whoever fools the model and whoever runs out of attempts earn the same; giving up earns the attempts' share."""
    info = add_round(db, blobs, owner, tmp_path, more="attempts = 3")
    fooling, failing, leaving, idle = writers(db, 4)
    key = start_session(db, blobs, fooling, info.ref).key
    confirm(db, fooling, submit(db, blobs, fooling, key, "It was good for nothing.").attempt_id, True)
    key = start_session(db, blobs, failing, info.ref).key
    for number in range(3):
        submit(db, blobs, failing, key, f"{'really ' * number} bad weather, part {number}.")
    key = start_session(db, blobs, leaving, info.ref).key
    submit(db, blobs, leaving, key, "It was bad, and I go.")
    give_up(db, leaving, key)
    give_up(db, leaving, key)
    give_up(db, idle, start_session(db, blobs, idle, info.ref).key)
    earned = {one.worker: (one.money.amount, one.kind, one.status) for one in list_earnings(db, owner, "mood").earnings}
    assert earned == {
        fooling.name: (30, "base", "pending"),
        failing.name: (30, "base", "pending"),
        leaving.name: (10, "base", "pending"),
    }


def test_who_opts_out_is_paid_for_what_was_done(
    db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """The session ends at once, like one that was given up; its prompt is free for others."""
    info = add_round(db, blobs, owner, tmp_path, prompts=1, more='attempts = 3\ncontent_warning = "Rude."')
    record_choice(db, worker, info.ref, "warning")
    key = start_session(db, blobs, worker, info.ref).key
    submit(db, blobs, worker, key, "It was bad, and too much for me.")
    record_choice(db, worker, info.ref, "opt_out")
    assert get_session(db, worker, key).outcome == "given_up"
    assert [one.money.amount for one in list_earnings(db, owner, "mood").earnings] == [10]
    (other,) = writers(db, 1)
    record_choice(db, other, info.ref, "warning")
    assert start_session(db, blobs, other, info.ref).prompt is not None


def test_closing_pays_who_was_writing(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """A session that the owner ended is paid in full."""
    info = add_round(db, blobs, owner, tmp_path)
    submit(db, blobs, worker, start_session(db, blobs, worker, info.ref).key, "It was bad.")
    close_round(db, owner, info.ref)
    assert [one.money for one in my_earnings(db, worker)] == [Money(30, "USD")]


def test_work_is_paid_once(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """A bonus is a fact of its own, and a second one for the same attempt changes nothing."""
    info = add_round(db, blobs, owner, tmp_path)
    made = submit(db, blobs, worker, start_session(db, blobs, worker, info.ref).key, "It was good for nothing.")
    confirm(db, worker, made.attempt_id, True)
    with transaction(db):
        arguments = (db, info.spec, info.task_id, info.id, worker.user_id or 0, made.attempt_id)
        assert earn_bonus(*arguments)
        assert not earn_bonus(*arguments)
    assert [(one.kind, one.money.amount) for one in my_earnings(db, worker)] == [("bonus", 20), ("base", 30)]
    totals = {(one.kind, one.status): str(one.money) for one in round_totals(db, owner, "mood", info.id)}
    assert totals == {("base", "pending"): "0.30 USD", ("bonus", "pending"): "0.20 USD"}


def test_pages_of_a_list_follow_its_order(db: Session, owner: Actor) -> None:
    """Sorted by time, amount or worker, up or down, pages one after the other are the whole list, each earning once."""
    put_task(db, owner, TASK)
    people = writers(db, 3)
    with transaction(db):
        task_id = find_row(db, "mood").id
        for number, amount in enumerate((30, 10, 20, 10, 40, 10, 30)):
            user_id = people[number % 3].user_id or 0
            earn(db, user_id, task_id, kind="base", work=f"w{number}", money=Money(amount, "USD"))
    keys: dict[EarningOrder, Callable[[EarningRecord], Any]] = {
        "newest": lambda one: -one.id,
        "oldest": lambda one: one.id,
        "largest": lambda one: (-one.amount, -one.id),
        "smallest": lambda one: (one.amount, one.id),
        "worker": lambda one: (one.worker, -one.id),
    }
    for order, key in keys.items():
        whole = list_earnings(db, owner, "mood", order=order).earnings
        assert whole == sorted(whole, key=key)
        pages = [list_earnings(db, owner, "mood", order=order, limit=3, offset=first).earnings for first in (0, 3, 6)]
        assert [one for page in pages for one in page] == whole
    down = list_earnings(db, owner, "mood", order="worker_down", limit=7).earnings
    assert [one.worker for one in down] == sorted((one.worker for one in down), reverse=True)


def test_owners_approve_and_workers_see_it(db: Session, owner: Actor, worker: Actor) -> None:
    """The newest decision counts; setting aside needs a reason, which the worker reads."""
    put_task(db, owner, TASK)
    with transaction(db):
        task_id = find_row(db, "mood").id
        for number in range(3):
            earn(db, worker.user_id or 0, task_id, kind="base", work=f"w{number}", money=Money(10, "EUR"), what="Work")
    third, second, first = (one.id for one in my_earnings(db, worker))
    decide(db, owner, "mood", [first, second])
    with pytest.raises(BadInput, match="say why"):
        decide(db, owner, "mood", [third], approved=False)
    decide(db, owner, "mood", [third], approved=False, reason="Test account")
    assert [(one.status, one.reason) for one in my_earnings(db, worker)] == [
        ("declined", "Test account"),
        ("approved", ""),
        ("approved", ""),
    ]
    decide(db, owner, "mood", [third])
    assert [(one.status, one.money.amount) for one in my_totals(db, worker)] == [("approved", 30)]
    for refused, error in ((worker, Forbidden), (owner, NotFound)):
        with pytest.raises(error):
            decide(db, refused, "mood", [999])
    with pytest.raises(TypeError, match="is a fact"), transaction(db):
        db.get_one(Earning, first).amount = 1000


def test_the_hourly_wage_is_measured_once_there_is_enough(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path
) -> None:
    """At first the owner's estimate counts, also after sessions of six seconds in all; then the median of times."""
    info = add_round(db, blobs, owner, tmp_path, more="minutes = 4\nattempts = 1")
    assert wage(db, info.id, info.spec).hourly == Money(450, "USD")
    for number, person in enumerate(writers(db, 5)):
        key = start_session(db, blobs, person, info.ref).key
        submit(db, blobs, person, key, f"{person.name} was bad {number}.")
    for each, found in (
        (1.2, (0, Money(450, "USD"))),
        (120, (5, Money(900, "USD"))),
    ):
        with transaction(db):
            for row in db.scalars(select(WritingSession).where(WritingSession.round_id == info.id)):
                row.started_at = (row.ended_at or now()) - timedelta(seconds=each)
        paid = wage(db, info.id, info.spec)
        assert (paid.measured, paid.hourly) == found
    measured = wage(db, info.id, info.spec)
    assert (measured.measured, measured.minutes, measured.hourly) == (5, 2.0, Money(900, "USD"))
    with pytest.raises(BadInput):
        hourly(Money(30), 0)
    with pytest.raises(BadInput, match="never negative"):
        earn(db, 1, 1, kind="base", work="x", money=Money(-1))
