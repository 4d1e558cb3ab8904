"""Who comes by a panel's link: an id is a claim, and every door asks for the same before it believes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.adapters.contract import EndpointSecret, Outside
from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName, Scope
from quintain.core.records.house import WaitingKind
from quintain.core.records.pay import MyHeldPay, PayTotal
from quintain.core.rounds import Money
from quintain.services.access import accounts, tokens
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.access.mail import Mail
from quintain.services.access.notify import list_notifications
from quintain.services.access.sign_in import open_session
from quintain.services.collect.panels import admission, panel_people
from quintain.services.collect.panels.admission import PanelArrival, Visitor
from quintain.services.collect.panels.entry import complete
from quintain.services.collect.panels.panel_ids import PanelIds
from quintain.services.collect.writing import list_attempts
from quintain.services.collect.writing.sessions import give_up, start_session
from quintain.services.contrast.projects import put_project
from quintain.services.house import mailing
from quintain.services.house.personal_data import delete_person, export_person
from quintain.services.house.waiting import waiting_for
from quintain.services.pay import earnings, payouts, questions
from quintain.services.pay import prolific as paying
from quintain.services.pay.earnings import decide, earn, my_earnings
from quintain.services.pay.final_pay import my_open_pay
from quintain.services.pay.held_pay import held_pay, my_held_pay
from quintain.services.pay.policy import put_policy
from quintain.services.tasks.definitions import find_row, put_task
from quintain.services.trial import panel_entry as every_door
from quintain.services.trial.trials import OpenTrial, open_trial, put_trial
from quintain.services.validate.judging.claim_page import claim_page
from quintain.store.blobs import Blobs
from quintain.store.tables import Judgement, PanelDevice, PanelPerson
from quintain.web.app import create_app
from quintain.web.routes import API, PAGES
from quintain.web.scopes import AT_DOORS
from tests.collecting import TASK, add_round, submit
from tests.evaluation import add_data
from tests.integration.pay.test_panel_judges import POLICY, door_of
from tests.integration.trial.life import PLAIN, WHERE
from tests.people import make_person
from tests.prolific_fake import TOKEN, FakeProlific, pid, prolific_server
from tests.refusals import refusal
from tests.validation_support import REF, answer_page, make_ground
from tests.web_support import PASSWORD, browser_of, post, token_for

PANEL = '[entry]\nprovider = "panel"\nid_parameter = "pid"\ncompletion_code = "7"'
TRIAL_DOORS = f"{PANEL}\n{PANEL.replace('[entry]', '[grading]')}"


@pytest.fixture
def keys(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> dict[str, str]:
    """The keys of all four doors of one task: writing, judging, a trial, its grading."""
    make_ground(db, owner, 12, POLICY)
    info = add_round(db, blobs, owner, tmp_path, tables=PANEL)
    put_trial(db, owner, *WHERE, [PLAIN], title="Mood of texts")
    open_trial(db, blobs, owner, *WHERE, OpenTrial())
    entries = every_door.put_doors(db, owner, *WHERE, TRIAL_DOORS, base_url="https://q.example")
    found = {"write": info.entry_key, "judge": door_of(db, owner)}
    for name, address in (("trial", entries.entry), ("grading", entries.grading)):
        found[name] = str(address).rpartition("/enter/")[2].partition("?")[0]
    return found


def come(db: Session, key: str, person: str, visitor: Visitor | None = None) -> PanelArrival:
    """Come by an address."""
    return every_door.enter(db, key, {"pid": person}, visitor or Visitor())


@pytest.mark.both_databases
@pytest.mark.parametrize("door", ["write", "judge", "trial", "grading"])
def test_a_known_id_opens_no_account_at_any_door(db: Session, keys: dict[str, str], door: str) -> None:
    """The first visit opens an account; another browser with the same id is asked; the first one goes on at once."""
    first = come(db, keys["write"], "P1")
    assert first.actor is not None
    stranger = come(db, keys[door], "P1")
    assert (stranger.actor, stranger.session) == (None, None)
    assert stranger.question is not None
    again = come(db, keys[door], "P1", Visitor(device=first.device))
    assert again.actor == first.actor
    signed_in = come(db, keys[door], "P1", Visitor(actor=first.actor))
    assert signed_in.actor == first.actor
    assert come(db, keys[door], "P1", Visitor(actor=come(db, keys[door], "P2").actor)).actor is None


def test_a_session_of_a_door_works_and_does_no_more(
    db: Session, blobs: Blobs, owner: Actor, keys: dict[str, str], tmp_path: Path
) -> None:
    """No token, no export, no deletion, no password, no address, no other task, no role but the one to work."""
    arrival = come(db, keys["write"], "P1")
    assert arrival.session is not None
    assert arrival.actor is not None
    accounts.grant_role(db, OPERATOR, arrival.actor.name, RoleName.OWNER, task="mood")
    accounts.grant_role(db, OPERATOR, arrival.actor.name, RoleName.BUILDER)
    opened = open_session(db, arrival.session.token)
    assert opened is not None
    actor = opened.actor
    assert actor == arrival.actor
    assert actor.has(RoleName.WORKER, "mood")
    assert not actor.has_somewhere(RoleName.OWNER, RoleName.BUILDER)
    for verb in (
        lambda: tokens.create_token(db, actor, "mine"),
        lambda: export_person(db, actor, tmp_path / "me.zip"),
        lambda: delete_person(db, actor),
        lambda: accounts.change_password(db, actor, "", "correct horse battery"),
        lambda: accounts.update_profile(db, actor, email="me@example.org"),
    ):
        with pytest.raises(Forbidden, match="takes the scope 'account'"):
            verb()
    assert my_earnings(db, actor) == []


def test_a_session_of_a_door_sees_what_is_of_its_task(
    db: Session, blobs: Blobs, owner: Actor, keys: dict[str, str], tmp_path: Path
) -> None:
    """Pay, texts, questions and what is held of other tasks stay with those; with a password all of it is theirs."""
    arrival = come(db, keys["write"], "P1")
    assert arrival.session is not None
    assert arrival.actor is not None
    put_task(db, OPERATOR, TASK.replace('"mood"', '"other"'))
    for number, name in enumerate(("mood", "other", "other"), 1):
        money = Money(number, "USD")
        row = find_row(db, name)
        earn(db, arrival.actor.user_id or 0, row.id, kind="base", work=f"w{number}", money=money, what=name)
    person = actor_of(db, find_user(db, arrival.actor.name))
    (own,) = my_earnings(db, arrival.actor)
    assert own.task == "mood"
    assert earnings.my_page(db, arrival.actor).total == 1
    assert earnings.my_totals(db, arrival.actor) == [PayTotal("base", "pending", 1, "USD")]
    assert earnings.my_page(db, person).total == 3
    assert [sum_.amount for sum_ in earnings.my_totals(db, person)] == [6]
    assert [*my_open_pay(db, arrival.actor).open] == [Money(1, "USD")]
    theirs = next(row.id for row in my_earnings(db, person) if row.task == "other")
    with pytest.raises(NotFound, match="You have no earning"):
        questions.ask(db, arrival.actor, theirs, "Where is it?")
    questions.ask(db, person, theirs, "Where is it?")
    assert questions.my_questions(db, arrival.actor).total == 0
    assert {held.task for held in my_held_pay(db, arrival.actor)} <= {"mood"}
    assert list_attempts.my_attempts(db, arrival.actor) == []


def test_the_api_leads_a_session_of_a_door_nowhere_else_than_pages_do(
    workspace: Workspace, keys: dict[str, str]
) -> None:
    """What changes something and is not where doors lead is refused, though it be work: contests, edits, coding."""
    names = {"task": "mood", "number": "1", "room": "texts"}
    with browser_of(workspace) as browser:
        assert browser.get(f"/enter/{keys['judge']}?pid=P1").status_code == 303
        csrf = re.search(r'name="csrf" value="([^"]+)"', browser.get("/work").text)
        assert csrf
        reached = set()
        for endpoint in API:
            if endpoint.method == "GET" or Scope.WORK not in endpoint.scopes:
                continue
            path = "/api/v1" + re.sub(r"\{(\w+)\}", lambda match: names.get(match[1], "1"), endpoint.path)
            answer = browser.request(endpoint.method, path, headers={"x-csrf-token": csrf[1]}, json={})
            # What cannot be read is refused before it is asked who sends it.
            if answer.status_code != 422 and '"scope_missing"' not in answer.text:
                reached.add(endpoint.view.__name__)
    assert {"claim_page", "end_writing", "retract"} <= reached
    assert reached <= AT_DOORS
    assert not AT_DOORS & {"join_contest_team", "next_pair_to_judge", "take_pivot", "next_to_code", "cancel_job"}


OPEN_AT_DOORS = {
    "/edit",
    "/new",
    "/import",
    "/results",
    "/pairs",
    "/export",
    "/disputes",
    "/download/{part}",
    "/codes.csv",
}


def test_pages_hand_a_session_of_a_door_nothing_that_it_could_not_send(
    workspace: Workspace, keys: dict[str, str]
) -> None:
    """Looking at an edit, a pair or an item to code takes it: who may not answer is not given one, nor offered any."""
    rooms = re.compile(r"/tasks/\{task\}/(contrast|codings|contests)/.*")
    with browser_of(workspace) as browser:
        assert browser.get(f"/enter/{keys['write']}?pid=P1").status_code == 303
        taken = set()
        for page in PAGES:
            if page.method != "GET" or not rooms.fullmatch(page.path):
                continue
            if page.path.endswith(("/{name}", "/pairs/{pair}", *OPEN_AT_DOORS)):
                continue
            answer = browser.get(re.sub(r"\{\w+\}", lambda match: {"{task}": "mood"}.get(match[0], "1"), page.path))
            assert answer.status_code == 403, page.path
            taken.add(page.view.__name__)
        assert {"start", "desk", "check_page", "show", "judge_page", "break_page", "build_page"} <= taken


def test_a_door_offers_what_it_leads_to(
    db: Session, blobs: Blobs, owner: Actor, keys: dict[str, str], tmp_path: Path
) -> None:
    """Edits of test items, coding, pairs and decisions wait for people who may send them, and for nobody else."""
    add_data(db, blobs, owner, tmp_path)
    text = 'task = "mood"\nname = "near"\ntitle = "Near"\ndataset = "mood/test"\nphenomena = ["negation"]\npivots = 2\n'
    put_project(db, blobs, owner, text)
    arrival = come(db, keys["write"], "P1")
    assert arrival.actor is not None
    assert arrival.session is not None
    accounts.grant_role(db, OPERATOR, arrival.actor.name, RoleName.EXPERT, task="mood")
    person, opened = actor_of(db, find_user(db, arrival.actor.name)), open_session(db, arrival.session.token)
    assert opened is not None
    assert WaitingKind.CONTRAST in {errand.kind for errand in waiting_for(db, person)}
    assert {errand.kind for errand in waiting_for(db, opened.actor)} <= {
        WaitingKind.WRITE, WaitingKind.JUDGE, WaitingKind.TRIAL, WaitingKind.GRADE,
    }  # fmt: skip


def test_held_pay_has_not_come(db: Session, owner: Actor, keys: dict[str, str]) -> None:
    """What is approved and held is said to be held, and not to be there; programs are told, too."""
    arrival = come(db, keys["write"], "P1")
    assert arrival.actor is not None
    row = find_row(db, "mood")
    assert earn(db, arrival.actor.user_id or 0, row.id, kind="base", work="w1", money=Money(3, "USD"), what="x")
    decide(db, owner, "mood", [earning.id for earning in my_earnings(db, arrival.actor)])
    assert WaitingKind.PAID not in {errand.kind for errand in waiting_for(db, arrival.actor)}
    assert my_open_pay(db, arrival.actor).held == [MyHeldPay("mood", 3, "USD")]
    panel_people.confirm_guests(db, owner, "mood", [arrival.actor.name])
    assert WaitingKind.PAID in {errand.kind for errand in waiting_for(db, arrival.actor)}
    assert my_open_pay(db, arrival.actor).held == []


def test_the_attack_by_the_page(workspace: Workspace, keys: dict[str, str], db: Session) -> None:
    """In a fresh browser somebody else's id leads to a question; nothing is seen, and guesses run out."""
    db.rollback()
    door = f"/enter/{keys['write']}?pid=P1"
    with browser_of(workspace) as victim, browser_of(workspace) as thief:
        assert victim.get(door).status_code == 303
        asked = thief.get(door)
        assert asked.status_code == 401
        assert "Show that it is you" in asked.text
        assert thief.get("/work/earnings").headers["location"].startswith("/login")
        for number in range(12):
            guess = post(thief, door, door, code=f"AAAAAA{number:02}")
            assert guess.status_code == (401 if number < 10 else 429)
        assert "This code is wrong" in post(thief, door, door).text or guess.status_code == 429
        assert victim.get(door).status_code == 303
        for path in ("/account/export", "/account/tokens", "/work/export", "/work/earnings/export"):
            assert victim.get(path).status_code == 403
        account = victim.get("/account").text
        assert "You came by a panel’s link" in account
        assert "/account/delete" not in account
        csrf = re.search(r'name="csrf" value="([^"]+)"', victim.get("/work").text)
        assert csrf
        for path in ("/account/delete", "/account/password", "/account/tokens", "/account/profile"):
            assert victim.post(path, data={"csrf": csrf[1], "confirm": "x"}).status_code == 403


