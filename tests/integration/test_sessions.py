"""Signing in, staying signed in, and how often one may try; tokens for programs."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, NotSignedIn, TooMany
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.services import accounts, sessions, throttle, tokens
from quintain.services.health import tidy
from quintain.services.passwords import hash_password
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.tables import ApiToken, Throttle, User, WebSession

PASSWORD = "correct horse battery"


@pytest.fixture
def wilma(db: Session, worker: Actor) -> Actor:
    """The worker, with a password."""
    _set_hash(db, hash_password(PASSWORD))
    return worker


def _set_hash(db: Session, kept: str) -> None:
    with transaction(db):
        db.execute(update(User).where(User.name == "wilma").values(password_hash=kept))


def _age(db: Session, **columns: object) -> None:
    with transaction(db):
        db.execute(update(WebSession).values(**columns))
    db.expire_all()


def test_a_session_knows_who_it_is(db: Session, wilma: Actor) -> None:
    """The cookie gives back the person with roles and a CSRF token; the database keeps only its hash."""
    started = sessions.start_session(db, sessions.authenticate(db, " Wilma ", PASSWORD), user_agent="Firefox")
    opened = sessions.open_session(db, started.token)
    assert opened is not None
    assert (opened.actor, opened.csrf) == (wilma, started.csrf)
    assert started.token not in db.scalars(select(WebSession.token_hash)).all()
    sessions.end_session(db, started.token)
    sessions.end_session(db, started.token)
    assert sessions.open_session(db, started.token) is None


@pytest.mark.parametrize("token", ["", "x", "qt_x", "\ud800", "a" * 10_000])
def test_a_cookie_that_is_none_opens_nothing(db: Session, token: str) -> None:
    """Whatever a browser sends, the answer is that nobody is signed in."""
    assert sessions.open_session(db, token) is None


def test_a_session_that_is_used_lasts_longer(db: Session, wilma: Actor) -> None:
    """Use moves the end, up to a limit since the beginning; without use it ends."""
    token = sessions.start_session(db, wilma).token
    _age(db, seen_at=now() - timedelta(days=10), expires_at=now() + timedelta(days=4))
    assert sessions.open_session(db, token)
    assert sessions.list_sessions(db, wilma)[0].expires_at > now() + timedelta(days=13)
    _age(db, created_at=now() - timedelta(days=89), seen_at=now() - timedelta(days=1))
    assert sessions.open_session(db, token)
    db.expire_all()
    assert sessions.list_sessions(db, wilma)[0].expires_at < now() + timedelta(days=2)
    _age(db, expires_at=now() - timedelta(seconds=1))
    assert sessions.open_session(db, token) is None
    tidy(db)
    assert db.scalars(select(WebSession)).all() == []


def test_roles_taken_away_are_gone_at_once(db: Session, wilma: Actor) -> None:
    """A session that is open does not keep a role that was revoked."""
    token = sessions.start_session(db, wilma).token
    accounts.revoke_role(db, OPERATOR, "wilma", RoleName.WORKER)
    opened = sessions.open_session(db, token)
    assert opened is not None
    assert not opened.actor.has(RoleName.WORKER)


def test_own_sessions_can_be_seen_and_ended(db: Session, wilma: Actor, builder: Actor) -> None:
    """A person ends one or all other sessions of their own, and nobody else's."""
    first, second, third = (sessions.start_session(db, wilma, user_agent=name) for name in ("a", "b", "c"))
    foreign = sessions.start_session(db, builder)
    current = sessions.open_session(db, first.token)
    assert current is not None
    listed = {item.user_agent: item for item in sessions.list_sessions(db, wilma, current=current.id)}
    assert [name for name, item in listed.items() if item.current] == ["a"]
    sessions.revoke_session(db, wilma, listed["b"].id)
    assert sessions.open_session(db, second.token) is None
    with pytest.raises(NotFound):
        sessions.revoke_session(db, builder, listed["c"].id)
    assert sessions.revoke_other_sessions(db, wilma, current=current.id) == 1
    assert sessions.open_session(db, third.token) is None
    assert sessions.open_session(db, foreign.token)


def test_wrong_name_and_wrong_password_look_the_same(db: Session, wilma: Actor, builder: Actor) -> None:
    """Unknown names, accounts without password and wrong passwords give one answer and take one time."""
    sessions.authenticate(db, "wilma", PASSWORD)
    said, took = set(), []
    for name, password in (("wilma", "wrong"), ("nobody", PASSWORD), ("bert", PASSWORD), ("x@y", "wrong")):
        began = time.process_time()
        with pytest.raises(NotSignedIn) as caught:
            sessions.authenticate(db, name, password)
        took.append(time.process_time() - began)
        said.add(str(caught.value))
    assert len(said) == 1
    assert min(took) > max(took) / 5


def test_old_hashes_are_made_stronger(db: Session, worker: Actor) -> None:
    """A password kept with weaker parameters is hashed again when it is used."""
    weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    _set_hash(db, weak)
    sessions.authenticate(db, "wilma", PASSWORD)
    db.rollback()
    kept = db.scalar(select(User.password_hash).where(User.name == "wilma"))
    assert kept != weak
    assert sessions.authenticate(db, "wilma", PASSWORD)


