"""E-mails wait in a queue: one that cannot be sent is that one's failure, and a server that is down nobody's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from email.message import EmailMessage

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden, NotFound
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.access import MailQueue, MailState, QueuedMail
from quintain.core.texts import Text
from quintain.services.access import accounts, links, notify
from quintain.services.access.mail import Mail, MessageRefused, ServerDown, send
from quintain.services.house import mailing
from quintain.store.base import clock, now
from quintain.store.database import transaction
from quintain.store.queries.house import personal
from quintain.store.tables import Notification, OutgoingMail, User
from tests.integration.access.mail_server import MailServer, mail_server
from tests.people import make_person

BROKEN = "[<@->>a,<"  # the mail library's parser falls over it


@pytest.fixture
def server() -> Iterator[MailServer]:
    """A real mail server."""
    with mail_server() as running:
        yield running


def _tell(db: Session, *addresses: str) -> None:
    """Leave a message for a person of each address, whatever it is."""
    for number, address in enumerate(addresses):
        reader = make_person(db, f"p{db.query(User).count()}", RoleName.WORKER)
        assert reader.user_id
        accounts.update_profile(db, reader, email=f"new{reader.user_id}@example.org", email_notifications=True)
        db.execute(update(User).where(User.id == reader.user_id).values(email=address))
        db.commit()
        notify.notify(db, reader.user_id, "test", Text("{text}", text=f"Hello {number}"))


def _deliver(db: Session, server: MailServer, later: timedelta = timedelta()) -> int:
    moment = datetime.now().astimezone() + later
    with clock(lambda: moment):
        return mailing.deliver(db, Mail(server.url), "http://q")


def _queue(db: Session, state: MailState | None = None) -> MailQueue:
    return mailing.mail_queue(db, OPERATOR, Mail("smtp://x"), state=state)


def _of(db: Session, address: str) -> QueuedMail:
    return next(mail for mail in _queue(db).mails if mail.address == address)


@pytest.mark.both_databases
def test_one_message_that_cannot_be_sent_holds_up_nobody(db: Session, server: MailServer) -> None:
    """Refused after RCPT or DATA, in need of SMTPUTF8, or not to be written at all: every other one arrives."""
    bad = [BROKEN, "refused@x.org", "spam@x.org", "jörg@x.org", "later@x.org", "full@x.org"]
    _tell(db, *bad, "good@x.org", "fine@x.org")
    assert _deliver(db, server) == 2
    assert {message["To"] for message in server.messages} == {"good@x.org", "fine@x.org"}
    queue = _queue(db)
    assert (queue.waiting, queue.failed, [mail.address for mail in queue.mails]) == (6, 0, bad)
    for address, reason in {
        "refused@x.org": "550 5.1.1 refused",
        "spam@x.org": "554 5.7.1 looks like spam",
        "jörg@x.org": "(ASCII)",
        "later@x.org": "450 4.2.0 greylisted",
        "full@x.org": "452 4.3.1 no room",
    }.items():
        assert reason in _of(db, address).reason
    sent = db.scalars(select(Notification.emailed_at).order_by(Notification.id)).all()
    assert [at is None for at in sent] == [True] * 6 + [False] * 2  # nothing is marked as sent before it is
    assert _deliver(db, server) == 0  # all of them rest
    assert len(server.tried) == 6


@pytest.mark.both_databases
def test_a_refused_message_is_tried_last_and_then_fails(db: Session, server: MailServer) -> None:
    """What the server never takes has one more try; what it takes later has more, each further off; others go first."""
    _tell(db, "refused@x.org", "later@x.org")
    assert _deliver(db, server) == 0
    assert _of(db, "refused@x.org").last
    assert not _of(db, "later@x.org").last
    server.tried.clear()
    _tell(db, "good@x.org")
    assert _deliver(db, server, timedelta(hours=2)) == 1
    assert server.tried == ["good@x.org", "refused@x.org", "later@x.org"]
    assert [mail.address for mail in _queue(db, MailState.FAILED).mails] == ["refused@x.org"]
    for hours in (5, 9, 14, 20):
        _deliver(db, server, timedelta(hours=hours))
    assert _of(db, "later@x.org").state == "failed"
    assert _of(db, "later@x.org").attempts == mailing.TRIES
    server.tried.clear()
    assert _deliver(db, server, timedelta(hours=23)) == 0
    assert server.tried == []


@pytest.mark.parametrize("fault", ["421 4.3.2 busy", "451 4.3.0 trouble", "554 5.7.0 blocked"])
def test_a_server_that_takes_nothing_is_no_messages_failure(db: Session, server: MailServer, fault: str) -> None:
    """Nothing is lost, and no message is blamed: when it takes mail again, all of it arrives."""
    _tell(db, "a@x.org", "b@x.org")
    server.says["MAIL"] = fault
    with pytest.raises(ServerDown):
        _deliver(db, server)
    assert [mail.attempts for mail in _queue(db).mails] == [0, 0]
    server.says.clear()
    assert _deliver(db, server) == 2


@pytest.mark.parametrize("address", ["cut@x.org", "closing@x.org"])
def test_a_message_at_which_the_server_breaks_off_lets_others_pass(
    db: Session, server: MailServer, address: str
) -> None:
    """It may be the server or the message: this pass ends, and the next one begins with the others."""
    _tell(db, address, "good@x.org")
    with pytest.raises(ServerDown):
        _deliver(db, server)
    assert _deliver(db, server) == 1
    assert server.messages[0]["To"] == "good@x.org"
    assert _of(db, address).attempts == 1


def test_how_a_connection_ends_does_not_send_a_message_twice(db: Session, server: MailServer) -> None:
    """A server that has taken the message and then says something odd to QUIT has taken it."""
    server.says["QUIT"] = "500 what?"
    _tell(db, "good@x.org")
    assert _deliver(db, server) == 1
    assert _deliver(db, server) == 0
    assert len(server.messages) == 1


def test_the_mail_library_may_fall_over_one_message(
    db: Session, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it raises is the failure of that message: the others are sent in the same pass."""
    _tell(db, "odd@x.org", "good@x.org")
    really = EmailMessage.as_bytes

    def fall(message: EmailMessage, *given: object, **named: object) -> bytes:
        if "odd" in message["To"]:
            raise IndexError("pop from an empty list")
        return really(message, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(EmailMessage, "as_bytes", fall)
    assert _deliver(db, server) == 1
    assert "IndexError" in _of(db, "odd@x.org").reason


def test_a_message_that_cannot_be_put_into_words_is_its_own_failure(db: Session, server: MailServer) -> None:
    """A template whose values are gone, as a broken row could have it, ends no pass."""
    _tell(db, "odd@x.org", "good@x.org")
    first = db.scalars(select(Notification).order_by(Notification.id)).first()
    assert first
    first.said = {"template": "{nothing}", "values": {"other": 1}}
    db.commit()
    assert _deliver(db, server) == 1
    assert _of(db, "odd@x.org").reason.startswith("KeyError")


@pytest.mark.both_databases
def test_a_broken_account_that_asks_for_a_password_stops_nothing(db: Session, server: MailServer) -> None:
    """The address is refused when it is written; the links of others go out."""
    _tell(db, BROKEN)
    good = make_person(db, "greta", RoleName.WORKER)
    accounts.update_profile(db, good, email="greta@x.org")
    for name in ("p0", "greta", "greta"):
        links.ask_password_link(db, name, base_url="http://q")
    assert _deliver(db, server) == 1
    assert [message["To"] for message in server.messages] == ["greta@x.org"]


def test_what_is_not_wanted_any_more_is_dropped(db: Session, server: MailServer, worker: Actor) -> None:
    """Who has switched e-mails off, or taken the address away, gets none; after a week nothing is left of it."""
    accounts.update_profile(db, worker, email_notifications=True)
    assert worker.user_id
    notify.notify(db, worker.user_id, "test", Text("one"))
    accounts.update_profile(db, worker, email_notifications=False)
    assert _deliver(db, server) == 0
    assert _queue(db, MailState.DROPPED).total == 1
    with clock(lambda: datetime.now().astimezone() + timedelta(days=8)):
        mailing.forget_old(db)
    assert _queue(db, MailState.DROPPED).total == 0


def test_nobody_waits_for_ever(db: Session, server: MailServer) -> None:
    """What could not be sent for a day has failed, says why, and can be tried again."""
    _tell(db, "a@x.org")
    assert _deliver(db, server, timedelta(hours=25)) == 0
    (failed,) = _queue(db, MailState.FAILED).mails
    assert failed.reason == "It could not be sent for a day."
    assert mailing.try_again(db, OPERATOR, [failed.id]) == 1
    assert _deliver(db, server) == 1


def test_the_queue_is_for_admins(db: Session, server: MailServer, worker: Actor) -> None:
    """They try one again or give it up, by its number or all that failed; others may not even look."""
    _tell(db, "refused@x.org", "spam@x.org")
    for hours in (0, 2):
        _deliver(db, server, timedelta(hours=hours))
    first, second = (mail.id for mail in _queue(db, MailState.FAILED).mails)
    assert mailing.give_up(db, OPERATOR, [first]) == 1
    with pytest.raises(NotFound, match=f"e-mail {first}"):
        mailing.try_again(db, OPERATOR, [second, first])
    assert _of(db, "spam@x.org").state == "failed"  # one that is gone undoes the rest
    assert mailing.try_again(db, OPERATOR) == 1
    assert mailing.give_up(db, OPERATOR) == 0  # none has failed now
    for verb in (
        lambda: mailing.mail_queue(db, worker, Mail()),
        lambda: mailing.try_again(db, worker),
        lambda: mailing.give_up(db, worker),
    ):
        with pytest.raises(Forbidden):
            verb()


@pytest.mark.both_databases
def test_a_process_that_dies_while_it_sends_leaves_the_message_to_others(db: Session, server: MailServer) -> None:
    """Its lease runs out after minutes; until then nobody else takes it."""
    _tell(db, "a@x.org")
    db.execute(update(OutgoingMail).values(lease_until=now() + mailing.LEASE, generation=1, attempts=1))
    db.commit()
    assert _deliver(db, server) == 0
    assert _deliver(db, server, mailing.LEASE + timedelta(seconds=1)) == 1


def test_sending_says_who_is_to_blame(server: MailServer) -> None:
    """A refusal names the reply and whether it is final; a server that is away is another thing."""
    for address, final in {"refused": True, "spam": True, "later": False, "full": False}.items():
        with pytest.raises(MessageRefused) as refused:
            send(Mail(server.url), f"{address}@x.org", "x", "y")
        assert refused.value.final is final
    for url in ("smtp://127.0.0.1:1", "smtp://127.0.0.1:port", "mail.example.org"):
        with pytest.raises(ServerDown):
            send(Mail(url), "a@x.org", "x", "y")


def test_addresses_that_cannot_be_written_are_refused_where_they_enter(db: Session, worker: Actor) -> None:
    """At registration, on one's own account and at an invitation."""
    for verb in (
        lambda: accounts.register(db, "eve", "a new good password", is_open=True, email=BROKEN),
        lambda: accounts.update_profile(db, worker, email=BROKEN),
        lambda: accounts.invite(db, OPERATOR, "eve", email=BROKEN),
    ):
        with pytest.raises(BadInput, match="is not an e-mail address"):
            verb()


def test_an_account_is_found_by_its_address_however_it_is_typed(db: Session, worker: Actor) -> None:
    """Capital letters, spaces around it and composed letters are the same address."""
    accounts.update_profile(db, worker, email=" Jo\u0308rg@Example.org ")
    assert accounts.get_person(db, OPERATOR, "JÖRG@example.org").name == "wilma"


def test_who_is_erased_leaves_no_mail(db: Session, workspace: Workspace, server: MailServer) -> None:
    """Their queued e-mails go with them."""
    _tell(db, "a@x.org")
    user = db.scalars(select(User).where(User.email == "a@x.org")).one()
    with transaction(db):
        personal.erase(db, user, now())
    assert db.scalar(text("SELECT count(*) FROM outgoing_mails")) == 0