@pytest.mark.both_databases
def test_a_code_of_the_owner_or_their_leave_lets_somebody_in(db: Session, owner: Actor, keys: dict[str, str]) -> None:
    """The owner sees who asks, sends a code or lets the browser in; each works once, and for this person only."""
    first = come(db, keys["judge"], "P1")
    other = come(db, keys["judge"], "P2")
    assert first.actor is not None
    assert other.actor is not None
    code = panel_people.make_door_code(db, owner, "mood", first.actor.name)
    assert come(db, keys["judge"], "P2", Visitor(code=code.code)).actor is None
    typed = Visitor(code=f" {code.code[:4].lower()} {code.code[4:].lower()}")
    assert come(db, keys["judge"], "P1", typed).actor is not None
    assert come(db, keys["judge"], "P1", Visitor(code=code.code)).actor is None
    asking = come(db, keys["judge"], "P1", Visitor(ask="owner"))
    assert asking.question is not None
    assert asking.question.request == "open"
    assert any("another browser" in one.text for one in list_notifications(db, owner))
    (request,) = panel_people.list_guests(db, owner, "mood").requests
    assert request.name == first.actor.name
    panel_people.decide_request(db, owner, "mood", request.number, let_in=True)
    assert come(db, keys["judge"], "P1").actor is None
    assert come(db, keys["judge"], "P2", Visitor(device=asking.device)).actor is None
    assert come(db, keys["judge"], "P1", Visitor(device=asking.device)).actor is not None
    with pytest.raises(Conflict, match="is decided"):
        panel_people.decide_request(db, owner, "mood", request.number, let_in=False)
    with pytest.raises(NotFound, match="No panel sent"):
        panel_people.make_door_code(db, owner, "mood", owner.name)


