"""Signing in with a browser: who it is, the session that remembers it, and its end."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound, NotSignedIn
from quintain.core.people import EVERYTHING, Actor, Grant, RoleName, Scope
from quintain.services.access import audit, throttle
from quintain.services.access.actors import actor_of, normal_name
from quintain.services.access.passwords import fingerprint, hash_password, needs_rehash, new_secret, verify_password
from quintain.services.access.permissions import require_account, require_user
from quintain.services.access.scopes import from_text, to_text
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import people
from quintain.store.tables import User, WebSession

DEVICE_LIFETIME = timedelta(days=365)
_FOR = b"quintain: known device"


def make_device_mark(user: User) -> str:
    """Mark the browser that asks as one of *user*'s, who has just shown who they are."""
    content = f"{secrets.token_hex(8)}.{int((now() + DEVICE_LIFETIME).timestamp())}"
    return f"{content}.{_sign(user, content)}"


def read_device_mark(user: User | None, mark: str) -> str | None:
    """Return the name of the browser that *mark* was made for, or None where it is not one of *user*'s."""
    device, _, rest = mark.partition(".")
    until, _, signature = rest.partition(".")
    if user is None or user.password_hash is None or not (until.isascii() and until.isdigit() and len(until) < 12):
        return None
    right = hmac.compare_digest(signature.encode(errors="replace"), _sign(user, f"{device}.{until}").encode())
    return device if right and int(until) > now().timestamp() else None


def _sign(user: User, content: str) -> str:
    key = hmac.digest(_FOR, (user.password_hash or "").encode(), "sha256")
    return hmac.new(key, f"{user.id}.{content}".encode(errors="replace"), hashlib.sha256).hexdigest()


LIFETIME = timedelta(days=14)  # since it was last used
LONGEST = timedelta(days=90)  # since it was begun, however often it is used
TOUCH_EVERY = timedelta(minutes=5)  # a page view writes only when the last one that wrote is this old
LOGIN_WINDOW_S = 300
FROM_ONE_ADDRESS = 5  # times the attempts at one name that all names together get from one address
FOR_ONE_NAME = 10  # times the attempts from one address that a name gets from all addresses together


@dataclass(frozen=True, slots=True)
class StartedSession:
    """A session that was just begun. *token* goes into the cookie and is known only now."""

    token: str
    csrf: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Who a browser belongs to, and the CSRF token that its forms must carry."""

    actor: Actor
    csrf: str
    language: str
    id: str


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One browser in which a person is signed in; *current* marks the one that asks."""

    id: str
    user_agent: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    current: bool


def authenticate(
    db: Session, name: str, password: str, *, address: str = "", attempts: int = 10, device: str = ""
) -> Actor:
    """Return who this is, or raise NotSignedIn. Only *attempts* that fail, per name and *address*, in five minutes.

    A name from all addresses, and an address over all names, have wider limits. A browser whose mark *device* says
    that this person has signed in with it before has *attempts* of its own: what others try does not keep it out.
    An unknown name, an account without a password and a wrong password look and take the same.
    """
    name = normal_name(name)
    user = people.user_by_name(db, name)
    password_hash = user.password_hash if user else None
    # An account has one limit, whether it is called by its name or by its e-mail address.
    limits = _limits(user.name if user else name, address, attempts, read_device_mark(user, device))
    for key, limit in limits.items():
        throttle.hit(db, key, limit, LOGIN_WINDOW_S)
    db.rollback()  # hashing takes a while: hold no connection meanwhile
    if not verify_password(password_hash, password) or user is None or password_hash is None:
        raise NotSignedIn(
            "The name or the password is wrong.", remedy="Try again, or ask for a new password.", code="wrong_password"
        )
    for key in limits:
        throttle.forgive(db, key, LOGIN_WINDOW_S)
    if needs_rehash(password_hash):
        _rehash(db, user.id, password_hash, password)
    return actor_of(db, user)


def _limits(name: str, address: str, attempts: int, device: str | None) -> dict[str, int]:
    if device is not None:
        return {f"login:device:{device}": attempts}
    # What names one person comes last in the key: a name may be as long as somebody likes.
    limits = {f"login:address:{address}": attempts * FROM_ONE_ADDRESS} if address else {}
    return {
        **limits,
        f"login:both:{address}:{fingerprint(name)}": attempts,
        f"login:name:{fingerprint(name)}": attempts * FOR_ONE_NAME,
    }


