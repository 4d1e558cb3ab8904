"""Prolific: studies that lead to rounds, approvals and bonuses by the ledger, groups, and signed messages."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.adapters.contract import EndpointSecret, Outside
from quintain.adapters.panels.prolific import signature
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotSignedIn, Unreadable
from quintain.core.ledger import Account
from quintain.core.people import ANONYMOUS, OPERATOR, Actor
from quintain.core.rounds import Money
from quintain.services.access.notify import list_notifications
from quintain.services.collect.panels import entry, prolific
from quintain.services.collect.panels.admission import Visitor
from quintain.services.collect.panels.panel_people import confirm_guests
from quintain.services.collect.rounds.manage import RoundInfo, get_round
from quintain.services.collect.writing.sessions import start_session
from quintain.services.pay import ledger, payouts
from quintain.services.pay import prolific as paying
from quintain.services.pay.earnings import Kind, decide, earn, grant_bonus, list_earnings
from quintain.services.pay.policy import put_policy
from quintain.services.tasks.definitions import put_task
from quintain.services.trial import panel_entry, studies
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from quintain.services.validate.console.manage import open_validation
from quintain.services.validate.judging import panel_entry as judging_doors
from quintain.services.work.qualify import put_qualification
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.pay import ledger as ledger_queries
from quintain.store.tables import CrowdArm, CrowdEvent, PanelStay, PanelVisit
from quintain.web.app import create_app
from tests.collecting import TASK, add_round, submit
from tests.integration.trial.life import PLAIN, TRAINED, WHERE
from tests.prolific_fake import TOKEN, FakeProlific, pid, prolific_server
from tests.properties import examples
from tests.refusals import refusal

ENTRY = '[entry]\nprovider = "prolific"\ncompletion_code = "C1ABC"'
POLICY = '[prolific]\nsecret = "prolific"\nproject = "proj"\nhooks = "hooks"'
SECRET = "whisper"
SIGNED = "x-prolific-request-signature"


@pytest.fixture
def fake() -> Iterator[FakeProlific]:
    """A server of its own for each test."""
    with prolific_server() as found:
        yield found


@pytest.fixture
def outside(fake: FakeProlific) -> Outside:
    """The operator's keys."""
    keys = {"prolific": EndpointSecret(fake.url, TOKEN), "hooks": EndpointSecret(fake.url, SECRET)}
    return Outside(secrets=keys)


