"""What a credential is good for: tokens have scopes, every address takes one, and none is forgotten."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI
from sqlalchemy.orm import Session
from starlette.testclient import TestClient
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Forbidden
from quintain.core.people import EVERYTHING, OPERATOR, Actor, RoleName, Scope
from quintain.services.access import accounts, tokens
from quintain.services.access.links import make_link, redeem_link
from quintain.services.access.scopes import WORKING
from quintain.services.access.sign_in import open_session, start_session
from quintain.services.house.personal_data import delete_person, export_person
from quintain.services.tasks.definitions import put_task
from quintain.web.app import create_app
from quintain.web.routes import API, PAGES
from quintain.web.scopes import OPERATIONS
from tests.people import make_person
from tests.web_support import PASSWORD, browser_of, post

VALUES = {"number": "1", "item": "1", "token_id": "1", "payout": "1", "job": "1", "role": "owner", "room": "texts"}


def asked(path: str) -> str:
    """Give an address of the API with something in every place."""
    return "/api/v1" + re.sub(r"\{(\w+)\}", lambda found: VALUES.get(found[1], "1"), path)


def test_every_operation_that_changes_something_says_its_scope() -> None:
    """One that is new stands in the list, or this says which is missing; and the list names nothing that is gone."""
    names = {one.view.__name__ for one in API}
    assert [one.name for one in API if one.method != "GET" and one.view.__name__ not in OPERATIONS] == []
    assert sorted(set(OPERATIONS) - names) == []
    taken = Counter(scope for one in API for scope in one.scopes)
    assert sum(taken.values()) == len(API)
    assert set(taken) == EVERYTHING
    told = create_app_description()
    assert set(told.values()) == {scope.value for scope in Scope}
    assert len(told) == len({one.name for one in API})


def create_app_description() -> dict[str, str]:
    """Give the scope of each operation as the API's own description has it."""
    app = FastAPI()
    for one in API:
        one.add_to(app.router)
    return {
        operation["operationId"]: operation["x-scope"]
        for path in app.openapi()["paths"].values()
        for operation in path.values()
    }


def test_a_token_without_the_scope_is_refused_at_every_address(workspace: Workspace, db: Session) -> None:
    """An admin who owns everything, by a token with all scopes but one: what takes that one is not done."""
    make_person(db, "ada", RoleName.ADMIN)
    refused: Counter[Scope] = Counter()
    with TestClient(create_app(workspace)) as client:
        for scope in Scope:
            if scope is Scope.READ:
                continue  # every token reads
            rest = EVERYTHING - {scope}
            secret, _ = tokens.create_token(db, OPERATOR, "t", scopes=rest, person="ada")
            headers = {"authorization": f"Bearer {secret}"}
            for one in API:
                if one.scopes != [scope]:
                    continue
                answer = client.request(one.method, asked(one.path), headers=headers, json={})
                # What cannot be read is refused before it is asked who sends it.
                code = answer.json()["error"]["code"]
                assert answer.status_code == 422 or (answer.status_code, code) == (403, "scope_missing"), one.path
                refused[scope] += answer.status_code == 403
    assert refused[Scope.OWN] > 30
    assert min(refused[scope] for scope in EVERYTHING - {Scope.READ}) >= 3


def test_a_token_reads_what_its_person_may_and_changes_nothing(workspace: Workspace, db: Session) -> None:
    """Without a word about scopes it is one that reads; the message names the scope that is missing."""
    make_person(db, "olga", RoleName.OWNER)
    secret, token = tokens.create_token(db, OPERATOR, "dashboard", person="olga")
    assert token.scopes == (Scope.READ,)
    with TestClient(create_app(workspace)) as client:
        headers = {"authorization": f"Bearer {secret}"}
        assert client.get("/api/v1/me", headers=headers).json()["name"] == "olga"
        answer = client.post("/api/v1/tasks", headers=headers, json={"toml": "x"})
    assert answer.status_code == 403
    assert "takes the scope 'own', and what you signed in with has only read" in answer.json()["error"]["message"]


@pytest.mark.both_databases
def test_no_credential_makes_a_stronger_one(db: Session, worker: Actor) -> None:
    """A token that may make tokens makes none with more than it has; nobody but the operator makes them for others."""
    secret, _ = tokens.create_token(db, worker, "weak", scopes=[Scope.ACCOUNT])
    weak = tokens.actor_for_token(db, secret)
    assert weak.allows == {Scope.READ, Scope.ACCOUNT}
    with pytest.raises(Forbidden, match="more than what made it: own, work"):
        tokens.create_token(db, weak, "strong", scopes=["work", "own"])
    with pytest.raises(BadInput, match="'all' is not one of read, work"):
        tokens.create_token(db, worker, "x", scopes=["all"])
    make_person(db, "other", RoleName.WORKER)
    for refused in (lambda: tokens.create_token(db, worker, "x", person="other"),
                    lambda: tokens.list_tokens(db, worker, person="other")):  # fmt: skip
        with pytest.raises(Forbidden, match="by whose they are"):
            refused()
    reading = tokens.actor_for_token(db, tokens.create_token(db, worker, "r")[0])
    with pytest.raises(Forbidden, match="scope 'account'"):
        tokens.create_token(db, reading, "again")


