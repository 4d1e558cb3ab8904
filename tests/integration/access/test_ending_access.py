"""Ending all access to an account: no cookie, token or link of before is good any more."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import Forbidden, NotFound, NotSignedIn
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.access import EndedAccess
from quintain.services.access import accounts, ending, links, sign_in, tokens
from quintain.web.app import create_app
from tests.web_support import token_for

PASSWORD = "correct horse battery"


def _token(db: Session) -> str:
    return tokens.create_token(db, OPERATOR, "nightly", person="wilma")[0]


def test_sessions_tokens_and_links_end_and_the_password_stays(db: Session, worker: Actor) -> None:
    """Whoever holds what was given out before is out at once; the person signs in again."""
    links.redeem_link(db, links.make_link(db, OPERATOR, "wilma").token, PASSWORD)
    session = sign_in.start_session(db, worker, user_agent="any")
    token, link = _token(db), links.make_link(db, OPERATOR, "wilma")
    assert ending.end_access(db, OPERATOR, "wilma") == EndedAccess("wilma", sessions=1, tokens=1)
    assert sign_in.open_session(db, session.token) is None
    with pytest.raises(NotSignedIn):
        tokens.actor_for_token(db, token)
    with pytest.raises(NotFound):
        links.look_up_link(db, link.token)
    assert sign_in.authenticate(db, "wilma", PASSWORD) == worker
    with pytest.raises(Forbidden):
        ending.end_access(db, worker, "wilma")


def test_an_old_token_ends_with_the_password(db: Session, worker: Actor) -> None:
    """A new password by a link, or by its owner, is no password of a token that somebody else may have."""
    token = _token(db)
    links.redeem_link(db, links.make_link(db, OPERATOR, "wilma").token, PASSWORD)
    with pytest.raises(NotSignedIn):
        tokens.actor_for_token(db, token)
    token = _token(db)
    accounts.change_password(db, worker, PASSWORD, "another horse battery")
    with pytest.raises(NotSignedIn):
        tokens.actor_for_token(db, token)


def test_the_command_and_the_api_end_access(
    workspace: Workspace, db: Session, worker: Actor, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both print the same record."""
    if workspace.settings.database_url:
        monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    token = _token(db)
    printed = cli("--workspace", workspace.settings.workspace, "user", "sign-out", "wilma", "--json")
    assert json.loads(printed.stdout) == {"name": "wilma", "sessions": 0, "tokens": 1}
    accounts.invite(db, OPERATOR, "ada", roles=[RoleName.ADMIN])
    client = TestClient(create_app(workspace))
    assert client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    headers = {"Authorization": f"Bearer {token_for(workspace, 'ada')}"}
    answer = client.post("/api/v1/users/wilma/sign-out", headers=headers)
    assert answer.json() == {"name": "wilma", "sessions": 0, "tokens": 0}
