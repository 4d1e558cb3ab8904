"""`quintain serve` as a real process: it starts, says where, refuses a taken port, and stops calmly."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from typer.testing import Result

from quintain.compose import Workspace
from quintain.core.errors import Conflict, Unavailable
from quintain.settings import settings_environment
from quintain.web.app import create_app
from quintain.web.server import bind, configure


def test_serve_makes_a_workspace_and_stops_calmly(tmp_path: Path) -> None:
    """The first start prints the address and the admin's link, answers, logs the request, and ends with 0."""
    command = [sys.executable, "-m", "quintain", "-w", str(tmp_path / "w"), "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = started(process)
        assert httpx2.get(f"{said['url']}/readyz").json()["status"] == "ok"
        assert httpx2.get(said["admin_link"]).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, messages = process.communicate(timeout=30)
    assert process.returncode in {0, -signal.SIGTERM}
    assert "Traceback" not in messages
    assert "path=/readyz" in messages


def started(process: subprocess.Popen[str]) -> dict[str, str]:
    """Read what a server says once it answers."""
    assert process.stdout
    lines = ""
    for line in process.stdout:
        lines += line
        if line.rstrip() == "}":
            break
    said: dict[str, str] = json.loads(lines)
    return said


def children(pid: int, word: str) -> set[int]:
    """Give the ids of the processes that *pid* started and whose command holds *word*."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # a process may end while one looks
            parent = path.joinpath("stat").read_text().rpartition(")")[2].split()[1]
            command = path.joinpath("cmdline").read_text().split("\0")
            if parent == str(pid) and word in command:
                found.add(int(path.name))
    return found


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that happens in other processes."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes under /proc")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_several_processes_answer_on_one_port(workspace: Workspace, end: signal.Signals) -> None:
    """One that dies is replaced, evaluation runs once, limits hold across them, and all go when the first one goes."""
    settings = replace(workspace.settings, login_attempts=5)
    command = [sys.executable, "-m", "quintain", "serve", "--port", "0", "--json", "--processes", "3"]
    with ended(command, settings_environment(settings)) as process:
        url = started(process)["url"]
        servers = children(process.pid, "serve")
        assert (len(servers), len(children(process.pid, "worker"))) == (3, 1)
        assert all(httpx2.get(f"{url}/readyz").json()["status"] == "ok" for _ in range(12))
        assert [sign_in(url) for _ in range(7)] == [401] * 5 + [429] * 2
        victim = min(servers)
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: victim not in children(process.pid, "serve"))
        wait_until(lambda: len(children(process.pid, "serve")) == 3)
        assert httpx2.get(f"{url}/readyz").json()["status"] == "ok"
        everybody = children(process.pid, "serve") | children(process.pid, "worker")
        process.send_signal(end)
        _, messages = process.communicate(timeout=60)
    assert process.returncode == (0 if end is signal.SIGTERM else -signal.SIGKILL)
    assert "Traceback" not in messages
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in everybody))
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"{url}/readyz")


@contextmanager
def ended(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Start a process, and end it when a test is done with it, or has failed."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def sign_in(url: str) -> int:
    """Try to sign in with a wrong password, and give the status of the answer."""
    with httpx2.Client(base_url=url) as client:
        token = re.search(r'name="csrf" value="([^"]+)"', client.get("/login").text)
        assert token
        return client.post("/login", data={"csrf": token[1], "name": "olga", "password": "wrong"}).status_code


@pytest.mark.parametrize(("wanted", "allowed"), [("0", "equal to 1 "), ("65", "equal to 64 ")])
def test_a_senseless_number_of_processes_is_refused(
    tmp_path: Path, wanted: str, allowed: str, cli: Callable[..., Result]
) -> None:
    """Neither none nor hundreds; nothing is made, and the usage says what is allowed."""
    done = cli("-w", tmp_path / "w", "serve", "--processes", wanted)
    assert done.exit_code == 2
    assert allowed in done.stderr
    assert not (tmp_path / "w").exists()


def test_a_taken_port_is_explained(tmp_path: Path, run_cli: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """A second server on the same port exits with 1, names the port, and says how to choose another."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run_cli("-w", tmp_path / "w", "serve", "--port", str(port))
    assert done.returncode == 1
    assert f"Port {port}" in done.stderr
    assert "--port" in done.stderr
    assert not (tmp_path / "w").exists()


def test_an_address_of_elsewhere_is_explained() -> None:
    """A host that is not this machine's is refused with what to check."""
    with pytest.raises(Unavailable, match="Cannot listen"):
        bind("192.0.2.1", 8000)
    with bind("127.0.0.1", 0) as first, pytest.raises(Conflict, match="is taken"):
        bind("127.0.0.1", first.getsockname()[1])


def test_connections_are_kept_for_longer_than_proxies_keep_them(workspace: Workspace) -> None:
    """Whoever sends on a connection that it still trusts is answered: not the server gives up first."""
    usual = 60  # seconds, of nginx and of most balancers
    assert configure(create_app(workspace)).timeout_keep_alive > usual