def test_trying_is_limited_by_name_and_by_address(db: Session, wilma: Actor) -> None:
    """After the limit even the right password has to wait, for that name, and for that address."""
    for number in range(3):
        with pytest.raises(NotSignedIn):
            sessions.authenticate(db, "wilma", "wrong", address=f"10.0.0.{number}", attempts=3)
    with pytest.raises(TooMany) as caught:
        sessions.authenticate(db, "wilma", PASSWORD, address="10.0.0.9", attempts=3)
    assert 0 < caught.value.retry_after <= 300
    for number in range(3):
        with pytest.raises(NotSignedIn):
            sessions.authenticate(db, f"name{number}", "wrong", address="10.1.1.1", attempts=3)
    with pytest.raises(TooMany):
        sessions.authenticate(db, "name9", "wrong", address="10.1.1.1", attempts=3)


def test_a_new_password_needs_the_old_and_ends_other_sessions(db: Session, wilma: Actor) -> None:
    """Without the present password nothing changes; with it all other browsers are signed out."""
    here, there = sessions.start_session(db, wilma), sessions.start_session(db, wilma)
    current = sessions.open_session(db, here.token)
    assert current is not None
    with pytest.raises(BadInput, match="present password"):
        accounts.change_password(db, wilma, "wrong", "another good password")
    with pytest.raises(BadInput, match="at least 10"):
        accounts.change_password(db, wilma, PASSWORD, "short")
    accounts.change_password(db, wilma, PASSWORD, "another good password", current=current.id)
    assert sessions.open_session(db, here.token)
    assert sessions.open_session(db, there.token) is None
    assert sessions.authenticate(db, "wilma", "another good password")


def test_limits_hold_across_processes_and_are_per_key(workspace: Workspace, db: Session) -> None:
    """Threads with connections of their own share one count: exactly the limit gets through."""

    def attempt(_: int) -> bool:
        with workspace.session() as mine:
            try:
                throttle.hit(mine, "model:1", 20, 3600)
            except TooMany:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(50))) == 20
    throttle.hit(db, "model:2", 20, 3600)


def test_the_window_before_still_counts(db: Session) -> None:
    """Waiting for a new window to begin does not give the whole limit again."""
    hour = 3600
    window = int(time.time() // hour) * hour
    with transaction(db):
        db.add(Throttle(key=f"x:{hour}", window=window - hour, count=1_000_000))
    with pytest.raises(TooMany, match="60 minutes"):
        throttle.hit(db, "x", 10, hour)


def test_a_token_acts_for_its_owner(db: Session, worker: Actor) -> None:
    """A token is shown once, kept as a hash, and gives the person with their roles."""
    secret, info = tokens.create_token(db, worker, " laptop ")
    assert secret.startswith("qt_")
    assert (info.name, info.hint) == ("laptop", secret[:8])
    assert tokens.actor_for_token(db, secret) == worker
    assert secret not in db.scalars(select(ApiToken.token_hash)).all()
    db.expire_all()
    assert [token.used_at is None for token in tokens.list_tokens(db, worker)] == [False]


def test_tokens_end(db: Session, worker: Actor, builder: Actor) -> None:
    """An expired token says when it expired; a revoked one is unknown; nobody revokes another's."""
    secret, info = tokens.create_token(db, worker, "old", days=1)
    with pytest.raises(NotFound):
        tokens.revoke_token(db, builder, info.id)
    with transaction(db):
        db.execute(update(ApiToken).values(expires_at=now() - timedelta(hours=1)))
    db.expire_all()
    with pytest.raises(NotSignedIn, match="'old' expired on 20"):
        tokens.actor_for_token(db, secret)
    assert tokens.list_tokens(db, worker)[0].expired
    tokens.revoke_token(db, worker, info.id)
    with pytest.raises(NotSignedIn, match="not known"):
        tokens.actor_for_token(db, secret)
    assert tokens.list_tokens(db, worker) == []


@pytest.mark.parametrize("secret", ["", "qt_", "qt_nonsense", "Bearer x", "\x00", "\ud800"])
def test_what_is_no_token_is_refused(db: Session, secret: str) -> None:
    """Nonsense in place of a token is answered like an unknown one."""
    with pytest.raises(NotSignedIn, match="not known"):
        tokens.actor_for_token(db, secret)


def test_tokens_need_a_name_a_time_and_an_account(db: Session, worker: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty names and impossible times are refused together; the operator and strangers have no tokens."""
    with pytest.raises(BadInput) as caught:
        tokens.create_token(db, worker, "  ", days=0)
    assert [fault.field for fault in caught.value.faults] == ["name", "days"]
    with pytest.raises(Forbidden):
        tokens.create_token(db, OPERATOR, "x")
    with pytest.raises(NotSignedIn):
        tokens.create_token(db, ANONYMOUS, "x")
    monkeypatch.setattr(tokens, "MOST_PER_PERSON", 1)
    assert tokens.create_token(db, worker, "one", days=None)[1].expires_at is None
    with pytest.raises(Conflict, match="Revoke"):
        tokens.create_token(db, worker, "two")