@pytest.fixture
def info(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> RoundInfo:
    """A round for people from Prolific; a session of two attempts pays 30 cents."""
    found = add_round(db, blobs, owner, tmp_path, more="attempts = 2", tables=ENTRY)
    put_policy(db, owner, "mood", POLICY)
    return found


def work(db: Session, blobs: Blobs, fake: FakeProlific, info: RoundInfo, person: str, attempts: int = 2) -> Actor:
    """Let somebody come from the study, write, and go back with the code."""
    session = fake.arrive("study1", pid(person))
    ids = {"PROLIFIC_PID": pid(person), "STUDY_ID": "study1", "SESSION_ID": session}
    actor = entry.enter(db, info.entry_key, ids, Visitor()).actor
    assert actor is not None
    key = start_session(db, blobs, actor, info.ref).key
    for number in range(attempts):
        submit(db, blobs, actor, key, f"{person} had bad weather, part {number}.")
    return actor


def test_a_study_leads_to_the_round(
    db: Session, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """A draft with the round's address, code, reward and places; places grow; another currency is refused."""
    made = studies.create_study(db, owner, info.ref, outside, "https://q.example", places=20, group="group1")
    study = fake.studies[made.study]
    assert study["external_study_url"].startswith(f"https://q.example/enter/{info.entry_key}?PROLIFIC_PID=")
    assert (study["reward"], study["total_available_places"], study["completion_codes"][0]["code"]) == (30, 20, "C1ABC")
    assert study["filters"][0]["selected_values"] == ["group1"]
    assert prolific.change_study(db, owner, info.ref, made.study, outside, action="publish").status == "ACTIVE"
    assert prolific.change_study(db, owner, info.ref, made.study, outside, places=30).places == 30
    with pytest.raises(Conflict, match="only be increased"):
        prolific.change_study(db, owner, info.ref, made.study, outside, places=5)
    with pytest.raises(BadInput, match="not one of"):
        prolific.change_study(db, owner, info.ref, made.study, outside, action="explode")
    fake.currency = "GBP"
    with pytest.raises(Conflict, match="pays in GBP"):
        studies.create_study(db, owner, info.ref, outside, "https://q.example", places=20)
    with pytest.raises(Forbidden, match="no key called"):
        studies.create_study(db, owner, info.ref, Outside(), "https://q.example", places=20)


TRIAL_DOORS = """
batch = 4
[entry]
provider = "prolific"
completion_code = "TOOKPART"
[grading]
provider = "prolific"
completion_code = "GRADED"
"""


def test_studies_lead_to_a_trial_to_its_grading_and_to_judging(
    db: Session, blobs: Blobs, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """Each has the address of its door, its code, and the pay of what the code is given for: no arm shows by it."""
    put_trial(db, owner, *WHERE, [PLAIN, TRAINED], title="Mood of texts")
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    ref = "/".join(WHERE)

    def made(to: studies.To, where: str = ref, reward: int | None = None) -> tuple[str, int, int, str]:
        found = studies.create_study(db, owner, where, outside, "https://q.example", to=to, places=9, reward=reward)
        assert found.round == where
        study = fake.studies[found.study]
        minutes, code = study["estimated_completion_time"], study["completion_codes"][0]["code"]
        return study["external_study_url"], study["reward"], minutes, code

    with pytest.raises(Conflict, match="does not take people from Prolific"):
        made("trial")
    entries = panel_entry.put_doors(db, owner, *WHERE, TRIAL_DOORS, base_url="https://q.example")
    assert made("trial") == (entries.entry, 100, 30, "TOOKPART")
    with pytest.raises(BadInput, match="would pay"):
        made("grading")
    assert made("grading", reward=250) == (entries.grading, 250, 10, "GRADED")
    paid = f"experts = true\nexpert_pay = 40\n{TRIAL_DOORS}"
    panel_entry.put_doors(db, owner, *WHERE, paid, base_url="https://q.example")
    assert made("grading")[1] == 160
    text = f"page_size = 5\nseconds_per_item = 30\n[reward]\namount = 75\ncurrency = 'USD'\n{ENTRY}"
    open_validation(db, owner, info.ref, text)
    address, reward, minutes, code = made("judging", "mood/1")
    assert (reward, minutes, code) == (75, 3, "C1ABC")
    assert address == judging_doors.judging_entry(db, owner, "mood/1", "https://q.example").url
    with pytest.raises(BadInput, match="not one of round"):
        made("nowhere")  # type: ignore[arg-type]
    study = next(iter(fake.studies))
    assert prolific.change_study(db, owner, "mood", study, outside, action="publish").status == "ACTIVE"
    with pytest.raises(NotSignedIn):
        studies.create_study(db, ANONYMOUS, ref, outside, "https://q.example", to="trial", places=9)


def test_approvals_and_bonuses_pay_what_was_earned(
    db: Session, blobs: Blobs, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """The approval covers base pay up to the study's reward, also after a lost answer; the rest goes as a bonus."""
    fake.studies["study1"] = {"id": "study1", "status": "ACTIVE", "reward": 50}
    person = work(db, blobs, fake, info, "pid1")
    entry.complete(db, person, info.ref)
    grant_bonus(db, owner, "mood", person.name, Money(120), what="Well done", key="b1")
    decide(db, owner, "mood", [one.id for one in list_earnings(db, owner, "mood").earnings])
    (made,) = paying.plan_approvals(db, owner, "mood", outside, currency="USD")
    assert (made.amount, made.step) == (50, "approve")
    fake.faults.append((r"POST /submissions/.*/transition/", "lost after"))
    assert paying.send(db, owner, made.id, outside).state == "unknown"
    assert paying.send(db, owner, made.id, outside).state == "sent"
    assert [one["status"] for one in fake.submissions.values()] == ["APPROVED"]
    with pytest.raises(Conflict, match="No submission waits"):
        paying.plan_approvals(db, owner, "mood", outside, currency="USD")
    (bonus,) = payouts.plan(db, owner, "mood", provider="prolific", currency="USD")
    assert (bonus.study, bonus.amount) == ("study1", 120)
    assert paying.send(db, owner, bonus.id, outside).state == "sent"
    assert fake.bonuses() == {pid("pid1"): [120]}
    paid = sorted((one.what, one.amount, one.status) for one in list_earnings(db, owner, "mood").earnings)
    assert ("The rest of the study’s reward", 20, "paid") in paid
    assert {status for _, _, status in paid} == {"paid"}
    assert ledger.check(db, OPERATOR).ok


def arrived(db: Session, fake: FakeProlific, info: RoundInfo, person: str, study: str) -> Actor:
    """Let somebody come from a study, whose work Prolific says is done."""
    ids = {"PROLIFIC_PID": pid(person), "STUDY_ID": study, "SESSION_ID": fake.arrive(study, pid(person))}
    actor = entry.enter(db, info.entry_key, ids, Visitor()).actor
    assert actor is not None
    with transaction(db):
        db.execute(update(PanelVisit).where(PanelVisit.study == study).values(completed_at=now()))
    return actor


def pay_all(db: Session, owner: Actor, outside: Outside) -> list[tuple[str, int]]:
    """Plan and send approvals, then bonuses, until nothing is left; give the step and amount of each payout."""
    made = []
    plans = (
        lambda: paying.plan_approvals(db, owner, "mood", outside, currency="USD"),
        lambda: payouts.plan(db, owner, "mood", provider="prolific", currency="USD"),
    )
    for plan in plans:
        try:
            found = plan()
        except Conflict:  # there is nothing to pay this way
            continue
        for one in found:
            assert paying.send(db, owner, one.id, outside).state == "sent"
            made.append((one.step, one.amount))
    return made


def earned(db: Session, info: RoundInfo, person: Actor, amounts: list[int], *, kind: Kind = "base") -> None:
    """Let somebody have earned some amounts."""
    with transaction(db):
        for amount in amounts:
            work = f"made:{uuid.uuid4().hex}"
            earn(db, person.user_id or 0, info.task_id, kind=kind, work=work, money=Money(amount), round_id=info.id)


def approve(db: Session, owner: Actor) -> None:
    """Approve what is pending."""
    decide(db, owner, "mood", [one.id for one in list_earnings(db, owner, "mood", status="pending").earnings])


@settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(base=st.lists(st.integers(1, 900), max_size=4), bonus=st.integers(0, 300), reward=st.integers(1, 1200))
def test_people_get_what_the_ledger_says_they_earned(
    db: Session,
    owner: Actor,
    info: RoundInfo,
    fake: FakeProlific,
    outside: Outside,
    base: list[int],
    bonus: int,
    reward: int,
) -> None:
    """Approval and bonuses add up to what was earned, or to the reward where that is more, and the books agree.

    Who has earned nothing here is not approved, whatever Prolific says of them.
    """
    study = f"study{len(fake.studies) + 1}"
    fake.studies[study] = {"id": study, "status": "ACTIVE", "reward": reward}
    person = arrived(db, fake, info, f"pid-{study}", study)
    earned(db, info, person, base)
    earned(db, info, person, [bonus] if bonus else [], kind="bonus")
    if base or bonus:
        approve(db, owner)
    got = sum(amount for _, amount in pay_all(db, owner, outside))
    assert got == (max(sum(base), reward) if base else 0) + bonus
    balances = ledger_queries.balances(db, f"worker:{person.user_id}")
    assert got == sum(amount for account, amount in balances.items() if account.name.startswith(("base.", "bonus.")))
    assert {one.name for one, amount in balances.items() if amount} <= {
        "base.paid",
        "bonus.paid",
        f"task.{info.task_id}",
    }
    sent = sum(one.amount for one in payouts.list_payouts(db, owner, "mood", limit=1000).payouts)
    assert ledger_queries.balance(db, Account("provider:prolific", "paid", "USD")) == sent
    assert payouts.owed(db, owner, "mood") == []
    assert ledger.check(db, OPERATOR).ok


def test_the_reward_is_paid_ahead_of_what_it_does_not_cover(
    db: Session, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """Twice 3.50 with a reward of 5.00 is 7.00: the rest waits for the approval, and is all if that is cancelled."""
    fake.studies["study1"] = {"id": "study1", "status": "ACTIVE", "reward": 500}
    person = arrived(db, fake, info, "pid1", "study1")
    earned(db, info, person, [350, 350])
    approve(db, owner)
    (first,) = paying.plan_approvals(db, owner, "mood", outside, currency="USD")
    with pytest.raises(Conflict, match="Nothing is approved"):
        payouts.plan(db, owner, "mood", provider="prolific", currency="USD")
    with pytest.raises(Conflict, match="on its way"):
        decide(
            db,
            owner,
            "mood",
            [one.id for one in list_earnings(db, owner, "mood").earnings][:1],
            approved=False,
            reason="x",
        )
    assert [one.amount for one in payouts.owed(db, owner, "mood")] == [200]
    payouts.cancel(db, owner, first.id)
    assert [one.amount for one in payouts.owed(db, owner, "mood")] == [700]
    (again,) = paying.plan_approvals(db, owner, "mood", outside, currency="USD")
    paying.send(db, owner, again.id, outside)
    held = ledger_queries.balance(db, Account(f"worker:{person.user_id}", "ahead", "USD"))
    (rest,) = payouts.plan(db, owner, "mood", provider="prolific", currency="USD")
    assert (again.amount, held, rest.amount) == (500, 150, 200)
    paying.send(db, owner, rest.id, outside)
    assert fake.bonuses() == {pid("pid1"): [200]}


def test_bonuses_pay_what_is_left_when_they_are_planned(
    db: Session, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An approval that is planned while bonuses are takes its part out of them: nothing is paid twice."""
    fake.studies["study1"] = {"id": "study1", "status": "ACTIVE", "reward": 500}
    person = arrived(db, fake, info, "pid1", "study1")
    confirm_guests(db, owner, "mood", everybody=True)
    earned(db, info, person, [350, 350])
    approve(db, owner)
    with transaction(db):  # the panel had ended the submission, and has opened it again since
        db.execute(update(PanelVisit).values(standing="over"))
    parts, approvals = payouts._parts, []

    def late(*given: Any) -> Any:
        found = [*parts(*given)]  # as it was before the other one came
        approvals.extend(paying.plan_approvals(db, owner, "mood", outside, currency="USD"))
        return found

    monkeypatch.setattr(payouts, "_parts", late)
    assert payouts.plan(db, owner, "mood", provider="prolific", currency="USD") == []
    monkeypatch.undo()
    (first,) = approvals
    paying.send(db, owner, first.id, outside)
    assert pay_all(db, owner, outside) == [("bonus", 200)]
    assert ledger.check(db, OPERATOR).ok


def test_only_experts_who_graded_are_approved_without_an_earning(
    db: Session, blobs: Blobs, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """Three say on Prolific that they are done: an expert who graded, one who did nothing, one who never wrote."""
    fake.studies["study1"] = {"id": "study1", "status": "ACTIVE", "reward": 500}
    put_trial(db, owner, *WHERE, [PLAIN, TRAINED], title="Mood of texts")
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    arrived(db, fake, info, "pid1", "study1")
    expert, idle = (arrived(db, fake, info, name, f"other-{name}") for name in ("pid2", "pid3"))
    confirm_guests(db, owner, "mood", everybody=True)
    with transaction(db):
        db.execute(delete(PanelVisit).where(PanelVisit.study != "study1"))
        arm = db.scalars(select(CrowdArm)).first()
        assert arm is not None
        stay = {"place": f"grading:{arm.trial_id}", "provider": "prolific", "study": "study1", "completed_at": now()}
        db.add_all(PanelStay(user_id=one.user_id, outside_session=str(one.user_id), **stay) for one in (expert, idle))
        db.add(CrowdEvent(arm_id=arm.id, number=1000, token="t", body={}, user_id=expert.user_id))
    (made,) = paying.plan_approvals(db, owner, "mood", outside, currency="USD")
    assert (made.people, made.amount) == (1, 500)
    (paid,) = list_earnings(db, owner, "mood").earnings
    assert (paid.worker, paid.amount) == (expert.name, 500)


def test_who_waits_for_a_decision_is_not_given_the_reward_beforehand(
    db: Session, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """While some of what somebody earned is pending, nobody knows whether the reward is more: it is not topped up."""
    fake.studies["study1"] = {"id": "study1", "status": "ACTIVE", "reward": 500}
    person = arrived(db, fake, info, "pid1", "study1")
    earned(db, info, person, [350])
    approve(db, owner)
    earned(db, info, person, [350])
    with pytest.raises(Conflict, match="No submission waits"):
        paying.plan_approvals(db, owner, "mood", outside, currency="USD")
    approve(db, owner)
    assert pay_all(db, owner, outside) == [("approve", 500), ("bonus", 200)]


def test_groups_follow_qualifications(
    db: Session, blobs: Blobs, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """Holders are put into the group, and whose qualification ended is taken out."""
    one, other = (work(db, blobs, fake, info, name, 1) for name in ("pid1", "pid2"))
    with transaction(db):
        for person in (one, other):
            put_qualification(db, info.task_id, person.user_id or 0, "second", held=True, reason="")
    made = prolific.sync_group(db, owner, "mood", "second", outside)
    assert (made.people, fake.groups[made.group]["people"]) == (2, {pid("pid1"), pid("pid2")})
    with transaction(db):
        put_qualification(db, info.task_id, other.user_id or 0, "second", held=False, reason="")
    prolific.sync_group(db, owner, "mood", "second", outside, group=made.group)
    assert fake.groups[made.group]["people"] == {pid("pid1")}


def test_signed_messages_are_taken_once(
    db: Session, blobs: Blobs, owner: Actor, info: RoundInfo, fake: FakeProlific, outside: Outside
) -> None:
    """A message completes the session that it names; wrong, old and repeated ones are refused and change nothing."""
    work(db, blobs, fake, info, "pid1")
    body = json.dumps(
        {
            "event_type": "submission.status.change",
            "resource_id": f"s-study1-{pid('pid1')}",
            "status": "AWAITING REVIEW",
        }
    ).encode()
    stamp = str(int(now().timestamp()))
    good = {"x-prolific-request-timestamp": stamp, "x-prolific-request-signature": signature(SECRET, stamp, body)}
    old = str(int(stamp) - 3600)
    wrong = (
        {**good, "x-prolific-request-signature": signature("guess", stamp, body)},
        {"x-prolific-request-timestamp": old, "x-prolific-request-signature": signature(SECRET, old, body)},
        {},
    )
    for headers in wrong:
        with pytest.raises(Forbidden, match="signature"):
            prolific.take_event(db, "mood", outside, headers, body)
    assert db.scalar(select(PanelVisit.completed_at)) is None
    put_task(db, owner, TASK.replace('name = "mood"', 'name = "other"'))
    put_policy(db, owner, "other", '[prolific]\nsecret = "prolific"\nhooks = "hooks"')
    there = f"{body.decode()} ".encode()  # a message of its own
    signed = {**good, "x-prolific-request-signature": signature(SECRET, stamp, there)}
    prolific.take_event(db, "other", outside, signed, there)
    db.expire_all()
    assert db.scalar(select(PanelVisit.completed_at)) is None  # what one task is told completes nothing of another
    assert prolific.take_event(db, "mood", outside, {**good, "x-event-id": "e1"}, body) == "submission.status.change"
    db.expire_all()
    assert db.scalar(select(PanelVisit.completed_at)) is not None
    for other in ("e1", "e2", ""):  # what is not signed makes no other message of it
        with refusal(Conflict, "replayed"):
            prolific.take_event(db, "mood", outside, {**good, "x-event-id": other}, body)
    change = b'{"event_type": "study.status.change", "resource_id": "study1", "status": "PAUSED"}'
    signed = {**good, "x-prolific-request-signature": signature(SECRET, stamp, change)}
    prolific.take_event(db, "mood", outside, signed, change)
    assert any("study1 is PAUSED" in one.text for one in list_notifications(db, owner))
    bad = {**good, "x-prolific-request-signature": signature(SECRET, stamp, b"[")}
    with pytest.raises(BadInput, match="no JSON"):
        prolific.take_event(db, "mood", outside, bad, b"[")
    deep = b"[" * 100_000
    bad = {**good, "x-prolific-request-signature": signature(SECRET, stamp, deep)}
    with pytest.raises(Unreadable, match="nested more than"):
        prolific.take_event(db, "mood", outside, bad, deep)
    assert get_round(db, owner, info.ref).ref == info.ref


def test_messages_come_over_http(workspace: Workspace, db: Session, owner: Actor, tmp_path: Path) -> None:
    """The bytes that came are what is signed; the answer's status says what was wrong."""
    (tmp_path / "keys.toml").write_text(f'[hooks]\nendpoint = "https://api.prolific.com"\nkey = "{SECRET}"\n')
    put_task(db, owner, TASK)
    put_policy(db, owner, "mood", '[prolific]\nsecret = "hooks"\nhooks = "hooks"')
    db.commit()
    site = replace(workspace, settings=replace(workspace.settings, secrets=str(tmp_path / "keys.toml")))
    body, stamp = b'{"event_type":  "study.progress.change"}', str(int(now().timestamp()))
    headers = {"x-prolific-request-timestamp": stamp, "content-type": "application/json"}
    with TestClient(create_app(site)) as client:
        answers = [
            client.post("/api/v1/tasks/mood/pay/prolific", content=body, headers=headers | {SIGNED: given}).status_code
            for given in (signature(SECRET, stamp, body), signature(SECRET, stamp, body), "no")
        ]
    assert answers == [200, 409, 403]