@pytest.mark.parametrize("verb", [accounts.grant_role, accounts.revoke_role])
def test_roles_everywhere_take_the_scope_of_admins(db: Session, verb: Callable[..., object]) -> None:
    """Owning is about tasks: with a token for that, an admin names people of a task, and makes nobody an admin."""
    admin = make_person(db, "ada", RoleName.ADMIN)
    make_person(db, "other", RoleName.WORKER, RoleName.BUILDER)
    put_task(db, OPERATOR, 'name = "mood"\nkind = "text-classification"\nlabels = ["a", "b"]\n')
    owning = tokens.actor_for_token(db, tokens.create_token(db, admin, "own", scopes=[Scope.OWN])[0])
    for role in (RoleName.ADMIN, RoleName.OWNER, RoleName.BUILDER):
        with pytest.raises(Forbidden, match="takes the scope 'admin'"):
            verb(db, owning, "other", role)
    accounts.grant_role(db, owning, "other", RoleName.OWNER, task="mood")
    accounts.revoke_role(db, owning, "other", RoleName.OWNER, task="mood")


def test_a_session_that_a_door_began_only_works_and_on_one_task(db: Session, worker: Actor, tmp_path: Path) -> None:
    """Whatever its person may do besides: no tokens, no data, no password, no address, no deletion, no other role."""
    started = start_session(db, worker, scopes=WORKING)
    opened = open_session(db, started.token)
    assert opened is not None
    weak = opened.actor
    assert weak.allows == WORKING
    for verb in (
        lambda: tokens.create_token(db, weak, "x"),
        lambda: tokens.list_tokens(db, weak),
        lambda: export_person(db, weak, tmp_path / "all.zip"),
        lambda: delete_person(db, weak),
        lambda: accounts.change_password(db, weak, "", "correct horse battery"),
        lambda: accounts.update_profile(db, weak, email="mine@example.org"),
    ):
        with pytest.raises(Forbidden, match="scope 'account'"):
            verb()
    assert accounts.update_profile(db, weak, language="de").language == "de"
    assert not (tmp_path / "all.zip").exists()


def test_pages_take_scopes_too() -> None:
    """Forms of work are for everybody who works here; what takes an account out, and all other forms, are not."""
    by_scope = {scope: {one.path for one in PAGES if one.scope is scope} for scope in Scope}
    assert {"/write/{key}/try", "/judge/{token}", "/tasks/{task}/quizzes/{quiz}"} <= by_scope[Scope.WORK]
    assert {"/account/export", "/account/delete", "/account/tokens", "/work/export"} <= by_scope[Scope.ACCOUNT]
    assert "/tasks/{task}/pay/payouts" in by_scope[Scope.ACCOUNT]
    open_to_all = {one.path for one in PAGES if one.method == "POST" and one.scope is Scope.READ}
    assert open_to_all == {
        "/fool", "/language", "/tour", "/login", "/logout", "/link/{token}", "/forgotten", "/register", "/demo/part",
        "/enter/{key}", "/tasks/{task}/talk", "/tasks/{task}/warning",
    }  # fmt: skip


def test_the_page_offers_what_one_has_a_use_for(workspace: Workspace, db: Session) -> None:
    """A builder is offered no ownership; the page that leads here ticks what it needs; lists show the scopes."""
    make_person(db, "bob", RoleName.BUILDER)
    redeem_link(db, make_link(db, OPERATOR, "bob").token, PASSWORD)
    with browser_of(workspace, "bob") as client:
        page = client.get("/account/tokens?scopes=build").text
        assert re.search(r'value="build" checked', page)
        assert 'value="work">' in page
        assert 'value="own"' not in page
        assert not re.search(r'value="build" checked', client.get("/account/tokens").text)
        made = post(client, "/account/tokens", "/account/tokens", name="nightly", days="30", scopes="build")
        assert '<span class="chip">build</span>' in made.text
    (token,) = tokens.list_tokens(db, OPERATOR, person="bob")
    assert token.scopes == (Scope.READ, Scope.BUILD)


def test_tokens_by_command(
    workspace: Workspace, db: Session, cli: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has the workspace makes, lists and revokes tokens of an account."""
    monkeypatch.setenv("QUINTAIN_WORKSPACE", str(workspace.settings.workspace))
    monkeypatch.setenv("QUINTAIN_DATABASE_URL", workspace.settings.database_url)
    make_person(db, "bob", RoleName.BUILDER)
    made = cli("user", "token", "add", "bob", "--scope", "build", "--for", "nightly")
    assert made.exit_code == 0, made.output
    secret = made.stdout.strip()
    assert tokens.actor_for_token(db, secret).allows == {Scope.READ, Scope.BUILD}
    db.rollback()
    assert "read, build" in cli("user", "token", "list", "bob").stdout
    (token,) = tokens.list_tokens(db, OPERATOR, person="bob")
    db.rollback()
    assert cli("user", "token", "revoke", "bob", str(token.id)).exit_code == 0
    assert tokens.list_tokens(db, OPERATOR, person="bob") == []
