"""Replies of servers by what was asked, in one file: whoever asks the same again pays nothing.

One SQLite file instead of a file for each reply: a reply is written when it comes, so that a run that breaks off loses
none, and several processes may use it at once.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FILE = "chat.sqlite3"
FOLDER = "chat"  # where older versions kept a file for each reply
WAIT_SECONDS = 30.0


class KeptReplies:
    """The replies below *folder*; several threads may ask. Close it in the end."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._open = True
        self._db = sqlite3.connect(
            folder / FILE, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=8
        )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, content TEXT NOT NULL, usage TEXT NOT NULL)"
            " WITHOUT ROWID"
        )
        if (folder / FOLDER).is_dir():
            self._take_over(folder / FOLDER)

    def close(self) -> None:
        """Close the file. Who asks later, because a run has ended under it, finds and keeps nothing."""
        with self._lock:
            self._open = False
            self._db.close()

    def get(self, key: str) -> tuple[str, Mapping[str, Any]] | None:
        """Give the text and the usage that are kept under *key*."""
        with self._lock:
            if not self._open:
                return None
            row = self._db.execute("SELECT content, usage FROM reply WHERE key = ?", (key,)).fetchone()
        return None if row is None else (row[0], json.loads(row[1]))

    def put(self, key: str, content: str, usage: Mapping[str, Any]) -> None:
        """Keep a reply."""
        row = (key, content, json.dumps(usage))
        with self._lock:
            if not self._open:
                return
            self._db.execute("INSERT OR REPLACE INTO reply VALUES (?, ?, ?)", row)

    def _take_over(self, folder: Path) -> None:
        """Take in what an older version kept, which was paid for, and remove its files."""
        for place in sorted(folder.glob("??/*.json")):
            try:
                kept = json.loads(place.read_bytes())
                content, usage = str(kept["content"]), dict(kept["usage"])
            except (FileNotFoundError, ValueError, KeyError, TypeError):
                continue  # half a file, or one that another process has taken over meanwhile
            self.put(place.stem, content, usage)
            place.unlink(missing_ok=True)
