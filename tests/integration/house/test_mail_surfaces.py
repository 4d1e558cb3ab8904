"""The queue of e-mails, and how loops fare, for whoever looks after the house: page, API, client and command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient
from typer.testing import CliRunner

from quintain.cli.app import app
from quintain.compose import Workspace
from quintain.core.people import OPERATOR, RoleName
from quintain.core.records.access import MailState
from quintain.core.texts import Text
from quintain.engine.loops import Loop
from quintain.services.access import accounts, notify, tokens
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house import mailing
from quintain.store.tables import OutgoingMail
from quintain.web.app import create_app
from tests.integration.access.mail_server import mail_server
from tests.people import make_person
from tests.web_support import PASSWORD, on_one_line, post


@pytest.fixture
def house(workspace: Workspace) -> Iterator[Workspace]:
    """A workspace with one e-mail that failed, one that waits for its last try, and a loop that fails."""
    with mail_server() as server:
        mine = replace(workspace, settings=replace(workspace.settings, smtp_url=server.url))
        with mine.session() as db:
            make_person(db, "ada", RoleName.ADMIN)
            redeem_link(db, make_link(db, OPERATOR, "ada").token, PASSWORD)
            for name in ("refused", "spam"):
                reader = make_person(db, name, RoleName.WORKER)
                assert reader.user_id
                accounts.update_profile(db, reader, email=f"{name}@x.org", email_notifications=True)
                notify.notify(db, reader.user_id, "test", Text("hello"))
            mailing.deliver(db, mine.mail, "http://q")
            first = mailing.mail_queue(db, OPERATOR, mine.mail).mails[0]
            mailing.try_again(db, OPERATOR, [first.id])
            for _ in range(2):
                mailing.deliver(db, mine.mail, "http://q")
                db.execute(update(OutgoingMail).values(next_at=first.asked_at))
                db.commit()
        mine.loops.add(Loop("breaking", _fall, every=1.0)).once()
        yield mine


def _fall(each: object) -> None:
    raise OSError("no room on the disk")


def _signed_in(house: Workspace) -> TestClient:
    client = TestClient(create_app(house), follow_redirects=False)
    assert post(client, "/login", "/login", name="ada", password=PASSWORD).status_code == 303
    return client


def test_the_page_shows_the_queue_and_takes_a_decision(house: Workspace) -> None:
    """Who it is to, why the last try failed, when the next is; one is tried again, all that failed are given up."""
    client = _signed_in(house)
    words = on_one_line(client.get("/admin/health"))
    for part in ("refused@x.org", "550 5.1.1 refused", "554 5.7.1 looks like spam", "breaking", "no room on the disk"):
        assert part in words
    with house.session() as db:
        queue = mailing.mail_queue(db, OPERATOR, house.mail)
    answer = post(client, "/admin/health", "/admin/mails/retry", id=queue.mails[0].id)
    assert (answer.status_code, answer.headers["location"].partition("#")[0]) == (303, "/admin/health")
    assert post(client, "/admin/health", "/admin/mails/retry", id="x").status_code == 404
    assert post(client, "/admin/health", "/admin/mails/give-up", id=queue.mails[0].id).status_code == 303
    with house.session() as db:
        assert mailing.mail_queue(db, OPERATOR, house.mail, state=MailState.DROPPED).total == 1


def test_the_api_says_the_same_to_admins_only(house: Workspace) -> None:
    """Listed, tried again and given up by numbers; loops with their reasons."""
    with house.session() as db:
        worker = make_person(db, "wilma", RoleName.WORKER)
        secret = tokens.create_token(db, worker, "tests")[0]
    client = _signed_in(house)
    queue = client.get("/api/v1/mails").json()
    assert (queue["enabled"], queue["total"]) == (True, 2)
    assert any("no room" in loop["reason"] for loop in client.get("/api/v1/loops").json()["loops"])
    other = TestClient(create_app(house), headers={"authorization": f"Bearer {secret}"})
    for path in ("/api/v1/mails", "/api/v1/loops"):
        assert other.get(path).status_code == 403


def test_the_command_lists_tries_again_and_gives_up(house: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """By numbers or all; neither, or a number that is not there, is refused and changes nothing."""
    monkeypatch.setenv("QUINTAIN_SMTP_URL", house.settings.smtp_url)
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", house.settings.database_url)

    def run(*words: object) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["-w", str(house.settings.workspace), *map(str, words)])
        return done.exit_code, done.stdout

    listed = json.loads(run("mail", "list", "--json")[1])
    first = listed["mails"][0]["id"]
    assert "refused@x.org" in run("mail", "list")[1]
    assert run("mail", "retry")[0] == 1
    assert run("mail", "retry", 999)[0] == 1
    assert json.loads(run("mail", "retry", first, "--json")[1]) == {"count": 1}
    assert json.loads(run("mail", "give-up", first, "--json")[1]) == {"count": 1}
    status = json.loads(run("status", "--json")[1])
    assert status["mails"]["waiting"] + status["mails"]["failed"] == 1
