"""Links that commands print lead to where the server really listens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from typer.testing import Result

from quintain.compose import announced, base_address, create_workspace
from quintain.engine.presence import Presence, running_server, serving
from quintain.settings import Settings
from tests.integration.house.test_web_serve import ended, started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace that no server runs on."""
    create_workspace(Settings(workspace=tmp_path / "w")).close()
    return tmp_path / "w"


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    """The address of a real server on the workspace, on a port that nobody chose."""
    command = [sys.executable, "-m", "quintain", "-w", str(folder), "serve", "--port", "0", "--json"]
    with ended(command, {**os.environ, "QUINTAIN_WORKERS": "0"}) as process:
        yield started(process)["url"]


def test_links_lead_to_the_server_that_runs(
    cli: Callable[..., Result], folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`user add` and `user link` print the port that the server took, and the link opens there."""
    made = cli("-w", folder, "user", "add", "wilma")
    assert made.stdout.startswith(f"{url}/"), made.stderr
    assert "assumed" not in made.stderr
    assert httpx2.get(made.stdout.strip()).status_code == 200
    assert cli("-w", folder, "user", "link", "wilma").stdout.startswith(f"{url}/")
    monkeypatch.setenv("QUINTAIN_PUBLIC_URL", "https://quintain.example")
    named = cli("-w", folder, "user", "link", "wilma")
    assert named.stdout.startswith("https://quintain.example/")


def test_without_a_server_the_assumption_is_said(
    cli: Callable[..., Result], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link has the port that is set, and a line says that nothing runs there."""
    monkeypatch.setenv("QUINTAIN_PORT", "8123")
    made = cli("-w", folder, "user", "add", "wilma")
    assert made.stdout.startswith("http://127.0.0.1:8123/")
    assert "http://127.0.0.1:8123 is assumed" in made.stderr


def test_what_a_killed_server_left_is_not_believed(tmp_path: Path) -> None:
    """Only a server that holds its file runs; of several, the last one counts; what is left over is swept away."""
    assert running_server(tmp_path) is None
    (tmp_path / "0123456789abcdef").write_text("http://127.0.0.1:1")
    assert running_server(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    code = (
        "import os, sys; from pathlib import Path; from quintain.engine.presence import serving\n"
        "with serving(Path(sys.argv[1]), 'http://127.0.0.1:2'): os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    with serving(tmp_path, "http://127.0.0.1:3"):
        assert running_server(tmp_path) == Presence("http://127.0.0.1:3")
    assert running_server(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "url"),
    [("0.0.0.0", "http://127.0.0.1:80"), ("::", "http://[::1]:80"), ("10.0.0.7", "http://10.0.0.7:80")],  # noqa: S104
)
def test_a_server_on_all_addresses_is_reached_on_one(tmp_path: Path, host: str, url: str) -> None:
    """Nobody can open http://0.0.0.0; an address with colons stands in brackets."""
    settings = Settings(workspace=tmp_path, host=host, port=80)
    with announced(settings):
        found = base_address(Settings(workspace=tmp_path))
    assert (found.url, found.known) == (url, True)


def test_a_server_without_a_folder_serves_all_the_same(tmp_path: Path) -> None:
    """With its database elsewhere, a workspace that cannot be written is no reason to stop."""
    (tmp_path / "file").write_text("")
    settings = Settings(workspace=tmp_path / "file")
    with announced(settings):
        assert not base_address(settings).known
