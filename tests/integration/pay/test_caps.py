"""Caps pause new work and cheat nobody; promised wages are watched; steps pay once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Forbidden
from quintain.core.people import Actor
from quintain.services.access.notify import list_notifications
from quintain.services.collect.writing.sessions import give_up, start_session
from quintain.services.pay.earnings import list_earnings, my_earnings
from quintain.services.pay.policy import get_policy, policy_text, put_policy
from quintain.services.work.qualify import put_qualification
from quintain.store.base import table_of
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import WritingSession
from tests.collecting import add_round, submit, writers


def test_a_cap_pauses_and_what_was_begun_is_paid(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Two who began before the cap are both paid in full; a third is told why it pauses, and the owner is told once."""
    info = add_round(db, blobs, owner, tmp_path, more="attempts = 1")
    put_policy(db, owner, "mood", "project_cap = 30")
    first, second, third = writers(db, 3)
    keys = [start_session(db, blobs, one, info.ref).key for one in (first, second)]
    for one, key in zip((first, second), keys, strict=True):
        submit(db, blobs, one, key, f"{one.name} had bad weather.")
    assert [one.amount for one in list_earnings(db, owner, "mood").earnings] == [30, 30]
    with pytest.raises(Conflict, match=r"used up\. New work pauses; what you have done is paid") as refused:
        start_session(db, blobs, third, info.ref)
    assert refused.value.code == "pay_cap"
    told = [one.text for one in list_notifications(db, owner) if one.kind == "pay.cap"]
    assert told == ["Work on mood pauses: 0.30 USD of 0.30 USD are used. Raise the cap to go on."]
    put_policy(db, owner, "mood", "project_cap = 100")
    assert start_session(db, blobs, third, info.ref).key


@pytest.mark.parametrize("cap", ["worker_cap", "worker_day_cap", "day_cap"])
def test_caps_on_workers_and_days(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, cap: str) -> None:
    """What one earned counts against oneself, and on a day against all; a session that lasts can be taken up."""
    info = add_round(db, blobs, owner, tmp_path, more="attempts = 2")
    put_policy(db, owner, "mood", f"{cap} = 30")
    one, other = writers(db, 2)
    key = start_session(db, blobs, one, info.ref).key
    for text in ("bad weather today", "bad food yesterday"):
        submit(db, blobs, one, key, text)
    with pytest.raises(Conflict, match="pauses"):
        start_session(db, blobs, one, info.ref)
    if cap == "day_cap":
        with pytest.raises(Conflict, match="for today is used up"):
            start_session(db, blobs, other, info.ref)
        return
    key = start_session(db, blobs, other, info.ref).key
    assert start_session(db, blobs, other, info.ref).key == key
    give_up(db, other, key)


def test_owners_hear_of_wages_below_their_promise(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """Once enough sessions are timed, an hour that pays less than was promised is said, once."""
    info = add_round(db, blobs, owner, tmp_path, more="attempts = 1\nminutes = 1")
    put_policy(db, owner, "mood", "hourly = 1000")
    people = writers(db, 7)
    for number, one in enumerate(people):
        if number == 5:
            with transaction(db):
                moment = select(WritingSession.started_at).limit(1).scalar_subquery()
                begun = db.scalar(select(moment)) - timedelta(minutes=6)
                db.execute(update(table_of(WritingSession)).values(started_at=begun))
        submit(db, blobs, one, start_session(db, blobs, one, info.ref).key, f"{one.name} was bad {number}.")
    told = [(one.kind, one.text) for one in list_notifications(db, owner) if one.kind == "pay.wage"]
    assert len(told) == 1
    assert "you promised 10.00 USD" in told[0][1]


def test_steps_pay_once(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """Whoever reaches a qualification that pays is paid for it, also when it is ended and given again, once."""
    info = add_round(db, blobs, owner, tmp_path)
    put_policy(db, owner, "mood", '[[steps]]\nqualification = "second"\namount = 500')
    with transaction(db):
        for held in (True, False, True):
            put_qualification(db, info.task_id, worker.user_id or 0, "second", held=held, reason="")
    assert [(one.kind, one.amount, one.what) for one in my_earnings(db, worker)] == [
        ("bonus", 500, "Qualified: second")
    ]


def test_policies_are_checked(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """Faults are named at their fields; only owners read and change a policy, and it is written as it was read."""
    add_round(db, blobs, owner, tmp_path, prompts=0, tables='[[conditions]]\nname = "blank"\nprompt = false')
    with pytest.raises(BadInput) as refused:
        put_policy(db, owner, "mood", 'hourly = -1\ncurrency = "dollars"', file="p")
    assert {one.field for one in refused.value.faults} == {"hourly", "currency"}
    with pytest.raises(BadInput, match="project_cap"):
        put_policy(db, owner, "mood", "worker_cap = 10\nproject_cap = 5")
    put_policy(db, owner, "mood", 'currency = "EUR"\nhourly = 1200')
    text = policy_text(db, owner, "mood").toml
    assert put_policy(db, owner, "mood", text) == get_policy(db, owner, "mood")
    for verb in (get_policy, policy_text):
        with pytest.raises(Forbidden):
            verb(db, worker, "mood")