def mark_device(db: Session, actor: Actor) -> str:
    """Return the mark by which a browser in which *actor* has signed in is known again."""
    return make_device_mark(db.get_one(User, require_user(actor)))


def start_session(
    db: Session,
    actor: Actor,
    *,
    user_agent: str = "",
    scopes: frozenset[Scope] = EVERYTHING,
    task_id: int | None = None,
    language: str = "",
) -> StartedSession:
    """Begin a session for *actor*, who has shown who they are; or one that is good for *scopes* on one task only.

    Where they have chosen no language, they are written to in the *language* of the page.
    """
    user_id = require_user(actor)
    token, csrf, moment = new_secret(), new_secret(), now()
    with transaction(db):
        db.add(
            WebSession(
                token_hash=fingerprint(token),
                user_id=user_id,
                csrf=csrf,
                user_agent=user_agent[:200],
                expires_at=moment + LIFETIME,
                scopes="" if scopes == EVERYTHING else to_text(scopes),
                task_id=task_id,
            )
        )
        if language:
            people.see_language(db, user_id, language)
        audit.record(db, actor, "session.start", f"user:{user_id}")
    return StartedSession(token=token, csrf=csrf, expires_at=moment + LIFETIME)


def open_session(db: Session, token: str) -> OpenSession | None:
    """Return whose session *token* is, or None; one that is used lasts longer."""
    moment = now()
    session_and_grants = people.session_with_user(db, fingerprint(token), moment)
    if session_and_grants is None:
        return None
    session, grants = session_and_grants
    if moment - session.seen_at > TOUCH_EVERY:
        expires_at = min(moment + LIFETIME, session.created_at + LONGEST)
        with transaction(db):
            people.prolong_session(db, session.token_hash, moment, expires_at)
    allows = from_text(session.scopes) if session.scopes else EVERYTHING
    actor = limited(
        Actor(user_id=session.user_id, name=session.name, grants=frozenset(grants)), allows, session.door_task
    )
    return OpenSession(actor=actor, csrf=session.csrf, language=session.language, id=session.token_hash)


def limited(actor: Actor, scopes: frozenset[Scope], task: str | None) -> Actor:
    """Return an actor as a lesser session has them: good for *scopes* and, with a *task*, at work on that one."""
    if task is None:
        return replace(actor, allows=scopes)
    working = (RoleName.WORKER, RoleName.EXPERT)
    held = {Grant(grant.role, task) for grant in actor.grants if grant.role in working and grant.task in (None, task)}
    return replace(actor, grants=frozenset(held), allows=scopes, task=task)


def end_session(db: Session, token: str) -> None:
    """End the session of *token*: sign out. It is no error when it has ended already."""
    with transaction(db):
        session = db.get(WebSession, fingerprint(token))
        if session is not None:
            db.delete(session)


def list_sessions(db: Session, actor: Actor, *, current: str = "") -> list[SessionInfo]:
    """List the browsers in which *actor* is signed in; *current* is the id of the one that asks."""
    return [
        SessionInfo(
            id=item.token_hash,
            user_agent=item.user_agent,
            created_at=item.created_at,
            seen_at=item.seen_at,
            expires_at=item.expires_at,
            current=item.token_hash == current,
        )
        for item in people.sessions_of(db, require_user(actor), now())
    ]


def revoke_session(db: Session, actor: Actor, session_id: str) -> None:
    """End one of the actor's own sessions, by its id in `list_sessions`."""
    user_id = require_account(actor)
    with transaction(db):
        if not people.end_sessions(db, user_id, only=session_id):
            raise NotFound("There is no such session.", remedy="It may have ended already.")
        audit.record(db, actor, "session.revoke", f"user:{user_id}")


def revoke_other_sessions(db: Session, actor: Actor, *, current: str) -> int:
    """End all of the actor's sessions but the *current* one, and count them."""
    user_id = require_account(actor)
    with transaction(db):
        ended = people.end_sessions(db, user_id, keep=current)
        audit.record(db, actor, "session.revoke_others", f"user:{user_id}", count=ended)
        return ended


def _rehash(db: Session, user_id: int, old_hash: str, password: str) -> None:
    stronger = hash_password(password)
    with transaction(db):
        user = db.get(User, user_id)
        if user is not None and user.password_hash == old_hash:
            user.password_hash = stronger
