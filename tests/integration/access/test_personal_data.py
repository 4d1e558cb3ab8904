"""A person gets all that is kept about them, and can be forgotten."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, Forbidden, NotFound, NotSignedIn
from quintain.core.people import ANONYMOUS, OPERATOR, Actor, RoleName
from quintain.core.texts import Text
from quintain.services.access import accounts, audit, notify, tokens
from quintain.services.access import sign_in as sessions
from quintain.services.house.personal_data import delete_person
from quintain.services.validate.judging.claim_page import claim_page
from quintain.services.validate.judging.submit_page import Answer, submit_page
from quintain.services.validate.quality.gold import add_gold
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.house import personal
from quintain.store.tables import (
    ApiToken,
    AuditEntry,
    Judgement,
    Model,
    Notification,
    TaskRow,
    User,
    ValidationItem,
    WebSession,
)
from tests.exported import export_person
from tests.refusals import refusal
from tests.validation_support import REF, make_ground, make_judges


def _unpack(data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        return {name: json.loads(bundle.read(name)) for name in bundle.namelist() if name.endswith(".json")}


def _live(db: Session, actor: Actor) -> str:
    """Leave traces of *actor* in many tables, and give the token of a session."""
    assert actor.user_id is not None
    notify.notify(db, actor.user_id, "test", Text("hello"))
    tokens.create_token(db, actor, "laptop")
    with transaction(db):
        task = TaskRow(name=f"task-{actor.name}")
        db.add(task)
        db.flush()
        db.add(Model(task_id=task.id, name="mine", owner_id=actor.user_id))
    return sessions.start_session(db, actor).token


@pytest.mark.both_databases
def test_an_export_is_read_some_at_a_time(db: Session, worker: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows are read together, all are in the file, in their order; a table without any has none."""
    assert worker.user_id is not None
    for number in range(7):
        notify.notify(db, worker.user_id, "test", Text("hello {n}", n=number))
    whole = _unpack(export_person(db, worker))
    monkeypatch.setattr(personal, "AT_A_TIME", 2)
    parts = _unpack(export_person(db, worker))
    ids = [row["id"] for row in parts["notifications.json"]]
    assert ids == sorted(ids)
    assert len(ids) == 7
    assert "attempts.json" not in parts
    assert [row["action"] for row in parts.pop("audit.json")] == ["person.export"]  # of the first time
    assert parts == whole


@pytest.mark.both_databases
def test_an_export_holds_everything_and_no_secret(db: Session, worker: Actor, builder: Actor) -> None:
    """Every table that names the person is in it, and nothing of anybody else or of any password."""
    _live(db, worker)
    _live(db, builder)
    found = _unpack(export_person(db, worker))
    assert {"users.json", "role_grants.json", "notifications.json", "api_tokens.json", "models.json"} <= set(found)
    assert {"web_sessions.json", "audit.json"} <= set(found)
    assert [row["name"] for row in found["users.json"]] == ["wilma"]
    assert [len(found[name]) for name in ("models.json", "api_tokens.json")] == [1, 1]
    text = json.dumps(found)
    assert "bert" not in text
    assert "hash" not in text
    assert "csrf" not in text


@pytest.mark.both_databases
def test_the_forgotten_leave_no_trace_but_counts(db: Session, worker: Actor, admin: Actor) -> None:
    """Name, address, password, sessions, tokens and messages go; what they made stays and still counts."""
    token = _live(db, worker)
    delete_person(db, worker)
    db.expire_all()
    assert sessions.open_session(db, token) is None
    assert db.scalars(select(ApiToken)).all() == db.scalars(select(Notification)).all() == []
    assert db.scalars(select(WebSession)).all() == []
    user = db.get_one(User, worker.user_id)
    assert (user.name, user.email, user.display_name) == (f"deleted-{user.id}", None, "")
    assert db.scalar(select(Model.owner_id)) == user.id
    written = [(entry.actor, entry.subject, str(entry.details)) for entry in db.scalars(select(AuditEntry))]
    assert not [entry for entry in written if "wilma" in str(entry)]
    assert [person.name for person in accounts.list_people(db, admin)] == ["ada"]
    assert accounts.invite(db, admin, "wilma")[0].id != user.id


@pytest.mark.both_databases
def test_a_judges_own_data_does_not_tell_which_items_are_gold(db: Session, owner: Actor) -> None:
    """Gold items have ids of their own, no slot, and no late answers: nothing of that is in what a judge can fetch."""
    make_ground(db, owner, 6, "judgements = 1\nminimum = 1\npage_size = 10\n[gold]\nrate = 0.5\n")
    add_gold(db, owner, REF, [{"inputs": {"text": f"gold {n}"}, "label": "neutral"} for n in range(20)])
    actor, other = make_judges(db, 2)
    page = claim_page(db, actor, REF)
    assert page is not None
    claim_page(db, other, REF, moment=now() + timedelta(hours=1))  # who takes the slots, so that answers are late
    answers = [Answer(item.id, "neutral", flag="odd") for item in page.items]
    assert submit_page(db, actor, page.token, answers).late > 0
    tables = _unpack(export_person(db, actor))
    assert len(tables["judgements.json"]) == len(page.items)
    gold = set(db.scalars(select(ValidationItem.id).where(ValidationItem.gold.is_not(None))))
    gold &= set(db.scalars(select(Judgement.item_id)))
    assert gold
    is_gold = [row in gold for row in db.scalars(select(Judgement.item_id).order_by(Judgement.offer_id))]
    for name in ("judgements.json", "judging_offers.json", "judging_notes.json"):
        rows = sorted(tables[name], key=lambda row: row.get("offer_id", row["id"]))
        for column in set(rows[0]) - {"id", "offer_id", "position", "created_at", "seconds"}:
            values = [str(row[column]) for row in rows]
            apart = {value for value, g in zip(values, is_gold, strict=True) if g}
            apart &= {value for value, g in zip(values, is_gold, strict=True) if not g}
            assert apart, f"{name}: {column} tells gold items from others"


def test_others_are_left_to_admins(db: Session, admin: Actor, worker: Actor, builder: Actor) -> None:
    """A worker may neither fetch nor erase another person; an admin and the operator may."""
    for attempt in (export_person, delete_person):
        with pytest.raises(Forbidden):
            attempt(db, worker, "bert")
        with pytest.raises(NotSignedIn):
            attempt(db, ANONYMOUS, "bert")
        with pytest.raises(NotFound):
            attempt(db, admin, "nobody")
    assert _unpack(export_person(db, admin, "bert"))["users.json"][0]["name"] == "bert"
    delete_person(db, OPERATOR, "bert")
    with pytest.raises(NotFound):
        accounts.get_person(db, admin, "bert")


def test_the_last_admin_cannot_leave(db: Session, admin: Actor, worker: Actor) -> None:
    """Nobody would be in charge: refused until there is another one."""
    with refusal(Conflict, "only_admin"):
        delete_person(db, admin)
    accounts.grant_role(db, admin, "wilma", RoleName.ADMIN)
    delete_person(db, admin)
    assert [person.name for person in accounts.list_people(db, OPERATOR)] == ["wilma"]
    assert audit.entries(db, OPERATOR)[0].action == "person.delete"
