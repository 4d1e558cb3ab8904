"""Temporary folders that do not outlive their process for long.

Whoever makes one holds a lock on it (see `holding`). The kernel drops the lock when the process dies, however it dies,
and `sweep` then takes the folder away. No number of a process is compared: those are used again, and mean something
else in every container.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from quintain.core.errors import Unavailable
from quintain.engine.folder_locks import hold_folder, remove_unheld

PREFIX = "quintain-held-"
_OURS = re.compile(rf"\.*{PREFIX}[a-z]+-\w+")
_TRIES = 5


@contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """Yield a temporary folder for the time of the block; *kind* is a word for whoever looks at it."""
    with ExitStack() as stack:
        yield _make(kind, stack)


def _make(kind: str, stack: ExitStack) -> Path:
    for _ in range(_TRIES):
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"{PREFIX}{kind}-")))
        try:
            stack.enter_context(hold_folder(folder))
        except FileNotFoundError:
            continue  # swept away between making and holding
        return folder
    raise Unavailable("A temporary folder was taken away as often as it was made.", remedy="Try again in a moment.")


def sweep() -> int:
    """Remove the temporary folders of our own user whose process is gone, and count them."""
    gone = 0
    for folder in Path(tempfile.gettempdir()).iterdir():
        if not _OURS.match(folder.name):
            continue
        try:
            mine = folder.lstat().st_uid == os.geteuid() and folder.is_dir() and not folder.is_symlink()
            gone += mine and remove_unheld(folder, unused_since=math.inf)
        except OSError:
            continue  # somebody else was faster
    return gone
