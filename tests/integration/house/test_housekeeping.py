"""Keeping house: no item and no part that fails ends it, holds up a start, or goes unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import text, update
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import Forbidden
from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.texts import Text
from quintain.engine import loops as engine_loops
from quintain.engine.loops import Loop
from quintain.services.access import accounts, notify
from quintain.services.contest import freeze
from quintain.services.house import health, probes
from quintain.services.jobs import checking, loops
from quintain.services.validate.quality import review
from quintain.services.wheel import standings
from quintain.store.base import now
from quintain.store.tables import LoopRow, User
from quintain.web import housekeeping
from quintain.web.app import create_app
from tests.integration.access.mail_server import MailServer, mail_server
from tests.people import make_person

Poison = Callable[[Workspace, pytest.MonkeyPatch, list[str]], None]


@pytest.fixture
def server() -> Iterator[MailServer]:
    """A real mail server."""
    with mail_server() as running:
        yield running


@pytest.fixture
def house(workspace: Workspace, server: MailServer) -> Workspace:
    """A workspace that sends mail."""
    settings = workspace.settings.__class__(workspace=workspace.settings.workspace, smtp_url=server.url)
    return Workspace(settings, workspace.engine, workspace.blobs)


def _fall(item: object) -> None:
    raise IndexError(f"poisoned: {item}")


def _poison_tidying(house: Workspace, patch: pytest.MonkeyPatch, done: list[str]) -> None:
    patch.setattr(health.exports, "drop_old", _fall)
    patch.setattr(health, "refresh_statistics", lambda engine: done.append("tidying"))


def _poison_checking(house: Workspace, patch: pytest.MonkeyPatch, done: list[str]) -> None:
    asked = iter([_fall, lambda given: done.append("checking")])
    patch.setattr(checking.queue, "enqueue", lambda db, *given: next(asked)(given))


def _poison_reviews(house: Workspace, patch: pytest.MonkeyPatch, done: list[str]) -> None:
    patch.setattr(review.queries, "due_validations", lambda db: [1, 2])
    patch.setattr(review, "validation_by_id", lambda db, number: _fall(number) if number == 1 else number)
    patch.setattr(review, "catch_up", lambda db, number: done.append("reviews"))


def _poison_standings(house: Workspace, patch: pytest.MonkeyPatch, done: list[str]) -> None:
    due = [SimpleNamespace(release_id=number, model_version_id=1) for number in (1, 2)]
    patch.setattr(standings.queries, "due", lambda db: due)
    patch.setattr(standings.queries, "released_tests", lambda db: [due[1]])  # that of the first is gone
    patch.setattr(standings, "_compute", lambda db, blobs, test, item: done.append("standings"))


def _poison_freezing(house: Workspace, patch: pytest.MonkeyPatch, done: list[str]) -> None:
    really = freeze.find_contest
    patch.setattr(freeze.queries, "unfrozen_refs", lambda db: ["gone/contest", "mood/spring"])

    def find(db: Session, ref: str) -> object:
        if "mood" not in ref:
            return really(db, ref)  # which says that there is none
        done.append("freezing")
        return SimpleNamespace(frozen=True)

    patch.setattr(freeze, "find_contest", find)


def _poison_mail(house: Workspace, patch: pytest.MonkeyPatch, done: list[str]) -> None:
    with house.session() as db:
        for name, address in {"eve": "[<@->>a,<", "greta": "greta@x.org"}.items():
            reader = make_person(db, name, RoleName.WORKER)
            assert reader.user_id
            accounts.update_profile(db, reader, email=f"{name}@x.org", email_notifications=True)
            db.execute(update(User).where(User.id == reader.user_id).values(email=address))
            db.commit()
            notify.notify(db, reader.user_id, "test", Text("hello"))
    really = housekeeping.mailing.deliver

    def deliver(*given: object, **named: object) -> int:
        sent = really(*given, **named)  # type: ignore[arg-type]
        done.extend(["mail"] * sent)
        return sent

    patch.setattr(housekeeping.mailing, "deliver", deliver)


POISONED: Mapping[str, Poison] = {
    "tidying": _poison_tidying,
    "checking": _poison_checking,
    "reviews": _poison_reviews,
    "standings": _poison_standings,
    "freezing": _poison_freezing,
    "mail": _poison_mail,
}


def test_every_part_of_housekeeping_is_poisoned_here(house: Workspace) -> None:
    """Whoever adds a part says in this file what a bad item of it is."""
    assert set(housekeeping.house_loops(house)) == set(POISONED)


@pytest.mark.parametrize("name", POISONED)
def test_a_poisoned_item_stops_nothing(
    house: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """The part goes on with what else there is, and says in the log what failed and where."""
    done: list[str] = []
    POISONED[name](house, monkeypatch, done)
    loop = housekeeping.house_loops(house)[name]
    loop.once()
    loop.once()
    assert name in done
    assert any(record.exc_info or "IndexError" in record.getMessage() for record in caplog.records)


def test_a_server_starts_whatever_is_poisoned(
    house: Workspace, monkeypatch: pytest.MonkeyPatch, server: MailServer
) -> None:
    """All parts at once have a bad item: pages answer, the server is ready, and mail goes out."""
    done: list[str] = []
    for poison in POISONED.values():
        poison(house, monkeypatch, done)
    with TestClient(create_app(house)) as client:
        assert client.get("/healthz").status_code == 200
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (200, "ok")
        parts = set(answer.json()["checks"])
        assert {f"loop: {name}" for name in (*POISONED, "pulse", "sandbox")} <= parts
        for _ in range(100):
            if server.messages:
                break
            housekeeping.threading.Event().wait(0.05)
    assert [message["To"] for message in server.messages] == ["greta@x.org"]


def test_what_fails_for_long_is_seen_and_what_hangs_makes_the_server_not_ready(
    house: Workspace, monkeypatch: pytest.MonkeyPatch, owner: Actor
) -> None:
    """A part that keeps failing is `degraded`, which needs no other server; one that has ended is not."""
    book = house.loops
    monkeypatch.setattr(probes, "FRESH_S", 0.0)
    broken = book.add(Loop("breaking", _fall, every=1.0))
    assert not broken.once()
    with TestClient(create_app(house)) as client:
        assert client.get("/readyz").json()["checks"]["loop: breaking"] == "ok"  # once is no trouble
        monkeypatch.setattr(engine_loops, "LEAST_S", 0.0)
        monkeypatch.setattr(engine_loops, "INTERVALS", 0)
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
        assert answer.json()["checks"]["loop: breaking"] == "failing, last success: never"
        assert "poisoned" not in answer.text  # the reason is for admins
        assert client.get("/api/v1/status").json()["state"] == "degraded"
        ended = book.add(Loop("ending", lambda each: _leave(), every=1.0))
        ended.start(housekeeping.threading.Event()).join(5)
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
        assert answer.json()["checks"]["loop: ending"].startswith("stopped")
    with house.session() as db:
        (report,) = [
            loop for loop in loops.list_loops(db, OPERATOR, own=book.states()).loops if loop.name == "breaking"
        ]
        assert "poisoned" in report.reason
        with pytest.raises(Forbidden):
            loops.list_loops(db, owner)


def _leave() -> None:
    raise engine_loops.LoopEnd


@pytest.mark.both_databases
def test_loops_of_other_processes_are_known_until_they_are_gone(workspace: Workspace, db: Session) -> None:
    """Each process writes down how its own fare; one that has died is silent, unless another does the same."""
    workspace.loops.add(Loop("cells 1", lambda each: None, every=1.0)).once()
    with loops.pulse(workspace.session, workspace.loops):
        for _ in range(100):
            if db.scalar(text("SELECT count(*) FROM loops")):
                break
            db.rollback()
            housekeeping.threading.Event().wait(0.05)
        assert {report.name for report in loops.loop_reports(db)} == {"cells 1", "pulse"}
        assert {report.condition for report in loops.loop_reports(db)} == {"fine"}
        db.execute(update(LoopRow).values(seen_at=now() - timedelta(minutes=10)))
        db.commit()
        assert {report.condition for report in loops.loop_reports(db)} == {"silent"}
        assert loops.loop_reports(db, own=workspace.loops.states())[0].condition == "fine"
    db.rollback()
    assert loops.loop_reports(db) == []  # it has said goodbye


def test_the_database_may_be_away_while_a_loop_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saying how loops fare fails with it, and never ends anything."""
    book = engine_loops.LoopBook()

    def away() -> None:
        raise OSError("the database is away")

    with loops.pulse(away, book):  # type: ignore[arg-type]
        housekeeping.threading.Event().wait(0.1)
        assert [state.failures for state in book.states()] == [1]
    assert book.states() == []
