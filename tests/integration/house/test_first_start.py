"""`quintain serve` where there is no workspace yet: three questions at a terminal, or options, and it is served."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from quintain.cli.house.first_questions import ALL_ADDRESSES, NOTHING, NewWorkspace, complete, lasting_settings
from quintain.core.errors import BadInput
from quintain.settings import STORED, Settings, read_settings, stored_settings, unless_set

STARTERS = ("sentiment", "nli")
SECONDS = 60


def serve(folder: Path, *options: str) -> list[str]:
    """The command."""
    return [sys.executable, "-m", "quintain", "-w", str(folder), "serve", "--port", "0", *options]


def test_questions_are_asked_at_a_terminal_and_it_is_served(tmp_path: Path) -> None:
    """An answer that cannot be is asked for again; the address is kept, and the task is there."""
    master, terminal = pty.openpty()
    environment = {**os.environ, "QUINTAIN_WORKERS": "0", "TERM": "dumb"}
    command = serve(tmp_path / "w")
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment) as process:
        os.close(terminal)
        shown = answer(
            master, {"1. ": "maria\n", "2. ": "bench\n", "bench' is": "https://bench.example.org/\n", "3. ": "nli\n"}
        )
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    os.close(master)
    assert "https://bench.example.org/link/" in shown
    assert stored_settings(tmp_path / "w") == {"public_url": "https://bench.example.org"}
    tasks = subprocess.run(
        [sys.executable, "-m", "quintain", "-w", str(tmp_path / "w"), "task", "list", "--json"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert "nli" in tasks.stdout


def answer(master: int, answers: dict[str, str]) -> str:
    """Type each answer once its question is there, until a link is shown; return all that was shown."""
    shown, waiting = "", dict(answers)
    until = time.monotonic() + SECONDS
    while "/link/" not in shown:
        assert time.monotonic() < until, shown
        shown += os.read(master, 4096).decode()
        for question in [question for question in waiting if question in shown]:
            os.write(master, waiting.pop(question).encode())
    return shown


def test_options_answer_beforehand_and_nothing_is_asked_without_a_terminal(tmp_path: Path) -> None:
    """The link leads to the account and the address that were named; a second start keeps the address."""
    folder = tmp_path / "w"
    options = ["--json", "--admin", "maria", "--public-url", "http://127.0.0.1:1", "--starter", "choice"]
    first = started(serve(folder, *options))
    assert first["url"] == "http://127.0.0.1:1"
    assert first["admin_link"].startswith("http://127.0.0.1:1/link/")
    assert started(serve(folder, "--json"))["url"] == "http://127.0.0.1:1"
    refused = subprocess.run(serve(folder, "--admin", "otto"), capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "--admin and --starter are for a new one" in refused.stderr


def started(command: list[str]) -> dict[str, Any]:
    """Start a server, read what it says, and end it."""
    environment = {**os.environ, "QUINTAIN_WORKERS": "0"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment, text=True
    ) as process:
        assert process.stdout
        lines = ""
        for line in process.stdout:
            lines += line
            if line.rstrip() == "}":
                break
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    told: dict[str, Any] = json.loads(lines)
    return told


@pytest.mark.parametrize(
    "options",
    [
        NewWorkspace(admin="-"),
        NewWorkspace(public_url="bench.example.org"),
        NewWorkspace(public_url="https://bench.example.org/here"),
        NewWorkspace(starter="poetry"),
    ],
)
def test_an_option_that_cannot_be_is_refused_before_anything_is_made(options: NewWorkspace) -> None:
    """Name, address and task are looked at before there is a folder."""
    with pytest.raises(BadInput):
        complete(options, starters=STARTERS, ask=False)


def test_without_a_terminal_the_defaults_hold() -> None:
    """An admin called admin, this machine alone, no task."""
    assert complete(NewWorkspace(), starters=STARTERS, ask=False) == NewWorkspace("admin", "", NOTHING)


@pytest.mark.parametrize(
    ("address", "values"),
    [
        ("", {}),
        ("https://bench.example.org", {"public_url": "https://bench.example.org"}),
        ("http://localhost:9000", {"public_url": "http://localhost:9000"}),
        (
            "http://bench.lan:9000",
            {"public_url": "http://bench.lan:9000", "host": ALL_ADDRESSES, "port": 9000},
        ),
    ],
)
def test_an_address_without_tls_is_this_machine_itself(address: str, values: dict[str, Any]) -> None:
    """Behind https there is a proxy; a plain address of this machine is listened on."""
    assert lasting_settings(Settings(), NewWorkspace("admin", address, NOTHING)) == values


def test_the_workspaces_own_settings_hold_unless_a_variable_says_otherwise(tmp_path: Path) -> None:
    """The file beats the default, a variable beats the file, and what is said there is not put aside."""
    (tmp_path / STORED).write_text('public_url = "https://bench.example.org"\nport = 9000\nsandbox = "full"\n')
    settings = read_settings({}, workspace=tmp_path)
    assert (settings.public_url, settings.port) == ("https://bench.example.org", 9000)
    assert read_settings({"QUINTAIN_PORT": "9001", "QUINTAIN_WORKSPACE": str(tmp_path)}).port == 9001
    assert unless_set(settings, {}, sandbox="partial").sandbox == "full"


@pytest.mark.parametrize("line", ["prot = 9000", 'port = "9000"', "workspace = 'elsewhere'", "port = "])
def test_a_file_of_settings_that_says_nonsense_is_refused(tmp_path: Path, line: str) -> None:
    """Names that are none and values of another type are named with the file."""
    (tmp_path / STORED).write_text(line + "\n")
    with pytest.raises(BadInput) as refused:
        read_settings({}, workspace=tmp_path)
    assert STORED in str(refused.value)
