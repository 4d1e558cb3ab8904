"""Base pay and approvals: who has an open submission is paid by approving it, and what was paid twice is found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.adapters.contract import EndpointSecret, Outside
from quintain.adapters.panels.prolific import signature
from quintain.compose import Workspace
from quintain.core.errors import Conflict, NotSignedIn
from quintain.core.ledger import Account
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, Scope
from quintain.core.records.pay import PayoutRecord
from quintain.core.rounds import Money
from quintain.services.access.notify import list_notifications
from quintain.services.access.tokens import create_token
from quintain.services.collect.panels import entry
from quintain.services.collect.panels import prolific as panel
from quintain.services.collect.panels.admission import Visitor
from quintain.services.collect.panels.panel_people import confirm_guests
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.services.pay import ledger, overpaid, payouts, prolific
from quintain.services.pay.earnings import Kind, decide, earn, list_earnings, my_earnings
from quintain.services.pay.policy import put_policy
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.pay import ledger as ledger_queries
from quintain.store.tables import PanelPerson, PanelVisit
from quintain.web.app import create_app
from tests.collecting import add_round
from tests.prolific_fake import TOKEN, FakeProlific, prolific_server
from tests.refusals import refusal

ENTRY = '[entry]\nprovider = "prolific"\ncompletion_code = "C1ABC"'
POLICY = '[prolific]\nsecret = "prolific"\nproject = "proj"\nhooks = "hooks"'
SECRET = "whisper"
STUDY = "study1"
PID = "5f" * 12


@pytest.fixture
def fake() -> Iterator[FakeProlific]:
    """A server of its own for each test, with a study that pays 50 cents."""
    with prolific_server() as server:
        server.studies[STUDY] = {"id": STUDY, "status": "ACTIVE", "reward": 50}
        yield server


@pytest.fixture
def outside(fake: FakeProlific) -> Outside:
    """The operator's keys."""
    keys = {"prolific": EndpointSecret(fake.url, TOKEN), "hooks": EndpointSecret(fake.url, SECRET)}
    return Outside(secrets=keys)


