"""Every property again, on many more examples than a quick run has time for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.properties import MORE

ROOT = Path(__file__).parents[2]
TIMES = 10
FOLDERS = sorted(
    {
        path.parent.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("*.py")
        if "@given" in path.read_text()
    }
)


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS)
def test_properties_hold_on_many_more_examples(folder: str) -> None:
    """What never failed on some tens of examples does not fail on ten times as many."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "hypothesis and not slow", folder]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, MORE: str(TIMES)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert "passed" in done.stdout
