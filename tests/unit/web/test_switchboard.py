"""The route of a request is found among few, and is the one that the framework would find among all."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from quintain.web.app import create_app
from quintain.web.switchboard import Switchboard


@pytest.fixture(scope="module")
def app() -> FastAPI:
    """An application that nobody asks anything of, so that it needs no workspace."""
    return create_app(SimpleNamespace())  # type: ignore[arg-type]


def _scope(path: str, method: str = "GET") -> Scope:
    return {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}


def _by_trying_all(app: FastAPI, scope: Scope) -> BaseRoute | None:
    return next((one for one in app.router.routes if one.matches(scope)[0] is Match.FULL), None)


def test_every_route_is_found_as_by_trying_all(app: FastAPI) -> None:
    """For a path of each route, and for paths near it, index and framework agree."""
    board = Switchboard(app.router)
    asked = 0
    for route in app.router.routes:
        if not isinstance(route, Route):
            continue
        path = re.sub(r"\{[^}]*\}", "7", route.path)
        for method in sorted(route.methods or {"GET"}):
            for each in (path, f"{path}/", f"{path}/more", path.replace("7", "new"), f"/{path}"):
                scope = _scope(each, method)
                found = board.find(scope)
                assert (found[0] if found else None) is _by_trying_all(app, scope), each
                asked += 1
    assert asked > 1000


def test_few_routes_are_tried(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes late in the list is found at once."""
    board = Switchboard(app.router)
    tried = []
    usual = Route.matches
    monkeypatch.setattr(Route, "matches", lambda self, scope: tried.append(self) or usual(self, scope))
    assert board.find(_scope("/api/v1/tasks/mood/trials/one/part")) is not None
    assert len(tried) <= 3


def test_what_is_added_later_is_found(app: FastAPI) -> None:
    """A route that is put in front of the others counts from the next request on; elsewhere the router answers."""
    board = Switchboard(app.router)
    assert board.find(_scope("/nowhere/at/all")) is None
    assert board.find(_scope("/static/style.css")) is not None
    added = Route("/help", lambda request: None)
    app.router.routes.insert(0, added)
    found = board.find(_scope("/help"))
    app.router.routes.remove(added)
    assert found is not None
    assert found[0] is added
