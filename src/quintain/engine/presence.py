"""Where servers of a workspace listen, and what they run models under, so that commands beside them can do the same.

A server keeps a file with its address, and with the settings that others want to know, in the workspace, and a lock on
it. The kernel drops the lock when the process dies, so that what a killed server left is known for what it is.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quintain.core.jsontext import parse_json


@dataclass(frozen=True, slots=True)
class Presence:
    """A server that runs: its address, and the *settings* that it told."""

    url: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def serving(folder: Path, url: str, settings: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Announce in *folder* that a server answers at *url* under these *settings*, for as long as it does."""
    hidden = folder / f".{secrets.token_hex(8)}"
    shown = folder / hidden.name[1:]
    handle = os.open(hidden, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.write(handle, json.dumps({"url": url, "settings": dict(settings or {})}).encode())
        hidden.rename(shown)  # nobody sees it before it is locked
        yield
    finally:
        shown.unlink(missing_ok=True)
        os.close(handle)


def running_server(folder: Path) -> Presence | None:
    """Return the server that was started last among those that run; None where none does."""
    running: list[tuple[float, str]] = []
    for path in folder.glob("[0-9a-f]*") if folder.is_dir() else ():
        with suppress(FileNotFoundError), path.open("rb") as file:  # it may have ended just now
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                running.append((os.fstat(file.fileno()).st_mtime, file.read().decode()))
            else:
                path.unlink()
    if not running:
        return None
    text = max(running)[1]
    # An older server, still running while the program is brought up to date, wrote its address alone.
    return Presence(**parse_json(text)) if text.startswith("{") else Presence(text)