@pytest.fixture
def info(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> RoundInfo:
    """A round for people from Prolific."""
    made = add_round(db, blobs, owner, tmp_path, more="attempts = 2", tables=ENTRY)
    put_policy(db, owner, "mood", POLICY)
    return made


@pytest.fixture
def person(db: Session, owner: Actor, info: RoundInfo, fake: FakeProlific) -> Actor:
    """Somebody whose submission waits for review, with 50 cents of base pay that are approved."""
    return earned(db, owner, info, arrived(db, fake, info), 50)


def arrived(db: Session, fake: FakeProlific, info: RoundInfo, status: str = "AWAITING REVIEW") -> Actor:
    """Let somebody come from the study."""
    ids = {"PROLIFIC_PID": PID, "STUDY_ID": STUDY, "SESSION_ID": fake.arrive(STUDY, PID, status)}
    actor = entry.enter(db, info.entry_key, ids, Visitor()).actor
    assert actor is not None
    return actor


def earned(db: Session, owner: Actor, info: RoundInfo, person: Actor, amount: int, kind: Kind = "base") -> Actor:
    """Let somebody have earned an amount that is approved."""
    confirm_guests(db, owner, "mood", [person.name])
    with transaction(db):
        work = f"{kind}:{len(my_earnings(db, person))}"
        earn(db, person.user_id or 0, info.task_id, kind=kind, work=work, money=Money(amount), round_id=info.id)
    decide(db, owner, "mood", [one.id for one in list_earnings(db, owner, "mood", status="pending").earnings])
    return person


def plan(db: Session, owner: Actor, outside: Outside, *, approvals: bool = False) -> list[PayoutRecord]:
    """Plan payouts through Prolific as every caller does."""
    about = {"provider": "prolific", "currency": "USD"}
    return prolific.plan(db, owner, "mood", outside, **about, approvals=approvals)


def paid_before(db: Session, owner: Actor, outside: Outside, fake: FakeProlific) -> PayoutRecord:
    """Pay base pay as a bonus after the submission was returned; then it is approved on the panel all the same."""
    fake.submissions[f"s-{STUDY}-{PID}"]["status"] = "RETURNED"
    (bonus,) = plan(db, owner, outside)
    prolific.send(db, owner, bonus.id, outside)
    fake.submissions[f"s-{STUDY}-{PID}"]["status"] = "APPROVED"
    return bonus


def told(db: Session, outside: Outside, status: str) -> None:
    """Let Prolific send a message about the submission."""
    event = {"event_type": "submission.status.change", "resource_id": f"s-{STUDY}-{PID}", "status": status}
    body, stamp = json.dumps(event).encode(), str(int(now().timestamp()))
    headers = {"x-prolific-request-timestamp": stamp, "x-prolific-request-signature": signature(SECRET, stamp, body)}
    panel.take_event(db, "mood", outside, headers, body)


@pytest.mark.usefixtures("person")
def test_base_pay_of_an_open_submission_is_paid_by_approving_it_only(
    db: Session, owner: Actor, outside: Outside, fake: FakeProlific
) -> None:
    """Bonuses are refused while the submission waits, whoever plans them; its approval pays, once."""
    for planned in (
        lambda: plan(db, owner, outside),
        lambda: plan(db, owner, Outside()),  # without the key, nothing that may be open counts as over
        lambda: payouts.plan(db, owner, "mood", provider="prolific", currency="USD"),
    ):
        with refusal(Conflict, "waits_for_approval") as refused:
            planned()
        assert refused.value.code == "waits_for_approval"
    (approval,) = plan(db, owner, outside, approvals=True)
    prolific.send(db, owner, approval.id, outside)
    assert (approval.amount, fake.bonuses()) == (50, {PID: []})
    with pytest.raises(Conflict, match="Nothing is approved"):
        plan(db, owner, outside)
    assert ledger.check(db, OPERATOR).ok


def test_bonuses_are_paid_while_base_pay_waits(
    db: Session, owner: Actor, info: RoundInfo, outside: Outside, person: Actor
) -> None:
    """What is no base pay goes into a payout at once, and the base pay does not."""
    earned(db, owner, info, person, 70, "bonus")
    (bonus,) = plan(db, owner, outside)
    assert bonus.amount == 70


def test_another_panel_or_a_file_does_not_pay_it_either(
    db: Session, owner: Actor, outside: Outside, person: Actor
) -> None:
    """Somebody whom another panel knows as well has the same submission: no provider pays beside it."""
    with transaction(db):
        db.add(PanelPerson(user_id=person.user_id, provider="mturk", outside_id="A1"))
    for provider in ("mturk", "prolific"):
        with refusal(Conflict, "waits_for_approval"):
            prolific.plan(db, owner, "mood", outside, provider=provider, currency="USD")


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT", "REJECTED"])
def test_a_submission_that_is_over_is_paid_by_a_bonus(
    db: Session, owner: Actor, outside: Outside, fake: FakeProlific, status: str
) -> None:
    """Work is paid also where there is nothing left to approve."""
    fake.submissions[f"s-{STUDY}-{PID}"]["status"] = status
    (bonus,) = plan(db, owner, outside)
    assert prolific.send(db, owner, bonus.id, outside).state == "sent"
    assert fake.bonuses() == {PID: [50]}


def test_a_changed_address_hides_no_submission(
    db: Session, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """Who comes with a session of their own making still has the submission that the panel knows."""
    fake.arrive(STUDY, PID)
    ids = {"PROLIFIC_PID": PID, "STUDY_ID": STUDY, "SESSION_ID": "made-up"}
    actor = entry.enter(db, info.entry_key, ids, Visitor()).actor
    assert actor is not None
    earned(db, owner, info, actor, 50)
    with refusal(Conflict, "waits_for_approval"):
        plan(db, owner, outside)


@pytest.mark.usefixtures("person")
def test_a_planned_bonus_is_not_sent_once_the_submission_is_open(
    db: Session, owner: Actor, outside: Outside, fake: FakeProlific
) -> None:
    """What was planned before the rule, or before somebody came, is looked at again before money moves."""
    fake.submissions[f"s-{STUDY}-{PID}"]["status"] = "RETURNED"
    (bonus,) = plan(db, owner, outside)
    with transaction(db):
        db.execute(update(PanelVisit).values(standing="waiting"))
    with refusal(Conflict, "waits_for_approval"):
        prolific.send(db, owner, bonus.id, outside)
    assert fake.bulks == {}


@pytest.mark.usefixtures("person")
def test_a_lost_message_does_not_keep_a_submission_from_being_approved(
    db: Session, owner: Actor, outside: Outside
) -> None:
    """What waits on the panel is complete, also where nobody fetched the code."""
    assert db.scalar(select(PanelVisit.completed_at)) is None
    assert [one.step for one in plan(db, owner, outside, approvals=True)] == ["approve"]


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("found_by", ["message", "plan"])
def test_an_approval_of_what_was_paid_is_booked_and_flagged(
    db: Session, owner: Actor, outside: Outside, fake: FakeProlific, found_by: str
) -> None:
    """It stands in the books, `pay check` names it until the owner has answered, and the owner is told."""
    paid_before(db, owner, outside, fake)
    if found_by == "message":
        told(db, outside, "APPROVED")
    else:
        assert [one.step for one in plan(db, owner, outside, approvals=True)] == ["overpaid"]
    (twice,) = [one for one in payouts.list_payouts(db, owner, "mood").payouts if one.step == "overpaid"]
    assert (twice.amount, twice.over, twice.state, twice.answer) == (50, 50, "sent", "")
    assert ledger_queries.balance(db, Account("provider:prolific", "paid", "USD")) == 100
    assert any("paid twice" in one.text for one in list_notifications(db, owner))
    found = ledger.check(db, OPERATOR)
    assert [one.place for one in found.discrepancies] == [f"payout {twice.id} was paid twice"]
    told(db, outside, "APPROVED ")  # another message about the same submission
    assert len(payouts.list_payouts(db, owner, "mood").payouts) == 2
    overpaid.answer(db, owner, twice.id, hold_back=False)
    assert ledger.check(db, OPERATOR).ok


@pytest.mark.usefixtures("person")
def test_an_approval_of_which_the_panel_does_not_say_the_amount_is_named(
    db: Session, owner: Actor, outside: Outside, fake: FakeProlific
) -> None:
    """The message is taken all the same, and the check says what is missing until it can be booked."""
    paid_before(db, owner, outside, fake)
    fake.faults.append((r"GET /studies/.*", "503"))
    told(db, outside, "APPROVED")
    (named,) = ledger.check(db, OPERATOR).discrepancies
    assert (named.booked, named.counted) == ("nowhere", "approved on the panel")
    fake.faults.clear()
    assert [one.step for one in plan(db, owner, outside, approvals=True)] == ["overpaid"]


@pytest.mark.parametrize("later", [[20, 100], [50], [30]])
def test_later_pay_is_held_back_only_if_the_owner_says_so(
    db: Session, owner: Actor, info: RoundInfo, outside: Outside, fake: FakeProlific, person: Actor, later: list[int]
) -> None:
    """The same amount, and no more, comes out of later bonuses; people are told, and the books agree."""
    paid_before(db, owner, outside, fake)
    (twice,) = plan(db, owner, outside, approvals=True)
    first = earned(db, owner, info, person, 10, "bonus")
    (whole,) = plan(db, owner, outside)
    assert whole.amount == 10
    with pytest.raises(NotSignedIn):
        overpaid.answer(db, ANONYMOUS, twice.id, hold_back=True)
    with pytest.raises(Conflict, match="paid nothing twice"):
        overpaid.answer(db, owner, whole.id, hold_back=True)
    overpaid.answer(db, owner, twice.id, hold_back=True)
    for amount in later:
        earned(db, owner, info, first, amount, "bonus")
    try:
        rest = [one.amount for one in plan(db, owner, outside)]
    except Conflict:
        rest = []
    left = max(0, sum(later) - 50)
    assert rest == ([left] if left else [])
    assert payouts.get_payout(db, owner, twice.id).over == max(0, 50 - sum(later))
    assert any("held back" in one.text for one in list_notifications(db, person))
    for one in payouts.list_payouts(db, owner, "mood").payouts:
        if one.state == "planned":
            prolific.send(db, owner, one.id, outside)
    paid = ledger_queries.balance(db, Account("provider:prolific", "paid", "USD"))
    assert paid == 100 + 10 + left  # what was paid twice comes back, and nothing more
    assert payouts.owed(db, owner, "mood") == []
    assert ledger.check(db, OPERATOR).ok


def test_every_caller_meets_the_rule(
    workspace: Workspace,
    db: Session,
    owner: Actor,
    person: Actor,
    fake: FakeProlific,
    tmp_path: Path,
) -> None:
    """Planning through the API without `approvals` is refused with the same code."""
    keys = f'[prolific]\nendpoint = "{fake.url}"\nkey = "{TOKEN}"\n'
    (tmp_path / "keys.toml").write_text(keys)
    token, _ = create_token(db, owner, "test", scopes=(Scope.OWN,))
    db.commit()
    site = replace(workspace, settings=replace(workspace.settings, secrets=str(tmp_path / "keys.toml")))
    with TestClient(create_app(site)) as client:
        reply = client.post(
            "/api/v1/tasks/mood/payouts",
            json={"provider": "prolific", "currency": "USD"},
            headers={"authorization": f"Bearer {token}"},
        )
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "waits_for_approval")
    assert [one.status for one in my_earnings(db, person)] == ["approved"]