def test_an_owner_opens_no_account_that_also_belongs_elsewhere(db: Session, owner: Actor, keys: dict[str, str]) -> None:
    """Their code is enough for all of an account that works on their task alone, and else for work on their task."""
    one, other = (come(db, keys["write"], name).actor for name in ("P1", "P2"))
    assert one is not None
    assert other is not None
    accounts.grant_role(db, OPERATOR, other.name, RoleName.WORKER)
    for actor, full in ((one, True), (other, False)):
        code = panel_people.make_door_code(db, owner, "mood", actor.name).code
        person = "P1" if full else "P2"
        found = come(db, keys["write"], person, Visitor(code=code)).actor
        assert found is not None
        assert found.may(Scope.ACCOUNT) is full


def test_who_has_shown_who_they_are_may_set_an_address_and_a_password(
    db: Session, owner: Actor, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After that a code comes by mail, too; the browser that showed it keeps all of the account."""
    first = come(db, keys["write"], "P1").actor
    assert first is not None
    code = panel_people.make_door_code(db, owner, "mood", first.name).code
    shown = come(db, keys["write"], "P1", Visitor(code=code))
    assert shown.session is not None
    opened = open_session(db, shown.session.token)
    assert opened is not None
    accounts.update_profile(db, opened.actor, email="me@example.org")
    accounts.change_password(db, opened.actor, "", "correct horse battery")
    letters: list[str] = []
    monkeypatch.setattr(mailing, "send", lambda mail, to, subject, text: letters.append(text))
    post_office = Mail("smtp://localhost")
    asked = come(db, keys["write"], "P1", Visitor(ask="mail", mail=post_office))
    assert asked.question is not None
    assert asked.question.sent
    (waiting,) = mailing.mail_queue(db, OPERATOR, post_office).mails
    assert (waiting.purpose, letters) == ("door", [])  # no request waits for a mail server
    assert mailing.deliver(db, post_office, "https://q.example", say=lambda language, text: f"{text}") == 1
    found = re.search(r": ([0-9A-Z]{8})$", letters[0], re.MULTILINE)
    assert found
    mailed = come(db, keys["write"], "P1", Visitor(code=found[1]))
    assert mailed.actor is not None
    assert mailed.actor.may(Scope.ACCOUNT)
    again = come(db, keys["write"], "P1", Visitor(device=mailed.device))
    assert again.actor is not None
    assert again.actor.may(Scope.ACCOUNT)


def test_a_link_that_the_panel_signs_is_proof(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """With the task's key; a wrong signature is refused, and where links have to be signed, one that is not."""
    info = add_round(db, blobs, owner, tmp_path, tables=f"{PANEL}\nsigned = true")
    key = panel_people.panel_key(db, owner, "mood").key
    right = admission.sign_ids(key, PanelIds("P1", "", ""))
    for signature in ("", "0" * 64, admission.sign_ids(key, PanelIds("P2", "", ""))):
        with refusal(Forbidden, "link_not_signed"):
            every_door.enter(db, info.entry_key, {"pid": "P1", "signature": signature}, Visitor())
    link = {"pid": "P1", "signature": right}
    first = every_door.enter(db, info.entry_key, link, Visitor()).actor
    assert first is not None
    assert every_door.enter(db, info.entry_key, link, Visitor()).actor == first
    (guest,) = panel_people.list_guests(db, owner, "mood").people
    assert guest.confirmed == "link"


def test_who_came_first_by_somebody_elses_id_is_out_when_the_person_comes(
    db: Session, owner: Actor, keys: dict[str, str]
) -> None:
    """An id that was taken by a stranger is given back by the panel's own link: browser and session end."""
    thief = come(db, keys["write"], "P1")
    assert thief.session is not None
    key = panel_people.panel_key(db, owner, "mood").key
    link = {"pid": "P1", "signature": admission.sign_ids(key, PanelIds("P1", "", ""))}
    person = every_door.enter(db, keys["write"], link, Visitor())
    assert person.actor is not None
    assert open_session(db, thief.session.token) is None
    assert come(db, keys["write"], "P1", Visitor(device=thief.device)).actor is None
    assert come(db, keys["write"], "P1", Visitor(device=person.device)).actor is not None


@pytest.fixture
def fake() -> Iterator[FakeProlific]:
    """A Prolific of its own for each test."""
    with prolific_server() as found:
        yield found


@pytest.mark.both_databases
def test_prolific_says_who_takes_part(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, fake: FakeProlific
) -> None:
    """With a key: an invented id or session is turned away, a real one is proof in any browser, and its pay is free."""
    info = add_round(db, blobs, owner, tmp_path, tables='[entry]\nprovider = "prolific"\ncompletion_code = "C1"')
    put_policy(db, owner, "mood", '[prolific]\nsecret = "prolific"\nproject = "proj"')
    visitor = Visitor(outside=Outside(secrets={"prolific": EndpointSecret(fake.url, TOKEN)}))
    session = fake.arrive("study1", pid("ann"), "ACTIVE")
    ids = {"PROLIFIC_PID": pid("ann"), "STUDY_ID": "study1", "SESSION_ID": session}
    for wrong in ({"PROLIFIC_PID": pid("bob")}, {"SESSION_ID": "invented"}, {"STUDY_ID": "another"}):
        with refusal(Forbidden, "no_submission"):
            every_door.enter(db, info.entry_key, {**ids, **wrong}, visitor)
    with pytest.raises(BadInput, match="24 digits"):
        every_door.enter(db, info.entry_key, {**ids, "PROLIFIC_PID": "'; DROP TABLE"}, visitor)
    assert db.scalar(select(func.count(PanelPerson.id))) == 0
    first = every_door.enter(db, info.entry_key, ids, visitor)
    assert first.actor is not None
    assert first.actor.may(Scope.ACCOUNT)
    assert every_door.enter(db, info.entry_key, ids, visitor).actor == first.actor
    fake.submissions[session]["status"] = "AWAITING REVIEW"
    with refusal(Forbidden, "no_submission"):
        every_door.enter(db, info.entry_key, ids, visitor)
    assert every_door.enter(db, info.entry_key, ids, replace(visitor, device=first.device)).actor == first.actor
    (guest,) = panel_people.list_guests(db, owner, "mood").people
    assert (guest.confirmed, guest.flags) == ("panel", [])


def test_where_prolific_is_silent_people_come_in_and_their_pay_waits_for_it(
    db: Session, blobs: Blobs, owner: Actor, tmp_path: Path, fake: FakeProlific
) -> None:
    """Nobody is turned away for an outage; approvals look the submissions up, and pay whom Prolific knows."""
    info = add_round(db, blobs, owner, tmp_path, tables='[entry]\nprovider = "prolific"\ncompletion_code = "C1"')
    put_policy(db, owner, "mood", '[prolific]\nsecret = "prolific"\nproject = "proj"')
    outside = Outside(secrets={"prolific": EndpointSecret(fake.url, TOKEN)})
    fake.studies["study1"] = {"id": "study1", "status": "ACTIVE", "reward": 30}
    fake.faults += [(r"GET /submissions/", "503")] * 2
    people = []
    for name in ("ann", "bob"):
        session = fake.arrive("study1", pid(name), "ACTIVE") if name == "ann" else "invented"
        ids = {"PROLIFIC_PID": pid(name), "STUDY_ID": "study1", "SESSION_ID": session}
        actor = every_door.enter(db, info.entry_key, ids, Visitor(outside=outside)).actor
        assert actor is not None
        people.append(actor)
        submit(db, blobs, actor, _begin(db, blobs, actor, info.ref), f"{name} had bad weather.")
        finish(db, blobs, actor, info.ref)
        decide(db, owner, "mood", [one.id for one in my_earnings(db, actor)])
    assert [held.amount for held in held_pay(db, owner, "mood")] == [6]
    assert [[held.amount for held in my_held_pay(db, person)] for person in people] == [[3], [3]]
    with refusal(Conflict, "pay_held") as refused:
        payouts.plan(db, owner, "mood", provider="prolific", currency="USD")
    assert refused.value.code == "pay_held"
    (made,) = paying.plan_approvals(db, owner, "mood", outside, currency="USD")
    assert [line.worker for line in made.lines] == [people[0].name]
    (left,) = panel_people.list_guests(db, owner, "mood", held=True).people
    assert left.name == people[1].name
    assert [[held.amount for held in my_held_pay(db, person)] for person in people] == [[], [3]]


def _begin(db: Session, blobs: Blobs, actor: Actor, ref: str) -> str:
    return start_session(db, blobs, actor, ref).key


def finish(db: Session, blobs: Blobs, actor: Actor, ref: str) -> None:
    """End the session that somebody holds, and go back."""
    give_up(db, actor, start_session(db, blobs, actor, ref).key)
    complete(db, actor, ref)


@pytest.mark.both_databases
def test_one_browser_or_address_judges_an_item_once(db: Session, owner: Actor, keys: dict[str, str]) -> None:
    """Four ids through one link are one voice until somebody confirms them; then each is a person of their own."""
    first = come(db, keys["judge"], "A1", Visitor(address="192.0.2.7"))
    people = [first.actor]
    people.append(come(db, keys["judge"], "A2", Visitor(device=first.device, address="192.0.2.99")).actor)
    people.append(come(db, keys["judge"], "A3", Visitor(address="192.0.2.7")).actor)
    for actor in people:
        assert actor is not None
        while (page := claim_page(db, actor, REF)) is not None:
            answer_page(db, actor, page)
    said = db.execute(select(Judgement.item_id, func.count()).group_by(Judgement.item_id)).all()
    assert {count for _, count in said} == {1}
    stranger = come(db, keys["judge"], "B1", Visitor(address="198.51.100.1")).actor
    assert stranger is not None
    listed = {one.name: one for one in panel_people.list_guests(db, owner, "mood").people}
    assert [listed[actor.name].flags for actor in people if actor] == [["same_browser"], ["same_browser"], []]
    assert any("by one browser" in one.text for one in list_notifications(db, owner))


def test_four_ids_get_no_pay_by_themselves(db: Session, owner: Actor, keys: dict[str, str]) -> None:
    """What they did counts as done; it is paid when the owner has looked, all at once or one by one."""
    people = [come(db, keys["judge"], f"X{n}", Visitor(address="192.0.2.7")).actor for n in range(5)]
    task_id = find_row(db, "mood").id
    for number, actor in enumerate(people):
        assert actor is not None
        earn(db, actor.user_id or 0, task_id, kind="base", work=f"w{number}", money=Money(10, "USD"))
        decide(db, owner, "mood", [one.id for one in my_earnings(db, actor)])
    with pytest.raises(Conflict, match=r"is held: .* nobody has confirmed \(5\)"):
        payouts.plan(db, owner, "mood", provider="panel", currency="USD")
    assert panel_people.confirm_guests(db, owner, "mood", everybody=True).total == 5
    assert [one.people for one in held_pay(db, owner, "mood")] == [5]  # they all came from one address
    assert people[0] is not None
    panel_people.confirm_guests(db, owner, "mood", [people[0].name])
    (made,) = payouts.plan(db, owner, "mood", provider="panel", currency="USD")
    assert [line.worker for line in made.lines] == [people[0].name]
    assert [one.amount for one in held_pay(db, owner, "mood")] == [40]
    with pytest.raises(BadInput, match="Nobody is named"):
        panel_people.confirm_guests(db, owner, "mood")


def test_owners_by_page_api_client_and_command(
    workspace: Workspace, db: Session, owner: Actor, keys: dict[str, str], cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """The same list and the same verbs everywhere; nobody else sees them."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    person = come(db, keys["judge"], "P1").actor
    assert person is not None
    come(db, keys["judge"], "P1", Visitor(ask="owner"))
    redeem_link(db, make_link(db, OPERATOR, owner.name).token, PASSWORD)
    make_person(db, "somebody", RoleName.WORKER)
    with browser_of(workspace, owner.name) as client:
        page = client.get("/tasks/mood/panel").text
        assert person.name in page
        assert "not yet: pay is held" in page
        shown = post(client, "/tasks/mood/panel", "/tasks/mood/panel", act="code", name=person.name)
        assert re.search(r'id="secret">[0-9A-Z]{8}<', shown.text)
        request = re.search(r'name="request" value="(\d+)"', page)
        assert request
        done = post(client, "/tasks/mood/panel", "/tasks/mood/panel", act="refuse", request=request[1])
        assert done.status_code == 303
        post(client, "/tasks/mood/panel", "/tasks/mood/panel", act="confirm", name=person.name)
        assert "by an owner" in client.get("/tasks/mood/panel").text
    with TestClient(create_app(workspace)) as api:
        where = "/api/v1/tasks/mood/panel"
        headers = {"authorization": f"Bearer {token_for(workspace, owner.name)}"}
        assert api.get(f"{where}/people", headers=headers).json()["people"][0]["confirmed"] == "owner"
        assert api.post(f"{where}/people/{person.name}/code", headers=headers).status_code == 201
        assert len(api.get(f"{where}/key", headers=headers).json()["key"]) == 64
        other = {"authorization": f"Bearer {token_for(workspace, 'somebody')}"}
        for path in ("people", "key"):
            assert api.get(f"{where}/{path}", headers=other).status_code == 403
    assert person.name in cli("pay", "panel", "list", "mood").stdout
    assert len(cli("pay", "panel", "code", "mood", person.name).stdout.strip()) == 8
    assert cli("pay", "panel", "confirm", "mood", person.name).exit_code == 0
    assert len(cli("pay", "panel", "key", "mood").stdout.strip()) == 64
    assert cli("pay", "panel", "let-in", "mood", "999").exit_code == 1


def test_sessions_from_before_go_on(db: Session, keys: dict[str, str]) -> None:
    """Somebody who is signed in, and came before browsers were noted, is known by their session, and noted then."""
    first = come(db, keys["write"], "P1")
    assert first.actor is not None
    db.execute(delete(PanelDevice))
    db.commit()
    again = come(db, keys["write"], "P1", Visitor(actor=actor_of(db, find_user(db, first.actor.name))))
    assert again.actor is not None
    assert come(db, keys["judge"], "P1", Visitor(device=again.device)).actor is not None
