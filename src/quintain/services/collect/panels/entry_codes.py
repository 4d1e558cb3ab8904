"""What somebody at a door can do who has shown nothing yet: have a code sent, ask an owner, and type the code."""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from sqlalchemy.orm import Session

from quintain.core.records.access import MailPurpose, MailState
from quintain.core.texts import Text
from quintain.services.access import throttle
from quintain.services.access.mail import Mail
from quintain.services.access.notify import notify_all, notify_once
from quintain.services.access.passwords import fingerprint
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import mails
from quintain.store.queries.access.people import owners
from quintain.store.queries.collect import guests
from quintain.store.tables import OutgoingMail, PanelRequest, User

NAMES = "p-"  # how accounts of people from panels begin
LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")  # of base 32
BY_MAIL = timedelta(hours=1)
BY_OWNER = timedelta(days=7)
FEW_BY_ADDRESS = 3  # people who come from one address before owners are told


class EntryCodeRequest(Protocol):
    """What is asked for at a door: a code that was typed, what is wanted instead, and how mail is sent."""

    @property
    def code(self) -> str:
        """The code that was typed, if one was."""

    @property
    def ask(self) -> str:
        """`mail` for a code by mail, `owner` to ask an owner."""

    @property
    def mail(self) -> Mail:
        """How mail is sent."""


@dataclass(frozen=True, slots=True)
class EntryCodeForm:
    """What somebody at a door is asked: *mail* says that a code can be mailed; *request* is what became of asking.

    *sent* says that a code was mailed just now; *wrong* that the one that was typed is no good.
    """

    mail: bool
    request: str
    sent: bool = False
    wrong: bool = False


def new_name() -> str:
    """Make a name for an account that says nothing about whose it is."""
    return f"{NAMES}{secrets.token_hex(6)}"


def new_code() -> str:
    """Make a code that can be read out and typed."""
    return base64.b32encode(secrets.token_bytes(5)).decode()


def stored_code(user_id: int, code: str) -> str:
    """Return what is kept of a code, however it was typed."""
    letters = "".join(letter for letter in code.upper() if letter in LETTERS)
    return fingerprint(f"door:{user_id}:{letters}")


def use(db: Session, task_id: int, user_id: int, device: str, code: str) -> str | None:
    """Use up what lets somebody in: the code that they typed, or an owner's leave for this browser; give its way."""
    moment = now()
    if code.strip():
        way = guests.use_code(db, user_id, task_id, stored_code(user_id, code), moment)
        if way is not None:
            return way
    request = guests.request_of(db, user_id, device, task_id, moment)
    if request is not None and request.state == "allowed" and guests.use_request(db, request.id):
        return request.way
    return None


def ask(db: Session, task: str, task_id: int, user_id: int, device: str, visitor: EntryCodeRequest) -> EntryCodeForm:
    """Do what somebody asks for who has shown nothing yet, and say what they can do."""
    user = db.get_one(User, user_id)
    can_mail = visitor.mail.enabled and user.email is not None
    sent = visitor.ask == "mail" and can_mail and _queue_code(db, task_id, user)
    request = guests.request_of(db, user_id, device, task_id, now())
    if visitor.ask == "owner" and request is None:
        request = _ask_owner(db, task, task_id, user, device)
    state = request.state if request is not None else ""
    return EntryCodeForm(can_mail, state, sent, wrong=bool(visitor.code.strip()))


def make_code(db: Session, task_id: int, user_id: int) -> str:
    """Make a code for somebody that an owner hands on, in the caller's transaction."""
    code = new_code()
    db.add(_request(task_id, user_id, way="owner", code=code, lasts=BY_OWNER))
    return code


def report_shared_addresses(db: Session, task: str, task_id: int, user_id: int) -> None:
    """Tell the owners of a task, once each, that people who are new came by one browser, or many from one address."""
    (row,), _ = guests.guests(db, task_id, users=[user_id])
    if row.same_browser or row.same_address >= FEW_BY_ADDRESS:
        text = Text("Several people from panels came to {task} by one browser, or from one address.", task=task)
        for owner in owners(db, task):
            notify_once(db, owner, "panel.twins", text, f"/tasks/{task}/panel")


def mailed_code(db: Session, user: User) -> str:
    """Make the code that an e-mail is to bring: it is good wherever its reader asked for one, instead of older ones."""
    code = new_code()
    with transaction(db):
        guests.set_mailed_code(db, user.id, stored_code(user.id, code), now())
    return code


def _queue_code(db: Session, task_id: int, user: User) -> bool:
    """Queue an e-mail with a code; whether it could be sent is for Health: said here, it would tell of the address."""
    throttle.hit(db, f"door:mail:{user.id}", 3, 3600)
    with transaction(db):
        db.add(_request(task_id, user.id, way="mail", lasts=BY_MAIL))
        if not mails.waits_for(db, user.id, MailPurpose.DOOR):
            moment = now()
            values = {"purpose": MailPurpose.DOOR.value, "state": MailState.WAITING.value, "asked_at": moment}
            db.add(OutgoingMail(user_id=user.id, next_at=moment, expires_at=moment + BY_MAIL, **values))
    return True


def _ask_owner(db: Session, task: str, task_id: int, user: User, device: str) -> PanelRequest:
    throttle.hit(db, f"door:ask:{user.id}", 5, 3600)
    with transaction(db):
        row = _request(task_id, user.id, way="owner", device=device, lasts=BY_OWNER)
        db.add(row)
        db.flush()
        text = Text("{name} wants to come in to {task} by another browser.", name=user.name, task=task)
        notify_all(db, owners(db, task), "panel.request", text, f"/tasks/{task}/panel")
    return row


def _request(
    task_id: int, user_id: int, *, way: str, lasts: timedelta, code: str = "", device: str = ""
) -> PanelRequest:
    return PanelRequest(
        task_id=task_id,
        user_id=user_id,
        device=device,
        way=way,
        code_hash=stored_code(user_id, code) if code else "",
        expires_at=now() + lasts,
    )
