"""Signing in, staying signed in, and how often one may try; tokens for programs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound, NotSignedIn, TooMany
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName, Scope
from quintain.services.access import accounts, sign_in, throttle, tokens
from quintain.services.access import sign_in as sessions
from quintain.services.access.passwords import hash_password
from quintain.services.house.health import tidy
from quintain.settings import Settings
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.tables import ApiToken, Throttle, User, WebSession
from tests.refusals import refusal

PASSWORD = "correct horse battery"


@pytest.fixture
def wilma(db: Session, worker: Actor) -> Actor:
    """The worker, with a password."""
    _set_hash(db, hash_password(PASSWORD))
    return worker


def _set_hash(db: Session, kept: str, *, name: str = "wilma") -> None:
    with transaction(db):
        db.execute(update(User).where(User.name == name).values(password_hash=kept))


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


@pytest.mark.both_databases
def test_a_session_that_is_used_lasts_longer(db: Session, blobs: Blobs, wilma: Actor) -> None:
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
    tidy(db, blobs)
    assert db.scalars(select(WebSession)).all() == []


def test_roles_taken_away_are_gone_at_once(db: Session, wilma: Actor) -> None:
    """A session that is open does not keep a role that was revoked."""
    token = sessions.start_session(db, wilma).token
    accounts.revoke_role(db, OPERATOR, "wilma", RoleName.WORKER)
    opened = sessions.open_session(db, token)
    assert opened is not None
    assert not opened.actor.has(RoleName.WORKER)


@pytest.mark.both_databases
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


@pytest.mark.usefixtures("costly_passwords")
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


def test_passwords_are_kept_with_the_full_work_outside_of_tests() -> None:
    """What tests do to be quick stays in tests: no setting, no variable of the surroundings makes the work less."""
    code = "from quintain.services.access.passwords import hash_password; print(hash_password('correct horse battery'))"
    surroundings = {**os.environ, "PYTEST_CURRENT_TEST": "any", "QUINTAIN_TEST": "1", "CI": "true"}
    kept = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=surroundings, check=True)

    assert kept.stdout.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert not [one.name for one in fields(Settings) if "hash" in one.name or "password" in one.name]


@pytest.mark.usefixtures("costly_passwords")
def test_old_hashes_are_made_stronger(db: Session, worker: Actor) -> None:
    """A password kept with weaker parameters is hashed again when it is used."""
    weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    _set_hash(db, weak)
    sessions.authenticate(db, "wilma", PASSWORD)
    db.rollback()
    kept = db.scalar(select(User.password_hash).where(User.name == "wilma"))
    assert kept != weak
    assert sessions.authenticate(db, "wilma", PASSWORD)


def fail_to_log_in(db: Session, name: str, address: str, times: int, *, device: str = "") -> None:
    """Try a wrong password some times, where two are allowed."""
    for _ in range(times):
        with pytest.raises(NotSignedIn):
            sessions.authenticate(db, name, "wrong", address=address, attempts=2, device=device)


@pytest.mark.both_databases
def test_trying_is_limited_by_name_and_address_together(db: Session, wilma: Actor) -> None:
    """After the limit even the right password has to wait, under either name, but not from another address."""
    fail_to_log_in(db, "wilma", "10.0.0.1", 1)
    fail_to_log_in(db, "wilma@example.org", "10.0.0.1", 1)
    with pytest.raises(TooMany) as caught:
        sessions.authenticate(db, "wilma", PASSWORD, address="10.0.0.1", attempts=2)
    assert 0 < caught.value.retry_after <= 300
    assert sessions.authenticate(db, "wilma", PASSWORD, address="10.0.0.2", attempts=2) == wilma


def test_one_name_from_many_addresses_and_many_names_from_one_have_wider_limits(db: Session, wilma: Actor) -> None:
    """Neither many machines nor many names make guessing free."""
    for number in range(10):
        fail_to_log_in(db, "wilma", f"10.0.0.{number}", 2)
    with pytest.raises(TooMany):
        sessions.authenticate(db, "wilma", PASSWORD, address="10.0.1.1", attempts=2)
    for number in range(10):
        fail_to_log_in(db, f"name{number}", "10.2.2.2", 1)
    with pytest.raises(TooMany):
        sessions.authenticate(db, "name99", "wrong", address="10.2.2.2", attempts=2)


def test_log_ins_that_succeed_do_not_count(db: Session, wilma: Actor) -> None:
    """A whole class behind one address gets in; a success does not make up for what failed before."""
    for _ in range(15):
        sessions.authenticate(db, "wilma", PASSWORD, address="10.0.0.1", attempts=2)
    fail_to_log_in(db, "wilma", "10.0.0.1", 1)
    sessions.authenticate(db, "wilma", PASSWORD, address="10.0.0.1", attempts=2)
    fail_to_log_in(db, "wilma", "10.0.0.1", 1)
    with pytest.raises(TooMany):
        sessions.authenticate(db, "wilma", PASSWORD, address="10.0.0.1", attempts=2)


def test_a_known_device_is_not_locked_out(db: Session, wilma: Actor) -> None:
    """What others try does not keep it out; its own tries have a limit of their own."""
    mark = sessions.mark_device(db, wilma)
    for number in range(10):
        fail_to_log_in(db, "wilma", f"10.0.0.{number}", 2)
    with pytest.raises(TooMany):
        sessions.authenticate(db, "wilma", PASSWORD, address="10.9.9.9", attempts=2)
    assert sessions.authenticate(db, "wilma", PASSWORD, address="10.9.9.9", attempts=2, device=mark) == wilma
    fail_to_log_in(db, "wilma", "10.9.9.9", 2, device=mark)
    with pytest.raises(TooMany):
        sessions.authenticate(db, "wilma", PASSWORD, address="10.9.9.9", attempts=2, device=mark)


@pytest.mark.parametrize("change", ["cut", "other", "older", "password", "nonsense"])
def test_a_mark_is_for_one_account_and_one_password(
    db: Session, wilma: Actor, builder: Actor, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mark that was changed, is another's, has expired or is from before a new password opens nothing."""
    if change == "older":
        monkeypatch.setattr(sign_in, "DEVICE_LIFETIME", timedelta(seconds=-1))
    mark = sessions.mark_device(db, wilma)
    device, until, signature = mark.split(".")
    if change == "other":
        _set_hash(db, db.get_one(User, wilma.user_id).password_hash or "", name="bert")
        mark = sessions.mark_device(db, builder)
    elif change == "cut":
        mark = f"{device}.{int(until) + 1}.{signature}"
    elif change == "nonsense":
        mark = "\ud800.9999999999.\ud800"
    fail_to_log_in(db, "wilma", "10.0.0.1", 2)
    if change == "password":
        accounts.change_password(db, wilma, PASSWORD, "another good password")
    with pytest.raises(TooMany):
        sessions.authenticate(db, "wilma", PASSWORD, address="10.0.0.1", attempts=2, device=mark)


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


@pytest.mark.both_databases
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
    assert tokens.actor_for_token(db, secret) == replace(worker, allows=frozenset({Scope.READ}))
    assert secret not in db.scalars(select(ApiToken.token_hash)).all()
    db.expire_all()
    assert [token.used_at is None for token in tokens.list_tokens(db, worker)] == [False]


@pytest.mark.both_databases
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
    with refusal(NotSignedIn, "token_unknown"):
        tokens.actor_for_token(db, secret)
    assert tokens.list_tokens(db, worker) == []


@pytest.mark.parametrize("secret", ["", "qt_", "qt_nonsense", "Bearer x", "\x00", "\ud800"])
def test_what_is_no_token_is_refused(db: Session, secret: str) -> None:
    """Nonsense in place of a token is answered like an unknown one."""
    with refusal(NotSignedIn, "token_unknown"):
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
