"""Sending payouts: nobody is paid twice, nobody is forgotten, whatever happens to calls and processes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy.orm import Session

from quintain.adapters.panels.prolific import Bonuses, Prolific
from quintain.core.errors import Conflict, Forbidden, NotFound, Unavailable
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.rounds import Money
from quintain.engine.process_names import is_gone, own_name
from quintain.services.pay import ledger, payouts
from quintain.services.pay.dispatch import LEASE, dispatch
from quintain.services.pay.earnings import decide, earn, my_earnings, my_totals
from quintain.services.tasks.definitions import find_row, put_task
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.pay import ledger as ledger_queries
from quintain.store.tables import PanelPerson, PanelStay, Payout
from tests.collecting import TASK
from tests.people import make_person
from tests.prolific_fake import TOKEN, FakeProlific, prolific_server
from tests.properties import examples

pytestmark = pytest.mark.both_databases
STUDY = "study1"
CALLS = [r"POST /bulk.*/pay/", "bonus-payments", "submissions/$"]
FAULTS = ["lost after", "lost before", "503", "400"]
NAME_AND_WAIT = """
import time
from quintain.engine.process_names import own_name
print(own_name(), flush=True)
time.sleep(60)
"""
PAY = r"POST /bulk.*/pay/"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeProlific]:
    """A server for the file; each test begins with an empty one."""
    with prolific_server() as fake:
        yield fake


@pytest.fixture
def fake(server: FakeProlific) -> FakeProlific:
    """The server as it was on its first day."""
    for known in (server.studies, server.submissions, server.bulks, server.groups):
        known.clear()
    for seen in (server.coming, server.calls, server.faults):
        seen.clear()
    server.currency, server.hook = "USD", None
    return server


@pytest.fixture
def bonuses(fake: FakeProlific) -> Iterator[Bonuses]:
    """A connection that does not wait long."""
    with Prolific(fake.url, TOKEN, timeout=5) as connection:
        yield Bonuses(connection)


def panel_people(db: Session, owner: Actor, fake: FakeProlific, count: int, amount: int = 150) -> list[Actor]:
    """Make people of the panel who earned something that is approved."""
    put_task(db, owner, TASK)
    task_id = find_row(db, "mood").id
    people = [make_person(db, f"p-{number}", RoleName.WORKER) for number in range(count)]
    with transaction(db):
        for one in people:
            outside = f"pid{one.user_id}"
            session = fake.arrive(STUDY, outside)
            db.add(
                PanelPerson(
                    user_id=one.user_id,
                    provider="prolific",
                    outside_id=outside,
                    confirmed_at=now(),
                    confirmed_by="panel",
                )
            )
            db.add(
                PanelStay(
                    place="validation:0", user_id=one.user_id, provider="prolific", study=STUDY, outside_session=session
                )
            )
            earn(db, one.user_id or 0, task_id, kind="bonus", work=f"b{one.user_id}", money=Money(amount))
    decide(db, owner, "mood", [one.id for person in people for one in my_earnings(db, person)])
    return people


def plan(db: Session, owner: Actor) -> int:
    """Plan the one payout that there is to plan."""
    (made,) = payouts.plan(db, owner, "mood", provider="prolific", currency="USD")
    with transaction(db):
        found = payouts.find_payout(db, owner, made.id)[0]
        found.study = STUDY
    return made.id


def test_a_payout_is_sent_and_booked(db: Session, owner: Actor, fake: FakeProlific, bonuses: Bonuses) -> None:
    """Set up, paid, booked: people are told, the books follow, and sending it again changes nothing."""
    one, other = panel_people(db, owner, fake, 2)
    number = plan(db, owner)
    with pytest.raises(Conflict, match="Nothing is approved"):
        payouts.plan(db, owner, "mood", provider="prolific", currency="USD")
    with pytest.raises(Conflict, match="on its way"):
        decide(db, owner, "mood", [my_earnings(db, one)[0].id], approved=False, reason="Too late.")
    done = dispatch(db, owner, number, bonuses)
    assert (done.state, [call.outcome for call in done.calls]) == ("sent", ["done", "done"])
    assert fake.bonuses() == {f"pid{one.user_id}": [150], f"pid{other.user_id}": [150]}
    assert [(total.kind, total.status, total.amount) for total in my_totals(db, one)] == [("bonus", "paid", 150)]
    assert my_earnings(db, one)[0].paid_at is not None
    dispatch(db, owner, number, bonuses)
    assert sum(method == "POST" for method, _ in fake.calls) == 2
    held = {account.holder: amount for account, amount in ledger_queries.balances(db, "provider:prolific").items()}
    assert held == {"provider:prolific": 300}
    assert ledger.check(db, OPERATOR).ok
    with pytest.raises(Conflict, match="cannot be cancelled"):
        payouts.cancel(db, owner, number)
    with pytest.raises(Forbidden):
        dispatch(db, one, number, bonuses)
    with pytest.raises(NotFound):
        payouts.get_payout(db, owner, 999)


@pytest.mark.parametrize("fault", ["lost after", "lost before", "503"])
def test_a_call_without_an_answer_is_never_made_twice(
    db: Session, owner: Actor, fake: FakeProlific, bonuses: Bonuses, fault: str
) -> None:
    """After a time-out the submissions say whether money moved; where they do not, the owner does."""
    (one,) = panel_people(db, owner, fake, 1)
    number = plan(db, owner)
    fake.faults.append((PAY, fault))
    assert dispatch(db, owner, number, bonuses).state == "unknown"
    assert dispatch(db, owner, number, bonuses).state == "unknown"  # bonuses do not show at once
    assert sum("/pay/" in path for _, path in fake.calls) == 1
    with pytest.raises(Conflict, match="cannot be cancelled"):
        payouts.cancel(db, owner, number)
    fake.tick()
    done = dispatch(db, owner, number, bonuses)
    if fault == "lost after":
        assert done.state == "sent"
    else:
        assert done.state == "unknown"
        assert payouts.resolve(db, owner, number, paid=False, note="Not on Prolific's list.").state == "planned"
        assert dispatch(db, owner, number, bonuses).state == "sent"
    assert fake.bonuses() == {f"pid{one.user_id}": [150]}
    assert ledger.check(db, OPERATOR).ok
    told = " ".join(call.reply for call in payouts.get_payout(db, owner, number).calls)
    assert f"pid{one.user_id}" not in told


def test_equal_bonuses_of_one_study_are_told_apart(
    db: Session, owner: Actor, fake: FakeProlific, bonuses: Bonuses
) -> None:
    """A bonus that was paid before, and shows late, is not taken for one whose answer did not come."""
    (one,) = panel_people(db, owner, fake, 1)
    assert dispatch(db, owner, plan(db, owner), bonuses).state == "sent"
    with transaction(db):
        earn(db, one.user_id or 0, find_row(db, "mood").id, kind="bonus", work="second", money=Money(150))
    decide(db, owner, "mood", [my_earnings(db, one)[0].id])
    number = plan(db, owner)
    fake.faults.append((PAY, "lost before"))
    assert dispatch(db, owner, number, bonuses).state == "unknown"
    fake.tick()
    assert dispatch(db, owner, number, bonuses).state == "unknown"
    payouts.resolve(db, owner, number, paid=False)
    assert dispatch(db, owner, number, bonuses).state == "sent"
    assert fake.bonuses() == {f"pid{one.user_id}": [150, 150]}


def test_what_the_panel_refuses_can_be_tried_again_or_given_up(
    db: Session, owner: Actor, fake: FakeProlific, bonuses: Bonuses
) -> None:
    """A refusal moves no money: its reason stands there, and its earnings can go into another payout."""
    (one,) = panel_people(db, owner, fake, 1)
    number = plan(db, owner)
    fake.faults.append((r"bonus-payments", "lost after"))
    with pytest.raises(Unavailable, match="does not answer"):
        dispatch(db, owner, number, bonuses)
    fake.faults.append((PAY, "400"))
    refused = dispatch(db, owner, number, bonuses)
    assert (refused.state, "asked for" in refused.reason) == ("refused", True)
    fake.currency = "GBP"
    with pytest.raises(Conflict, match="pays in GBP, and this payout is in USD") as mismatch:
        dispatch(db, owner, number, bonuses)
    assert mismatch.value.code == "currency_mismatch"
    fake.currency = "USD"
    assert payouts.cancel(db, owner, number).state == "cancelled"
    assert fake.bonuses() == {f"pid{one.user_id}": []}
    assert dispatch(db, owner, plan(db, owner), bonuses).state == "sent"
    assert fake.bonuses() == {f"pid{one.user_id}": [150]}


def test_whatever_goes_wrong_each_is_paid_once(db: Session, owner: Actor, fake: FakeProlific, bonuses: Bonuses) -> None:
    """Any order of lost calls, errors and refusals, with bonuses that show late: paid once, and booked once."""
    (one,) = panel_people(db, owner, fake, 1)
    person, owed = f"pid{one.user_id}", [150]

    def pay_once(faults: list[tuple[str, str]]) -> None:
        amount = 150 + len(owed)
        with transaction(db):
            earn(db, one.user_id or 0, find_row(db, "mood").id, kind="bonus", work=f"n{len(owed)}", money=Money(amount))
        decide(db, owner, "mood", [my_earnings(db, one)[0].id])
        owed.append(amount)
        number = plan(db, owner)
        fake.faults[:] = faults
        for _ in range(12):
            with suppress(Unavailable, Conflict):
                if dispatch(db, owner, number, bonuses).state == "sent":
                    break
            fake.tick()
            if payouts.get_payout(db, owner, number).state == "unknown" and not fake.faults:
                payouts.resolve(db, owner, number, paid=amount in fake.bonuses()[person])
        assert payouts.get_payout(db, owner, number).state == "sent"
        assert fake.bonuses()[person] == sorted(owed)

    assert dispatch(db, owner, plan(db, owner), bonuses).state == "sent"
    chance = random.Random(3)  # noqa: S311 - no secret
    for _ in range(examples(8)):
        pay_once([(chance.choice(CALLS), chance.choice(FAULTS)) for _ in range(chance.randint(0, 4))])
    assert ledger.check(db, OPERATOR).ok


def test_by_hand(db: Session, owner: Actor, worker: Actor, fake: FakeProlific, bonuses: Bonuses) -> None:
    """People whom no panel knows are paid from a file; the owner says when that is done, once."""
    put_task(db, owner, TASK)
    with transaction(db):
        earn(db, worker.user_id or 0, find_row(db, "mood").id, kind="base", work="w", money=Money(1205, "EUR"))
    decide(db, owner, "mood", [my_earnings(db, worker)[0].id])
    assert [(one.provider, str(one.money)) for one in payouts.owed(db, owner, "mood")] == [("hand", "12.05 EUR")]
    (made,) = payouts.plan(db, owner, "mood", provider="hand", currency="EUR")
    text = payouts.export(db, owner, made.id)
    assert text.splitlines()[1].startswith(f"{worker.name},12.05,EUR,pay-")
    with pytest.raises(Conflict, match="by hand"):
        dispatch(db, owner, made.id, bonuses)
    assert payouts.resolve(db, owner, made.id, paid=True).state == "sent"
    with pytest.raises(Conflict, match="nothing to say"):
        payouts.resolve(db, owner, made.id, paid=True)
    assert my_earnings(db, worker)[0].status == "paid"
    assert ledger.check(db, OPERATOR).ok


def held_by(db: Session, number: int, holder: str) -> None:
    """Let a process have begun to send a payout, and not have ended."""
    with transaction(db):
        row = db.get_one(Payout, number)
        row.holder, row.lease_until = holder, now() + LEASE


def test_a_refusal_says_until_when_somebody_else_sends(
    db: Session, owner: Actor, fake: FakeProlific, bonuses: Bonuses
) -> None:
    """The time stands in it, and what to do then: here and on another machine nobody knows who is gone."""
    panel_people(db, owner, fake, 1)
    number = plan(db, owner)
    for holder in (own_name(), "elsewhere/pid:[1]/1:1", ""):
        held_by(db, number, holder)
        with pytest.raises(Conflict, match=r"until \d\d:\d\d:\d\d UTC at the latest.*quintain pay send") as refused:
            dispatch(db, owner, number, bonuses)
        assert refused.value.code == "being_sent"
    assert fake.bulks == {}


def test_who_was_killed_on_this_machine_is_followed_at_once(
    db: Session, owner: Actor, fake: FakeProlific, bonuses: Bonuses
) -> None:
    """A process that no longer runs holds nothing: what came of its call is looked up, and nobody is paid twice."""
    panel_people(db, owner, fake, 1)
    number = plan(db, owner)
    with subprocess.Popen([sys.executable, "-c", NAME_AND_WAIT], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        holder = process.stdout.readline().strip()
        held_by(db, number, holder)
        with pytest.raises(Conflict, match="Somebody else"):
            dispatch(db, owner, number, bonuses)
        process.kill()
    assert is_gone(holder)
    assert dispatch(db, owner, number, bonuses).state == "sent"
    assert [len(one) for one in fake.bonuses().values()] == [1]
