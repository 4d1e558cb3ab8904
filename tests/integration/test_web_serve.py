"""`quintain serve` as a real process: it starts, says where, refuses a taken port, and stops calmly."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from quintain.core.errors import Conflict, Unavailable
from quintain.web.server import bind


def test_serve_makes_a_workspace_and_stops_calmly(tmp_path: Path) -> None:
    """The first start prints the address and the admin's link, answers, logs the request, and ends with 0."""
    command = [sys.executable, "-m", "quintain", "-w", str(tmp_path / "w"), "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = ""
        for line in process.stdout:
            lines += line
            if line.rstrip() == "}":
                break
        started = json.loads(lines)
        assert httpx2.get(f"{started['url']}/readyz").json()["status"] == "ok"
        assert httpx2.get(started["admin_link"]).status_code == 200
        process.send_signal(signal.SIGTERM)
        _, messages = process.communicate(timeout=30)
    assert process.returncode in {0, -signal.SIGTERM}
    assert "Traceback" not in messages
    assert "path=/readyz" in messages


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
