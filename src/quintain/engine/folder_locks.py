"""Folders that several processes share: held while they are used, taken away when nobody does.

A holder has a shared lock on the folder itself; whoever takes it away needs the exclusive one. The kernel drops locks
when a process dies, so that no crash keeps a folder for ever.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Keep *folder* from being taken away; raises FileNotFoundError where it is gone."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH)
        # It may have been taken away, and even made anew, between opening and locking.
        if not os.path.samestat(os.fstat(handle), folder.stat()):
            raise FileNotFoundError(str(folder))
        yield
    finally:
        os.close(handle)


def remove_unheld(folder: Path, *, unused_since: float) -> bool:
    """Remove *folder* unless it is held, or was marked as used after *unused_since*; say whether it is gone."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return True
    # A name of its own: what an earlier try could not remove whole may still lie there.
    aside = folder.with_name(f".{folder.name}-gone-{secrets.token_hex(4)}")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if last_used(folder) > unused_since:
            return False
        os.rename(folder, aside)
    except (BlockingIOError, FileNotFoundError):
        return not folder.exists()
    finally:
        os.close(handle)
    shutil.rmtree(aside, ignore_errors=True)
    return True


def mark_used(folder: Path, now: float) -> None:
    """Note in the folder's time of change that it was used *now*; the time of access would move with every look."""
    os.utime(folder, (now, now))


def last_used(folder: Path) -> float:
    """Return the time that `mark_used` noted last."""
    return folder.stat().st_mtime
