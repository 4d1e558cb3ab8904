"""A workspace with the starter tasks, a real server on it, and people whose password is known."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from quintain.compose import Workspace, create_workspace, open_workspace
from quintain.core.people import OPERATOR
from quintain.services.access import tokens
from quintain.services.access.accounts import get_person
from quintain.services.access.actors import actor_of, find_user
from quintain.services.access.links import make_link, redeem_link
from quintain.services.house.demo import build_demo
from quintain.settings import Settings
from quintain.web.app import create_app
from quintain.web.server import Server, bind, configure

PASSWORD = "correct horse battery"
CSRF = re.compile(r'name="csrf" value="([^"]+)"')


def make_demo(folder: Path, **settings: object) -> Workspace:
    """Build the demo in *folder*; admin and demo-owner have the password above."""
    workspace = create_workspace(Settings(workspace=folder, login_attempts=1000, model_calls=1000, **settings))
    with workspace.session() as db:
        build_demo(db, workspace.blobs, progress=lambda what, fraction: None)
        for name in ("admin", "demo-owner", "demo-worker"):
            redeem_link(db, make_link(db, OPERATOR, name).token, PASSWORD)
    return workspace


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
        return tokens.create_token(db, actor, "tests")[0]


@contextmanager
def running(workspace: Workspace) -> Iterator[str]:
    """Serve *workspace* on a free port of this machine, and give its address."""
    listener = bind("127.0.0.1", 0)
    ready = threading.Event()
    server = Server(configure(create_app(workspace)), ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    assert ready.wait(30)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    listener.close()


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
