"""Workers from panels: they come in by an address, under a name that says nothing, and go back with a code."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import BadInput, Conflict, Forbidden, NotFound
from quintain.core.people import Actor, RoleName
from quintain.services.access.sign_in import open_session
from quintain.services.collect.panels.admission import Visitor
from quintain.services.collect.panels.entry import complete, enter, entry_url
from quintain.services.collect.rounds.export import export_attempts
from quintain.services.collect.rounds.manage import close_round
from quintain.services.collect.writing.sessions import give_up, start_session
from quintain.services.house.personal_data import delete_person
from quintain.store.blobs import Blobs
from quintain.store.tables import AuditEntry, PanelPerson, PanelVisit
from quintain.web.app import create_app
from tests.collecting import add_round, submit
from tests.web_support import token_for

PROLIFIC = '[entry]\nprovider = "prolific"\nstudy = "study-1"\ncompletion_code = "C1X"'
PANEL = '[entry]\nprovider = "panel"\nid_parameter = "pid"\ncompletion_code = "7"\n'
PANEL += 'completion_url = "https://panel.example/done?who={id}&code={code}"'
TURK = '[entry]\nprovider = "mturk"'
PID = {"PROLIFIC_PID": "5f0e8c1a2b3c4d5e6f708192", "STUDY_ID": "study-1", "SESSION_ID": "sess-9"}


@pytest.mark.both_databases
def test_somebody_from_prolific_writes_and_goes_back(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """The same person gets the same account; the code comes when a session has ended; the id never leaves."""
    info = add_round(db, blobs, owner, tmp_path, tables=PROLIFIC)
    assert entry_url(info, "https://q.example/").startswith(f"https://q.example/enter/{info.entry_key}?PROLIFIC_PID=")
    arrival = enter(db, info.entry_key, PID, Visitor())
    assert arrival.actor is not None
    assert arrival.session is not None
    again = enter(db, info.entry_key, PID, Visitor(device=arrival.device))
    assert again.actor == arrival.actor
    opened = open_session(db, arrival.session.token)
    assert opened is not None
    assert opened.actor.has(RoleName.WORKER, "mood")
    assert not opened.actor.has(RoleName.WORKER, "another")
    assert not opened.actor.has(RoleName.WORKER)
    key = start_session(db, blobs, arrival.actor, info.ref).key
    submit(db, blobs, arrival.actor, key, "It was bad.")
    with pytest.raises(Conflict, match="no finished session"):
        complete(db, arrival.actor, info.ref)
    give_up(db, arrival.actor, key)
    done = complete(db, arrival.actor, info.ref)
    assert (done.code, done.url) == ("C1X", "https://app.prolific.com/submissions/complete?cc=C1X")
    path = tmp_path / "out.csv"
    export_attempts(db, owner, info.ref, path)
    assert PID["PROLIFIC_PID"] not in path.read_text()
    assert arrival.actor.name not in path.read_text()
    logged = " ".join(f"{one.actor} {one.subject} {one.details}" for one in db.scalars(select(AuditEntry)))
    assert PID["PROLIFIC_PID"] not in logged + arrival.actor.name


def test_the_completion_code_is_for_owners(
    workspace: Workspace, db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path
) -> None:
    """Who reads what a round asks does not learn what the panel pays for."""
    info = add_round(db, blobs, owner, tmp_path, tables=PROLIFIC)
    client = TestClient(create_app(workspace))
    for who in (None, worker, owner):
        headers = {"authorization": f"Bearer {token_for(workspace, who.name)}"} if who else {}
        for path in ("", f"/{info.number}"):
            text = client.get(f"/api/v1/tasks/mood/rounds{path}", headers=headers).text
            assert "Fool the word counter" in text
            assert ("C1X" in text) == (who is owner)


def test_any_panel_has_its_own_parameter_and_link(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """The completion link carries the id back, quoted."""
    info = add_round(db, blobs, owner, tmp_path, tables=PANEL)
    arrival = enter(db, info.entry_key, {"pid": "a b/1"}, Visitor())
    assert arrival.actor is not None
    give_up(db, arrival.actor, start_session(db, blobs, arrival.actor, info.ref).key)
    assert complete(db, arrival.actor, info.ref).url == "https://panel.example/done?who=a%20b%2F1&code=7"


def test_an_external_question_posts_back(db: Session, blobs: Blobs, owner: Actor, tmp_path: Path) -> None:
    """A preview makes no account; the answer is posted to the panel's own server and to no other."""
    info = add_round(db, blobs, owner, tmp_path, tables=TURK)
    preview = enter(db, info.entry_key, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h"}, Visitor())
    assert (preview.preview, preview.actor) == (True, None)
    ids = {"assignmentId": "a1", "hitId": "h1", "workerId": "W1", "turkSubmitTo": "https://workersandbox.mturk.com"}
    with pytest.raises(BadInput, match="not an address of the panel"):
        enter(db, info.entry_key, {**ids, "turkSubmitTo": "https://evil.example"}, Visitor())
    arrival = enter(db, info.entry_key, ids, Visitor())
    assert arrival.actor is not None
    give_up(db, arrival.actor, start_session(db, blobs, arrival.actor, info.ref).key)
    done = complete(db, arrival.actor, info.ref)
    assert (done.method, done.url) == ("POST", "https://workersandbox.mturk.com/mturk/externalSubmit")
    assert done.fields["assignmentId"] == "a1"


def test_bad_arrivals_are_explained(db: Session, blobs: Blobs, owner: Actor, worker: Actor, tmp_path: Path) -> None:
    """Missing ids, another study, a wrong address and a closed round each have their message."""
    info = add_round(db, blobs, owner, tmp_path, tables=PROLIFIC)
    for parameters, error, message in (
        ({}, BadInput, "PROLIFIC_PID"),
        ({**PID, "PROLIFIC_PID": "x" * 300}, BadInput, "is no id"),
        ({**PID, "PROLIFIC_PID": ("ab" * 12).upper()}, BadInput, "no id of Prolific"),  # would be a second account
        ({**PID, "STUDY_ID": "other"}, Forbidden, "not for study 'other'"),
    ):
        with pytest.raises(error, match=message):
            enter(db, info.entry_key, parameters, Visitor())
    for key in ("nonsense", "\x00"):
        with pytest.raises(NotFound, match="leads nowhere"):
            enter(db, key, PID, Visitor())
    with pytest.raises(NotFound, match="did not come"):
        complete(db, worker, info.ref)
    close_round(db, owner, info.ref)
    with pytest.raises(Conflict, match="closed"):
        enter(db, info.entry_key, PID, Visitor())


@pytest.mark.both_databases
def test_erasing_a_person_removes_what_the_panel_called_them(
    db: Session, blobs: Blobs, owner: Actor, admin: Actor, tmp_path: Path
) -> None:
    """Nothing is left that leads to them; who comes again is somebody new."""
    info = add_round(db, blobs, owner, tmp_path, tables=PROLIFIC)
    first = enter(db, info.entry_key, PID, Visitor()).actor
    assert first is not None
    delete_person(db, admin, first.name)
    assert db.scalars(select(PanelPerson)).all() == []
    assert db.scalars(select(PanelVisit)).all() == []
    second = enter(db, info.entry_key, PID, Visitor()).actor
    assert second is not None
    assert second.user_id != first.user_id
