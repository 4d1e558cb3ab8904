"""A round that anybody with the link takes part in: no account, known by the browser, nothing made by a mere look."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import NotSignedIn
from quintain.core.people import ANONYMOUS, OPERATOR
from quintain.core.rounds import Condition, RoundSpec, Targets
from quintain.services.collect.panels import entry
from quintain.services.collect.rounds.start_round import start_round
from quintain.store.tables import PanelPerson
from tests.web_support import browser_of, post

TARGETS = Targets("one", ("sentiment/tfidf@1",))


@pytest.fixture
def number(own_demo: Workspace) -> int:
    """An open round in which people write on a blank page."""
    spec = RoundSpec("sentiment", "Fool it", conditions=(Condition("blank", prompt=False),), targets=TARGETS)
    with own_demo.session() as db:
        return start_round(db, own_demo.blobs, OPERATOR, spec, open_now=True).number


def people(workspace: Workspace) -> int:
    """Count who came by links."""
    with workspace.session() as db:
        return db.query(PanelPerson).filter_by(provider="link").count()


def link_of(owner: TestClient, number: int) -> str:
    """Let anybody in, and return the address."""
    page = f"/tasks/sentiment/rounds/{number}"
    assert post(owner, page, f"{page}/invite", on="1").status_code == 303
    text = owner.get(page).text
    start = text.index("/enter/")
    return text[start : text.index("<", start)]


def test_whoever_has_the_link_takes_part(own_demo: Workspace, number: int) -> None:
    """A look makes no account; a click makes one; the same browser is the same person again, another is another."""
    link = link_of(browser_of(own_demo, "demo-owner"), number)
    stranger = browser_of(own_demo)
    welcome = stranger.get(link).text
    assert "no account" in welcome
    assert "<h1>Fool it</h1>" in welcome
    assert re.search(r"about [\d.]+ min", welcome)
    assert "voluntary, without pay" in welcome
    assert people(own_demo) == 0
    answer = post(stranger, link, link)
    assert answer.headers["location"] == f"/tasks/sentiment/rounds/{number}/write"
    assert stranger.get(answer.headers["location"]).status_code in {200, 303}
    assert people(own_demo) == 1
    assert stranger.get(link).status_code == 303
    assert people(own_demo) == 1
    other = browser_of(own_demo)
    assert post(other, link, link).status_code == 303
    assert people(own_demo) == 2
    assert "/enter/" not in stranger.get(f"/tasks/sentiment/rounds/{number}").text


def test_the_link_can_be_taken_back(own_demo: Workspace, number: int) -> None:
    """Afterwards it leads nowhere, and the round is as it was."""
    owner = browser_of(own_demo, "demo-owner")
    link = link_of(owner, number)
    page = f"/tasks/sentiment/rounds/{number}"
    assert post(owner, page, f"{page}/invite").status_code == 303
    assert browser_of(own_demo).get(link).status_code == 404
    assert "Let anybody in by a link" in owner.get(page).text


def test_only_owners_invite(own_demo: Workspace, number: int) -> None:
    """Neither a worker nor somebody who is not signed in."""
    worker = browser_of(own_demo, "demo-worker")
    address = f"/tasks/sentiment/rounds/{number}/invite"
    assert post(worker, "/account", address, on="1").status_code == 403
    with own_demo.session() as db, pytest.raises(NotSignedIn):
        entry.invite_by_link(db, ANONYMOUS, f"sentiment/{number}")
