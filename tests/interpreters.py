"""Other interpreters than the one that runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars
import pytest

import quintain

VERSIONS = ("3.11", "3.12", "3.13")


def system_python() -> str:
    """Find the system's own interpreter, where the packages of this one were made for it too."""
    python = f"/usr/bin/python3.{sys.version_info.minor}"
    if not Path(python).exists():
        pytest.skip(f"{python} is not here")
    return python


def library_path() -> str:
    """Give the path on which another interpreter finds this package and what it needs."""
    return os.pathsep.join([str(Path(quintain.__file__).parent.parent), str(Path(polars.__file__).parent.parent)])


def interpreters() -> list[str]:
    """List one interpreter of each release that is in /usr/bin, kept by pyenv or on the path."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[str, str] = {}
    for version in VERSIONS:
        pyenv = map(str, sorted(kept.glob(f"{version}.*/bin/python{version}")))
        for place in (f"/usr/bin/python{version}", *pyenv, shutil.which(f"python{version}")):
            if place and Path(place).exists():
                asked = subprocess.run([place, "--version"], capture_output=True, text=True, check=False)
                if asked.returncode == 0:
                    found.setdefault(asked.stdout.strip(), place)
    return list(found.values())
