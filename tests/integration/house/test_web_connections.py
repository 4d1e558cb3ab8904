"""Connections to the database: every answer gives its own back, and a server that has none left says so."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace

import httpx2
import pytest
from sqlalchemy import Engine, QueuePool
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from quintain.compose import Workspace
from quintain.store import database
from quintain.web.app import create_app
from tests.web_support import PASSWORD, browser_of, post, running, token_for

FEW = 3


@pytest.fixture
def narrow(own_demo: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """The demo with three connections and little patience; nothing is given back by chance, by the collector.

    Boards that are made beside pages take a connection of their own, and are left out here.
    """
    beside = SimpleNamespace(start=lambda _: threading.Thread())
    monkeypatch.setattr("quintain.services.board.standings.Loop", lambda *_, **__: beside)
    monkeypatch.setattr(database, "POOL_SIZE", FEW)
    monkeypatch.setattr(database, "POOL_OVERFLOW", 0)
    monkeypatch.setattr(database, "POOL_WAIT_S", 0.2)
    made = replace(own_demo, engine=database.connect(own_demo.settings.database))
    gc.disable()
    yield made
    gc.enable()
    made.engine.dispose()


def taken(engine: Engine) -> int:
    """Count the connections that somebody holds."""
    assert isinstance(engine.pool, QueuePool)
    return engine.pool.checkedout()


def watched(workspace: Workspace, seen: list[int]) -> Callable[[Scope, Receive, Send], object]:
    """Give the application; *seen* gets how many connections are held whenever an answer begins to be sent."""
    app = create_app(workspace)

    async def watching(scope: Scope, receive: Receive, send: Send) -> None:
        async def reply(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.append(taken(workspace.engine))
            await send(message)

        await app(scope, receive, reply)

    return watching


def broken(*args: object, **named: object) -> None:
    """Fail as a bug would."""
    raise RuntimeError("a bug")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/tasks/nope", 404),
        ("/nope", 404),
        ("/runs/999999", 404),
        ("/runs/999999/events", 404),
        ("/runs/abc", 422),
        ("/logout", 405),
        ("/", 500),
        ("/api/v1/tasks/nope", 404),
        ("/api/v1/runs/abc", 422),
    ],
)
def test_error_pages_give_their_connection_back(
    narrow: Workspace, monkeypatch: pytest.MonkeyPatch, path: str, status: int
) -> None:
    """Ten times as many error pages as there are connections, for somebody signed in: none is left taken."""
    admin = browser_of(narrow, "admin")
    monkeypatch.setattr("quintain.web.pages.house.home.front", broken)
    for _ in range(10 * FEW):
        assert admin.get(path).status_code == status
        assert taken(narrow.engine) == 0


def test_refused_forms_give_their_connection_back(narrow: Workspace) -> None:
    """A form without its token, one that is too large, and a wrong password leave nothing taken."""
    admin = browser_of(narrow, "admin")
    for _ in range(2 * FEW):
        assert admin.post("/logout").status_code == 403
        assert admin.post("/logout", data={"csrf": "x" * (3 << 20)}).status_code == 413
        assert admin.post("/tasks/sentiment/data/import", files={"file": ("a.jsonl", b"x" * 100)}).status_code == 403
        stranger = browser_of(narrow)
        assert post(stranger, "/login", "/login", name="admin", password="wrong").status_code == 401
        assert taken(narrow.engine) == 0


@pytest.mark.parametrize(
    "path",
    [
        "/tasks/sentiment",
        "/tasks/sentiment/data/train/download?format=csv",
        "/api/v1/tasks",
        "/api/v1/me",
        "/api/v1/tasks/sentiment/datasets/train/download?format=csv",
    ],
)
def test_no_connection_is_held_while_an_answer_travels(narrow: Workspace, path: str) -> None:
    """Somebody who reads slowly keeps a socket, not a connection: pages, files and the API have given it back."""
    seen: list[int] = []
    client = TestClient(watched(narrow, seen), headers={"authorization": f"Bearer {token_for(narrow, 'admin')}"})
    if not path.startswith("/api/"):
        post(client, "/login", "/login", name="admin", password=PASSWORD)
    seen.clear()
    assert client.get(path).status_code == 200
    assert seen == [0]


def test_a_server_without_connections_asks_to_come_back(narrow: Workspace) -> None:
    """Pages and the API answer 503 with Retry-After, soon, in place of 500; afterwards all is as before."""
    admin = browser_of(narrow, "admin")
    token = {"authorization": f"Bearer {token_for(narrow, 'admin')}"}
    held = [narrow.engine.connect() for _ in range(FEW)]
    for path in ("/", "/tasks/sentiment", "/api/v1/tasks"):
        answer = admin.get(path, headers=token)
        assert (answer.status_code, int(answer.headers["retry-after"]) > 0) == (503, True), path
    assert "Not available just now" in admin.get("/").text
    for one in held:
        one.close()
    assert admin.get("/").status_code == 200
    assert taken(narrow.engine) == 0


def test_the_page_that_says_so_asks_the_database_nothing(narrow: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no connection, the error page does not wait for one once more."""
    admin = browser_of(narrow, "admin")
    waits: list[float] = []
    pool = narrow.engine.pool
    wait = pool._do_get
    monkeypatch.setattr(pool, "_do_get", lambda: (waits.append(1.0), wait())[1])
    held = [narrow.engine.connect() for _ in range(FEW)]
    waits.clear()
    assert admin.get("/").status_code == 503
    assert len(waits) == 1
    for one in held:
        one.close()


def test_a_run_that_is_followed_holds_nothing(narrow: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """More people than there are connections follow runs that do not exist or break while they are looked at."""
    with running(narrow) as url, httpx2.Client(base_url=url) as client:
        for _ in range(2 * FEW):
            assert client.get("/runs/1/events").status_code == 404
        monkeypatch.setattr("quintain.web.pages.evaluate.runs.progress.explain_cell", broken)
        for _ in range(2 * FEW):
            assert client.get("/runs/1/events").status_code == 500
    assert taken(narrow.engine) == 0
