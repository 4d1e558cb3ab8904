"""What README and the first page of the documents tell a newcomer to type, typed in a fresh clone."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from quintain.cli.guide import how_to_call

ROOT = Path(__file__).resolve().parents[3]
RUNS_ON = ("quintain demo", "./scripts/demo", "serve --host")  # until Ctrl-C: is to come up, and is ended
NOT_HERE = ("./scripts/test",)  # these are the tests
SECONDS = 300


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of what is committed, and of what is not yet."""
    folder = tmp_path_factory.mktemp("newcomer") / "quintain"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(folder)], check=True)
    changed = subprocess.run(
        ["git", "ls-files", "--modified", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    for name in changed:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A new virtual environment that is active, and no browser that opens."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("QUINTAIN_", "PYTHONPATH"))}
    return {**kept, "PATH": f"{folder}/bin:{os.environ['PATH']}", "QUINTAIN_INSTALL": "no", "BROWSER": "true"}


def commands(page: Path) -> Iterator[str]:
    """Go through the fenced commands of a page, whole lines with their continuations."""
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        yield from (line for line in block.replace("\\\n", " ").splitlines() if line.strip())


def run_on(line: str, clone: Path, environment: Mapping[str, str]) -> None:
    """Start what runs until Ctrl-C, wait until it says where it is, and end it."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {line}"],
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lines = []
    until = time.monotonic() + SECONDS
    assert process.stdout is not None
    for said_line in process.stdout:
        lines.append(said_line)
        if "http://" in said_line or time.monotonic() > until:
            break
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert "http://" in lines[-1], "".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/getting-started.md"])
def test_every_command_works_as_typed(page: str, clone: Path, environment: Mapping[str, str]) -> None:
    """Each line is given to a shell in the clone, in the order of the page."""
    typed = list(commands(clone / page))
    for line in typed:
        if line.startswith(NOT_HERE):
            continue
        if any(name in line for name in RUNS_ON):
            run_on(line.partition("#")[0].strip(), clone, environment)
            continue
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=clone,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    assert len(typed) >= 9


def test_the_clones_own_command(clone: Path, environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`./quintain` is the program of the clone, from wherever it is called; the demo names it where nothing else is."""
    ready = {**environment, "QUINTAIN_VENV": sys.prefix, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [str(clone / "quintain"), "--version"], cwd="/", env=ready, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("quintain "), done.stderr
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert how_to_call() == str(ROOT / "quintain")
