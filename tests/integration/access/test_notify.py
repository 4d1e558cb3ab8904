"""Messages in the application, and by e-mail for those who wish."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import NotFound, NotSignedIn, TooMany, Unavailable
from quintain.core.people import ANONYMOUS, Actor
from quintain.core.texts import Text
from quintain.services.access import accounts, links, notify, sign_in
from quintain.services.access.mail import Mail, send
from quintain.services.house import mailing
from quintain.store.tables import Notification
from quintain.web.error_text import translated
from tests.integration.access.mail_server import MailServer, mail_server


@pytest.fixture
def server() -> Iterator[MailServer]:
    """A real mail server."""
    with mail_server() as running:
        yield running


def _tell(db: Session, actor: Actor, text: str, url: str = "") -> None:
    assert actor.user_id is not None
    notify.notify(db, actor.user_id, "test", Text("{text}", text=text), url)


@pytest.mark.both_databases
def test_messages_are_listed_counted_and_read(db: Session, worker: Actor, builder: Actor) -> None:
    """Each person sees their own, newest first, and nobody reads another's."""
    for text in ("one", "two", "three"):
        _tell(db, worker, text)
    _tell(db, builder, "other")
    found = notify.list_notifications(db, worker)
    assert [message.text for message in found] == ["three", "two", "one"]
    assert notify.mark_read(db, builder, [found[0].id]) == 0
    assert notify.mark_read(db, worker, [found[0].id]) == 1
    assert notify.unread_count(db, worker) == 2
    assert [m.text for m in notify.list_notifications(db, worker, unread_only=True)] == ["two", "one"]
    assert notify.mark_read(db, worker) == 2
    assert (notify.unread_count(db, worker), notify.unread_count(db, ANONYMOUS)) == (0, 0)
    with pytest.raises(NotSignedIn):
        notify.list_notifications(db, ANONYMOUS)


@pytest.mark.both_databases
def test_mail_goes_once_to_those_who_wish(
    workspace: Workspace, db: Session, worker: Actor, builder: Actor, server: MailServer
) -> None:
    """Several processes deliver at the same time: every message is sent once, and only where it is wanted."""
    accounts.update_profile(db, worker, email_notifications=True)
    _tell(db, builder, "not by mail")
    for number in range(20):
        _tell(db, worker, f"Nachricht {number}: schön", "/tasks/sentiment")

    def deliver(_: int) -> int:
        with workspace.session() as mine:
            return mailing.deliver(mine, Mail(server.url, "q@example.org"), "https://q.example.org/", limit=7)

    with ThreadPoolExecutor(4) as pool:
        sent = sum(pool.map(deliver, range(8)))
    assert sent == len(server.messages) == 20
    assert {message["To"] for message in server.messages} == {"wilma@example.org"}
    first = min(server.messages, key=lambda message: int(message["Subject"].split()[1].rstrip(":")))
    assert first["Subject"] == "Nachricht 0: schön"
    assert "https://q.example.org/tasks/sentiment" in first.get_content()


def test_messages_are_in_the_language_of_who_reads_them(db: Session, worker: Actor, server: MailServer) -> None:
    """Kept as a template with values: in German on a page and by mail; what was kept before stays readable."""
    accounts.update_profile(db, worker, email_notifications=True, language="de")
    assert worker.user_id is not None
    inner = Text("There is feedback on what you wrote.")
    text = Text("{money} for your work on {task}: paid.", money="3.50 USD", task="mood")
    notify.notify(db, worker.user_id, "test", text, "/work/earnings", more=inner)
    (found,) = notify.list_notifications(db, worker)
    assert found.text == "3.50 USD for your work on mood: paid."
    assert translated("de", found.text) == "3.50 USD für Ihre Arbeit an mood: bezahlt."
    assert mailing.deliver(db, Mail(server.url), "http://x", say=translated) == 1
    assert server.messages[0]["Subject"] == "3.50 USD für Ihre Arbeit an mood: bezahlt."
    assert "Es gibt eine Rückmeldung" in server.messages[0].get_content()
    db.execute(update(Notification).values(said=None, more=None))
    assert notify.list_notifications(db, worker)[0].text == "3.50 USD for your work on mood: paid."


def test_who_chose_no_language_is_written_to_in_that_of_their_pages(db: Session, server: MailServer) -> None:
    """The page on which somebody asked decides at first, then the one on which they signed in, then their choice."""
    mail, actor = (
        Mail(server.url),
        accounts.register(db, "anna", "a long password 1", is_open=True, email="anna@example.org"),
    )
    links.ask_password_link(db, "anna", base_url="http://q", language="de")
    assert mailing.deliver(db, mail, "http://q", say=translated) == 1
    assert server.messages[-1]["Subject"] == "Wählen Sie ein neues Passwort"
    sign_in.start_session(db, actor, language="en")
    links.ask_password_link(db, "anna", base_url="http://q", language="de")
    assert mailing.deliver(db, mail, "http://q", say=translated) == 1
    assert server.messages[-1]["Subject"] == "Choose a new password"
    accounts.update_profile(db, actor, language="de-AT")
    links.ask_password_link(db, "anna", base_url="http://q", language="en")
    assert mailing.deliver(db, mail, "http://q", say=translated) == 1
    assert server.messages[-1]["Subject"] == "Wählen Sie ein neues Passwort"


def test_a_server_that_is_down_is_tried_again(db: Session, worker: Actor, server: MailServer) -> None:
    """What was not taken stays to be sent, and no try counts."""
    accounts.update_profile(db, worker, email_notifications=True)
    _tell(db, worker, "hello")
    with pytest.raises(Unavailable, match="mail server"):
        mailing.deliver(db, Mail("smtp://127.0.0.1:1"), "http://x")
    assert mailing.deliver(db, Mail(), "http://x") == 0
    assert mailing.deliver(db, Mail(server.url), "http://x") == 1
    assert len(server.messages) == 1


def test_no_header_can_be_smuggled_in(server: MailServer) -> None:
    """A line break in a subject does not begin a new header."""
    send(Mail(server.url), "a@example.org", "Hello\r\nBcc: all@example.org", ".\r\n.dots\r\n")
    assert server.messages[0]["Subject"] == "Hello Bcc: all@example.org"
    assert server.messages[0]["Bcc"] is None
    assert server.messages[0].get_content().splitlines() == [".", ".dots"]


def test_a_wrong_mail_address_of_the_server_is_explained() -> None:
    """A setting that is no address is named."""
    with pytest.raises(Unavailable, match="QUINTAIN_SMTP_URL"):
        send(Mail("mail.example.org"), "a@example.org", "x", "y")


def test_a_forgotten_password_is_mended_by_mail(db: Session, worker: Actor, server: MailServer) -> None:
    """The link in the message works; an unknown name gets no message and the same answer; trying is limited."""
    mail = Mail(server.url)
    for who in ("wilma@example.org", "nobody", "no\x00body"):
        links.ask_password_link(db, who, base_url="http://q", address="10.0.0.1")
    assert mailing.deliver(db, mail, "http://q") == len(server.messages) == 1
    assert server.messages[0]["Subject"] == "Choose a new password"
    token = server.messages[0].get_content().split("http://q/link/")[1].split()[0]
    assert links.redeem_link(db, token, "a new good password").name == "wilma"
    with pytest.raises(NotFound):
        links.look_up_link(db, token)
    for _ in range(2):
        links.ask_password_link(db, "nobody", base_url="http://q")
    with pytest.raises(TooMany):
        links.ask_password_link(db, "nobody", base_url="http://q")
