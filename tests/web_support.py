"""A workspace with the starter tasks, a real server on it, and people whose password is known."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from quintain.compose import Workspace, create_workspace, open_workspace
from quintain.core.people import OPERATOR, Scope
from quintain.services.access import tokens
from quintain.services.access.accounts import get_person
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house.demo import build_demo
from quintain.settings import Settings
from quintain.web.app import create_app
from quintain.web.housekeeping import TIDY_SECONDS, house_loops
from quintain.web.server import Server, bind, configure
from tests.once import once

PASSWORD = "correct horse battery"
MANY = {"login_attempts": 1000, "model_calls": 1000}  # a whole file of tests signs in and asks
AXE = "/tests/axe.js"  # where a browser finds axe on a served workspace: it keeps it, compiled, from page to page
CSRF = re.compile(r'name="csrf" value="([^"]+)"')


def make_demo(folder: Path) -> Workspace:
    """Build the demo in *folder*; admin and demo-owner have the password above."""
    workspace = create_workspace(Settings(workspace=folder, **MANY))
    with workspace.session() as db:
        build_demo(db, workspace.blobs, progress=lambda what, fraction: None)
        for name in ("admin", "demo-owner", "demo-worker"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return workspace


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Workspace], **settings: Any
) -> Workspace:
    """Give a copy of the workspace that *make* makes in a folder, once for all processes of a run."""
    folder = factory.mktemp(name) / "workspace"
    shutil.copytree(once(factory, name, lambda made: make(made / "workspace").close()) / "workspace", folder)
    return open_workspace(Settings(workspace=folder, **settings))


def copy_demo(demo: Workspace, folder: Path) -> Workspace:
    """Copy *demo* to *folder*, for a test that changes it."""
    with demo.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(demo.settings.workspace, folder)
    return open_workspace(replace(demo.settings, workspace=folder))


def token_for(workspace: Workspace, name: str) -> str:
    """Make an API token for the person called *name*."""
    with workspace.session() as db:
        actor = actor_of(db, find_user(db, name))
        assert get_person(db, actor).name == name
        return tokens.create_token(db, actor, "tests", scopes=Scope)[0]


@contextmanager
def running(workspace: Workspace) -> Iterator[str]:
    """Serve *workspace* on a free port of this machine, and give its address."""
    listener = bind("127.0.0.1", 0)
    ready = threading.Event()
    app = create_app(workspace)
    app.routes.insert(0, Route(AXE, _give_axe))
    server = Server(configure(app), ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    assert ready.wait(30)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    listener.close()


def _give_axe(_: Request) -> Response:
    from axe_playwright_python.sync_playwright import Axe

    lasting = {"Cache-Control": "public, max-age=86400, immutable"}
    return Response(Axe().axe_script, media_type="text/javascript", headers=lasting)


def browser_of(workspace: Workspace, name: str | None = None) -> TestClient:
    """Give an in-process browser, signed in as *name* where one is given."""
    client = TestClient(create_app(workspace), follow_redirects=False)
    if name:
        answer = post(client, "/login", "/login", name=name, password=PASSWORD)
        assert answer.status_code == 303, answer.text
    return client


def csrf_of(client: TestClient, page: str) -> str:
    """Give the CSRF token of a page's forms."""
    found = CSRF.search(client.get(page).text)
    assert found, f"{page} has no form"
    return found[1]


def post(client: TestClient, page: str, target: str, **fields: object):
    """Send a form to *target* with the token of *page*."""
    return client.post(target, data={"csrf": csrf_of(client, page), **fields})


def on_one_line(page: Any) -> str:
    """Give the text of an answer with every stretch of whitespace as one space, as browsers read it."""
    return " ".join(page.text.split())


def keep_house_once(workspace: Workspace, *, tidy: bool) -> None:
    """Do once what the loops go on doing; with *tidy* also what is done once in an hour. A failure is logged."""
    for loop in house_loops(workspace).values():
        if tidy or loop.state.every < TIDY_SECONDS:
            loop.once()
