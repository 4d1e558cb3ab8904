"""Every Python that we say we run on, where it can be had: the system's own, and those beside it."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.interpreters import VERSIONS, interpreters, library_path, system_python
from tests.properties import MORE

ROOT = Path(__file__).parent.parent.parent.parent
SENSITIVE = (
    "tests/unit/models/test_model_card.py",
    "tests/unit/adapters/test_archives.py",
    "tests/unit/core/test_untrusted.py",
    "tests/unit/core/test_jsontext.py",
    "tests/unit/test_logs.py",
)
ALL_SENSITIVE = (*SENSITIVE, "tests/unit/adapters", "tests/unit/core")


def test_classifiers_name_the_versions_that_are_tried() -> None:
    """What the package says of itself is what is checked here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    prefix = "Programming Language :: Python :: "
    assert [one.removeprefix(prefix) for one in project["classifiers"] if one.startswith(prefix)] == list(VERSIONS)
    assert project["requires-python"] == f">={VERSIONS[0]}"


@pytest.mark.parametrize("files", [SENSITIVE, pytest.param(ALL_SENSITIVE, marks=pytest.mark.slow)], ids=["few", "all"])
def test_the_interpreter_of_the_system(tmp_path: Path, files: tuple[str, ...]) -> None:
    """What packs, unpacks and parses works on the interpreter of the system, which may be an early release."""
    done = subprocess.run(
        [system_python(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", tmp_path / "base", *files],
        cwd=ROOT,
        # The same properties are tried on more examples by the interpreter of this run.
        env={"PATH": os.environ["PATH"], "PYTHONPATH": library_path(), "PYTHONDONTWRITEBYTECODE": "1", MORE: "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


@pytest.mark.slow
@pytest.mark.parametrize("python", interpreters())
def test_the_locked_install_evaluates_on(python: str, tmp_path: Path) -> None:
    """From the lock file alone: the demo is built, a task of it evaluated and measured, and no run fails."""
    environment = {
        **os.environ,
        "QUINTAIN_PYTHON": python,
        "QUINTAIN_VENV": str(tmp_path / "venv"),
        "QUINTAIN_WORKSPACE": str(tmp_path / "demo"),
    }
    quintain = str(tmp_path / "venv" / "bin" / "quintain")
    for command in (
        ["bash", "-c", f"source {ROOT}/scripts/lib.sh; use_environment {ROOT}/requirements/runtime.lock"],
        [quintain, "demo", "--build-only", "--workspace", str(tmp_path / "demo")],
        [quintain, "evaluate", "run", "--task", "choice", "--json"],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    states = json.loads(done.stdout)["states"]
    assert states["failed"] == states["queued"] == 0
    assert states["done"] > 0
