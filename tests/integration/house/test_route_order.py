"""Routes are tried in order, the busiest first: that order may make answers faster and may not change them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fastapi.routing import APIRoute
from starlette.routing import Match

from quintain.compose import Workspace
from quintain.web.app import create_app
from quintain.web.routes import PAGES


def _samples(path: str) -> Iterator[str]:
    """Write addresses of a route: with numbers, and with words that no route is called."""
    yield re.sub(r"\{[^}]*\}", "7", path)
    yield re.sub(r"\{[^}]*\}", "qxz", path)


def test_writing_hides_no_other_page_and_no_page_hides_writing(demo: Workspace) -> None:
    """Of an address below /write only the routes of writing match, each its own; of any other, none of them does."""
    routes = [route for route in create_app(demo).routes if isinstance(route, APIRoute)]
    writing = [route for route in routes if route.path.startswith("/write/")]
    assert PAGES[0].path.startswith("/write/")
    for route in routes:
        method = "GET" if "GET" in route.methods else next(iter(route.methods))
        for path in _samples(route.path):
            scope = {"type": "http", "method": method, "path": path, "root_path": ""}
            others = routes if route in writing else writing
            full = [one for one in others if one.matches(scope)[0] == Match.FULL]
            assert full == ([route] if route in writing else []), f"{method} {path}"
