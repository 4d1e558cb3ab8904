"""Playing parts in the demo with one click: on this machine alone, and never on a server that is no demo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from quintain.compose import Workspace
from quintain.core.errors import BadInput
from quintain.services.house.demo import add_people
from quintain.settings import read_settings
from quintain.web.app import create_app
from quintain.web.roles import NAMES
from tests.web_support import csrf_of

HERE = ("127.0.0.1", 50_000)


@pytest.fixture
def database() -> str:
    """Who may play is no matter of the database."""
    return "sqlite"


@pytest.fixture
def demo(workspace: Workspace) -> Workspace:
    """The demo's people, without its tasks."""
    with workspace.session() as db:
        add_people(db)
    return replace(workspace, demo=True)


def _browser(workspace: Workspace, *, base: str = "http://127.0.0.1", peer: tuple[str, int] = HERE) -> TestClient:
    return TestClient(create_app(workspace), base_url=base, client=peer, follow_redirects=False)


def _play(client: TestClient, part: str, **headers: str) -> int:
    fields = {"csrf": csrf_of(client, "/"), "part": part, "next": "/account"}
    return client.post("/demo/part", data=fields, headers=headers).status_code


def test_every_part_is_one_click_away(demo: Workspace) -> None:
    """Each part signs its account in without a password; the reader is signed out; an unknown part is refused."""
    client = _browser(demo)
    for part, name in NAMES.items():
        assert _play(client, part) == 303
        page = client.get("/account").text
        assert f"Signed in as {name}" in page
        assert page.count('aria-pressed="true">') >= 1
    assert _play(client, "reader") == 303
    assert client.get("/account").status_code == 303
    assert _play(client, "emperor") == 404


def test_whoever_would_need_a_password_is_offered_a_part(demo: Workspace) -> None:
    """In the demo the page for signing in leads on with one click; on another server it asks for the password alone."""
    page = _browser(demo).get("/login?next=/work").text
    assert "Nobody needs a password in the demo" in page
    assert page.count('name="next" value="/work"') == 2
    assert "Nobody needs a password" not in _browser(replace(demo, demo=False)).get("/login").text


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host"])
def test_nobody_plays_through_a_proxy(demo: Workspace, name: str) -> None:
    """What was passed on by somebody is not this machine's own, wherever the connection comes from."""
    client = _browser(demo)
    assert "/demo/part" not in client.get("/", headers={name: "10.0.0.5"}).text
    assert _play(client, "admin", **{name: "10.0.0.5"}) == 403


@pytest.mark.parametrize(
    ("base", "peer", "changes"),
    [
        ("http://quintain.example.org", HERE, {}),
        ("http://127.0.0.1", ("10.0.0.5", 50_000), {}),
        ("http://127.0.0.1", HERE, {"host": "0.0.0.0"}),  # noqa: S104 - looked for: refused
        ("http://127.0.0.1", HERE, {"public_url": "https://quintain.example.org"}),
        ("http://127.0.0.1", HERE, {"trusted_proxies": "127.0.0.1"}),
    ],
)
def test_nobody_plays_where_others_can_reach_it(
    demo: Workspace, base: str, peer: tuple[str, int], changes: dict[str, str]
) -> None:
    """A name that leads elsewhere, a visitor from elsewhere, and a demo for others have no parts to play."""
    client = _browser(replace(demo, settings=replace(demo.settings, **changes)), base=base, peer=peer)
    assert "/demo/part" not in client.get("/").text
    assert _play(client, "admin") == 403


def test_a_server_that_is_no_demo_has_no_parts(demo: Workspace, tmp_path: Path) -> None:
    """On the same folder, served otherwise, nobody changes parts; and nothing in the environment makes a demo."""
    client = _browser(replace(demo, demo=False))
    assert "/demo/part" not in client.get("/").text
    assert _play(client, "admin") == 403
    with pytest.raises(BadInput, match="no such setting"):
        read_settings({"QUINTAIN_DEMO": "1"})
