"""Where servers of a workspace listen, so that commands beside them can make links that lead there.

A server keeps a file with its address in the workspace, and a lock on it. The kernel drops the lock when the process
dies, so that what a killed server left is known for what it is.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def serving(folder: Path, url: str) -> Iterator[None]:
    """Say in *folder* that a server answers at *url*, for as long as it does."""
    hidden = folder / f".{secrets.token_hex(8)}"
    shown = folder / hidden.name[1:]
    handle = os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.write(handle, url.encode())
        hidden.rename(shown)  # nobody sees it before it is locked
        yield
    finally:
        shown.unlink(missing_ok=True)
        os.close(handle)


def served_at(folder: Path) -> str | None:
    """Give the address of the server that was started last among those that run; None where none does."""
    found: list[tuple[float, str]] = []
    for path in folder.glob("[0-9a-f]*") if folder.is_dir() else ():
        with suppress(FileNotFoundError), path.open("rb") as file:  # it may have ended just now
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                found.append((os.fstat(file.fileno()).st_mtime, file.read().decode()))
            else:
                path.unlink()
    return max(found)[1] if found else None
