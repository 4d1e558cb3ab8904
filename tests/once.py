"""What is dear to make: made once for all processes of a run, and copied by each."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Give the folder *name* that *make* fills: by the process that comes first, while the others wait.

    Who wants to change something in it takes a copy.
    """
    place = factory.getbasetemp()
    if place.name.startswith("popen-"):  # one of several processes, whose folders lie side by side
        place = place.parent
    folder = place / f"once-{name}"
    with (place / f"once-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = place / f"making-{name}"
            shutil.rmtree(making, ignore_errors=True)
            making.mkdir()
            make(making)
            making.rename(folder)
    return folder
