"""The judge page without a script: claim, hand in, hand in again, give back, and what is refused."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.tasks import definitions as tasks
from quintain.services.validate.console import manage as validate
from quintain.services.validate.judging import claim_page
from quintain.services.validate.quality import unqualify
from quintain.store.tables import Judgement, JudgingNote, JudgingPage
from tests.people import make_person
from tests.validation_support import REF, make_ground
from tests.web_support import PASSWORD, browser_of, post

HOME = "/tasks/mood/judge/check"
ITEM = re.compile(r'data-item="(\d+)"')
OPTIONS = """
name = "quiz"
kind = "multiple-choice"
title = "Quiz"
"""


@pytest.fixture
def web(workspace: Workspace) -> Workspace:
    """Twelve texts to judge, with pay; an owner and two judges."""
    with workspace.session() as db:
        owner = make_person(db, "olga", RoleName.OWNER)
        make_ground(db, owner, 12, "[reward]\namount = 25\n[gold]\nrate = 0")
        for name in ("wilma", "wim"):
            make_person(db, name, RoleName.WORKER)
        make_person(db, "bert", RoleName.BUILDER)
        for name in ("olga", "wilma", "wim", "bert"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return workspace


def begin(client: TestClient) -> str:
    """Claim a page and give its address."""
    answer = post(client, HOME, HOME)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def test_a_page_is_claimed_handed_in_and_handed_in_again(web: Workspace) -> None:
    """All items are on the page with their labels; a repeat changes nothing and shows the same receipt."""
    client = browser_of(web, "wilma")
    assert client.get("/tasks/mood/judge").headers["location"] == HOME
    assert HOME in client.get("/work").text
    assert HOME not in browser_of(web, "bert").get("/work").text
    address = begin(client)
    html = client.get(address).text
    items = ITEM.findall(html)
    assert len(items) == 10
    assert html.count('value="mixed"') == 10
    answers = {f"label-{item}": "neutral" for item in items[:9]}
    answers |= {f"skip-{items[9]}": "no idea", f"flagged-{items[0]}": "on", f"seconds-{items[0]}": "none"}
    first = post(client, address, address, **answers)
    assert first.status_code == 200
    assert "0.23 USD" in first.text
    again = post(client, "/account", address, **answers)
    assert again.status_code == 200
    assert "0.23 USD" in again.text
    other = post(client, "/account", address, **{f"label-{items[0]}": "mixed"})
    assert other.status_code == 409
    assert "answered before, and otherwise" in other.text
    assert "Next page" in client.get(address).text
    with web.session() as db:
        assert len(db.scalars(select(Judgement)).all()) == 9


def test_work_that_is_done_is_not_offered(web: Workspace) -> None:
    """Who has judged all that waits is offered nothing, on their own page and on that of the task; others still are."""
    client = browser_of(web, "wilma")
    address = begin(client)
    work = client.get("/work").text
    assert f'href="{address}">Go on judging</a>' in work
    assert "Go on judging" in client.get(HOME).text
    for _ in range(2):
        items = ITEM.findall(client.get(address).text)
        post(client, address, address, **{f"label-{item}": "neutral" for item in items})
        address = str(post(client, HOME, HOME).headers["location"])
    assert address == f"{HOME}?left=none"
    assert HOME not in client.get("/work").text
    assert "Nothing to judge now" in client.get("/tasks/mood/judge").text
    other = browser_of(web, "wim")
    assert HOME in other.get("/work").text
    assert "Start judging" in other.get(HOME).text


def test_a_flag_without_a_label_is_kept(web: Workspace) -> None:
    """Who stops at an item that they only flagged has skipped it, and the owner reads why."""
    client = browser_of(web, "wilma")
    address = begin(client)
    first, second, *_ = ITEM.findall(client.get(address).text)
    answers = {f"flagged-{first}": "on", f"flag-{first}": "a phone number", f"flagged-{second}": "on", "stop": "1"}
    assert post(client, address, address, **answers).status_code == 200
    with web.session() as db:
        noted = [(one.kind, one.text) for one in db.scalars(select(JudgingNote).order_by(JudgingNote.id))]
    assert sorted(noted) == [("flag", ""), ("flag", "a phone number"), ("skip", "a phone number"), ("skip", "flagged")]


def test_what_is_wrong_is_said_and_an_empty_page_goes_back(web: Workspace) -> None:
    """Both a label and a skip are refused with the page still there; handing in nothing gives the page back."""
    client = browser_of(web, "wilma")
    address = begin(client)
    item = ITEM.findall(client.get(address).text)[0]
    wrong = post(client, address, address, **{f"label-{item}": "neutral", f"skip-{item}": "x"})
    assert wrong.status_code == 422
    assert "both a label and a skip" in wrong.text
    back = post(client, address, address)
    assert "The page went back" in back.text
    alive = post(client, "/account", f"{address}/alive")
    assert (alive.status_code, alive.json()) == (409, {"ended": "This page was returned."})


def test_a_heartbeat_extends_and_a_page_is_its_holders(web: Workspace) -> None:
    """The lease begins anew; somebody else's page is not there; nothing left is said; a stranger is sent to sign in."""
    client = browser_of(web, "wilma")
    address = begin(client)
    lease = post(client, address, f"{address}/alive").json()
    assert lease["lapsed"] is False
    assert 890 < lease["left"] <= 900
    assert browser_of(web, "wim").get(address).status_code == 404
    assert browser_of(web).get(address).headers["location"].startswith("/login")
    for _ in range(2):
        address = begin(client)
        if "left=none" not in address:
            post(client, address, address)
    assert "Nothing to judge now" in client.get(begin(client)).text


def test_who_may_not_judge_reads_why(web: Workspace) -> None:
    """Without a role, after being unqualified, and while the judging is closed, the first page says what is so."""
    assert "needs the role worker" in browser_of(web, "bert").get(HOME).text
    with web.session() as db:
        owner = actor_of(db, find_user(db, "olga"))
        unqualify.unqualify(db, owner, REF, ["wim"], reason="answers at random")
    client = browser_of(web, "wim")
    page = client.get(HOME).text
    assert "answers at random" in page
    assert "stays paid" in page
    assert post(client, "/account", HOME).status_code == 403
    with web.session() as db:
        validate.set_state(db, owner, REF, validate.ValidationState.PAUSED)
    client = browser_of(web, "wilma")
    assert "is paused" in client.get(HOME).text
    assert "Nothing to judge now" in client.get("/tasks/mood/judge").text


def test_options_are_the_cards_of_a_question(web: Workspace) -> None:
    """Of several options, judges choose one by its text; the options are not shown twice."""
    with web.session() as db:
        owner = actor_of(db, find_user(db, "olga"))
        tasks.put_task(db, owner, OPTIONS)
        validate.open_validation(db, owner, "quiz/check")
        row = {
            "inputs": {"passage": "Ann has a dog.", "question": "What barks?", "options": ["A dog", "A tree"]},
            "answer": 0,
        }
        validate.add_items(db, owner, "quiz/check", [row])
        page = claim_page.claim_page(db, actor_of(db, find_user(db, "wilma")), "quiz/check")
        assert page is not None
        assert db.scalars(select(JudgingPage)).one().key == page.token
    html = browser_of(web, "wilma").get(f"/judge/{page.token}").text
    assert html.count("A dog") == 1
    assert 'value="0" data-key="1"' in html
