"""Links that work once: for the first admin, for invitations, for forgotten passwords."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.access import MailPurpose, MailState
from quintain.services.access import audit, throttle
from quintain.services.access.actors import actor_of, find_user, normal_name
from quintain.services.access.notify import MAIL_FOR
from quintain.services.access.passwords import check_password, fingerprint, hash_password, new_secret
from quintain.services.access.permissions import require_admin
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import mails, people
from quintain.store.tables import OneTimeLink, OutgoingMail, User

log = logging.getLogger(__name__)


class Purpose(StrEnum):
    """What a link is for, which says how long it lasts."""

    FIRST_ADMIN = "first-admin"
    INVITATION = "invitation"
    FORGOTTEN = "forgotten"


LIFETIMES = {
    Purpose.FIRST_ADMIN: timedelta(days=7),
    Purpose.INVITATION: timedelta(days=14),
    Purpose.FORGOTTEN: timedelta(days=1),
}


@dataclass(frozen=True, slots=True)
class Link:
    """A link that was just made. Its *token* is known only now: the database keeps its hash."""

    token: str
    name: str
    purpose: Purpose
    expires_at: datetime

    def url(self, base: str) -> str:
        """Return the whole address, where the application is reached at *base*."""
        return f"{base.rstrip('/')}/link/{self.token}"


def make_link(db: Session, actor: Actor, name: str) -> Link:
    """Make a link with which *name* can choose a new password. Older ones stop working."""
    require_admin(actor)
    with transaction(db):
        user = find_user(db, name)
        audit.record(db, actor, "link.make", f"user:{user.id}", purpose=Purpose.FORGOTTEN.value)
        return issue(db, user, Purpose.FORGOTTEN)


def issue(db: Session, user: User, purpose: Purpose) -> Link:
    """Make a link for *user* inside the caller's transaction; whoever calls it has checked that it may be made."""
    moment = now()
    people.end_links(db, user.id, moment)
    token = new_secret()
    expires_at = moment + LIFETIMES[purpose]
    db.add(OneTimeLink(token_hash=fingerprint(token), user_id=user.id, purpose=purpose.value, expires_at=expires_at))
    return Link(token=token, name=user.name, purpose=purpose, expires_at=expires_at)


def look_up_link(db: Session, token: str) -> tuple[str, Purpose]:
    """Return whose link *token* is and what for, without using it up; one that is used, old or unknown is refused."""
    link = db.get(OneTimeLink, fingerprint(token))
    user = db.get(User, link.user_id) if link else None
    if link is None or user is None or user.deleted_at or link.used_at or link.expires_at <= now():
        raise _void()
    return user.name, Purpose(link.purpose)


def redeem_link(db: Session, token: str, password: str, *, language: str = "en") -> Actor:
    """Use up a link: set the password, sign out everywhere else, and give the person as an actor.

    API tokens end, too: whoever needs a new password may have lost more than that one.
    An account that nobody has chosen a language for speaks *language* from now on.
    """
    name, _ = look_up_link(db, token)
    check_password(password, name=name)
    password_hash = hash_password(password)  # slow on purpose, so before the transaction
    with transaction(db):
        link = people.use_link(db, fingerprint(token), now())
        user = db.get(User, link.user_id) if link else None
        if link is None or user is None or user.deleted_at:
            raise _void()
        user.password_hash = password_hash
        user.language = user.language or language
        people.end_sessions(db, user.id)
        people.revoke_tokens(db, user.id, now())
        people.end_links(db, user.id, now())
        actor = actor_of(db, user)
        audit.record(db, actor, "link.redeem", f"user:{user.id}", purpose=link.purpose)
        return actor


def ask_password_link(db: Session, who: str, *, base_url: str | None, address: str = "", language: str = "") -> None:
    """Queue an e-mail with a link for whoever forgot their password; the link is made when the e-mail is sent.

    Nobody learns from it whether there is such an account, or whether mail reaches it. Where *base_url* is None, nobody
    knows what address people use: none is sent, and the log says so. The e-mail is in the *language* of the page where
    the person has neither chosen one nor ever signed in.
    """
    name = normal_name(who)
    throttle.hit(db, f"forgot:name:{fingerprint(name)}", 3, 3600)
    if address:
        throttle.hit(db, f"forgot:address:{address}", 20, 3600)
    if base_url is None:
        log.warning("A link for a forgotten password was not sent: set QUINTAIN_PUBLIC_URL to the address people use.")
        return
    user = people.user_by_name(db, name) if name.isprintable() else None
    if user is None or user.email is None:
        return
    with transaction(db):
        user.seen_language = user.seen_language or language
        if not mails.waits_for(db, user.id, MailPurpose.PASSWORD):
            moment = now()
            values = {"purpose": MailPurpose.PASSWORD.value, "state": MailState.WAITING.value, "asked_at": moment}
            db.add(OutgoingMail(user_id=user.id, next_at=moment, expires_at=moment + MAIL_FOR, **values))
            audit.record(db, OPERATOR, "link.ask", f"user:{user.id}")


def mail_link(db: Session, user: User) -> Link:
    """Make the link that an e-mail for a forgotten password is to bring; older ones stop working."""
    with transaction(db):
        audit.record(db, OPERATOR, "link.mail", f"user:{user.id}")
        return issue(db, user, Purpose.FORGOTTEN)


def _void() -> NotFound:
    return NotFound(
        "This link has been used, has expired, or never was one.",
        remedy="Ask an admin for a new one, or use 'forgotten password'.",
    )
