"""Replies of servers by what was asked, in one file: whoever asks the same again pays nothing.

One SQLite file instead of a file for each reply: a reply is written when it comes, so that a run that breaks off loses
none, and several processes may use it at once. Within an event loop, those that come in the same turn of it are written
together: hundreds of calls at once would otherwise cost as many transactions. Beside the replies stand what each call
of a run took, so that what a run had spent is known also where it was killed, and which parameters the endpoint of a
model takes.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from quintain.adapters.chat_options import METHODS, OptionMethod
from quintain.adapters.chat_request import Parameters
from quintain.adapters.contract import Options, Outside
from quintain.adapters.ledger import Ledger, LedgerEntry, TokenUse
from quintain.adapters.prices import prices_of

FILE = "chat.sqlite3"
FOLDER = "chat"  # where older versions kept a file for each reply
WAIT_SECONDS = 30.0
TABLES = (
    "CREATE TABLE IF NOT EXISTS run (name TEXT PRIMARY KEY, begun TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)"
    " WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS call (run TEXT NOT NULL, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,"
    " outcome TEXT NOT NULL, status INTEGER, sent INTEGER NOT NULL, received INTEGER NOT NULL,"
    " estimated INTEGER NOT NULL, cost REAL NOT NULL)",
    "CREATE INDEX IF NOT EXISTS call_run ON call (run)",
    "CREATE TABLE IF NOT EXISTS parameters (model TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)


@contextmanager
def open_ledger(options: Options, outside: Outside) -> Iterator[tuple[Ledger, ReplyStore | None]]:
    """Yield the ledger of a run, within its budget, and the store of its entries, where there is one."""
    prices = prices_of(options, outside)
    if outside.cache is None:
        yield Ledger(prices, outside.budget), None
        return
    with closing(ReplyStore(outside.cache)) as store:
        if outside.run:
            store.open_run(outside.run)
        yield Ledger(prices, outside.budget, partial(store.enter_call, outside.run)), store


def spent_by(cache: Path | None, run: str) -> float | None:
    """Add up what the calls of *run* cost that are kept below *cache*; None where it has kept none there."""
    if cache is None or not (cache / FILE).exists():
        return None
    with closing(ReplyStore(cache)) as store:
        return store.spent_by(run)


def spent_below(cache: Path | None, prefix: str) -> float:
    """Add up what the calls cost of all runs that are kept below *cache* and whose names begin with *prefix*."""
    if cache is None or not (cache / FILE).exists():
        return 0.0
    with closing(ReplyStore(cache)) as store:
        return store.spent_below(prefix)


class ReplyStore:
    """The replies below *folder*; several threads may ask. Close it in the end."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._open = True
        self._pending: list[tuple[str, tuple[Any, ...]]] = []
        self._db = sqlite3.connect(
            folder / FILE, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=16
        )
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS reply (key TEXT PRIMARY KEY, content TEXT NOT NULL, usage TEXT NOT NULL)"
            " WITHOUT ROWID"
        )
        for statement in TABLES:
            self._db.execute(statement)
        if (folder / FOLDER).is_dir():
            self._take_over(folder / FOLDER)

    def close(self) -> None:
        """Close the file. Who asks later, because a run has ended under it, finds and keeps nothing."""
        self._flush()
        with self._lock:
            self._open = False
            self._db.close()

    def get(self, key: str) -> tuple[str, Mapping[str, Any]] | None:
        """Return the text and the usage that are kept under *key*, or None."""
        rows = self._read("SELECT content, usage FROM reply WHERE key = ?", (key,))
        return (rows[0][0], json.loads(rows[0][1])) if rows else None

    def put(self, key: str, content: str, usage: Mapping[str, Any]) -> None:
        """Keep a reply."""
        self._write("INSERT OR REPLACE INTO reply VALUES (?, ?, ?)", (key, content, json.dumps(usage)))

    def open_run(self, run: str) -> None:
        """Note that *run* keeps its calls here, also where it makes none."""
        self._write("INSERT OR IGNORE INTO run (name) VALUES (?)", (run,))

    def enter_call(self, run: str, entry: LedgerEntry) -> None:
        """Keep what a call of *run* took."""
        usage = entry.usage
        row = (run, entry.outcome, entry.status, usage.sent, usage.received, usage.estimated, entry.cost)
        self._write(
            "INSERT INTO call (run, outcome, status, sent, received, estimated, cost) VALUES (?, ?, ?, ?, ?, ?, ?)", row
        )

    def parameters(self, model: str) -> Parameters | None:
        """Return the parameters that the endpoint of *model* was found to take, or None."""
        rows = self._read("SELECT value FROM parameters WHERE model = ?", (model,))
        if not rows:
            return None
        value = json.loads(rows[0][0])
        return Parameters(value["cap"], tuple(value["dropped"]))

    def keep_parameters(self, model: str, parameters: Parameters) -> None:
        """Remember which parameters the endpoint of *model* takes."""
        value = json.dumps({"cap": parameters.cap, "dropped": parameters.dropped})
        self._write("INSERT OR REPLACE INTO parameters VALUES (?, ?)", (model, value))

    def option_method(self, model: str) -> OptionMethod | None:
        """Return how options are weighed at the endpoint of *model*, once that was found out."""
        rows = self._read("SELECT value FROM parameters WHERE model = ?", (f"{model}:options",))
        known = json.loads(rows[0][0]) if rows else None
        return next((method for method in METHODS if method == known), None)

    def keep_option_method(self, model: str, method: OptionMethod) -> None:
        """Remember how options are weighed at the endpoint of *model*."""
        self._write("INSERT OR REPLACE INTO parameters VALUES (?, ?)", (f"{model}:options", json.dumps(method)))

    def batch(self, name: str) -> str | None:
        """Return the batch in which the questions called *name* went up, and which was not collected yet."""
        rows = self._read("SELECT value FROM parameters WHERE model = ?", (f"{name}:batch",))
        return str(json.loads(rows[0][0])) if rows else None

    def keep_batch(self, name: str, batch: str | None) -> None:
        """Remember the batch of the questions called *name*; None once it was collected."""
        if batch is None:
            self._write("DELETE FROM parameters WHERE model = ?", (f"{name}:batch",))
        else:
            self._write("INSERT OR REPLACE INTO parameters VALUES (?, ?)", (f"{name}:batch", json.dumps(batch)))

    def calls(self, run: str) -> list[LedgerEntry]:
        """List the calls of *run* in the order in which they ended."""
        query = "SELECT outcome, status, sent, received, estimated, cost FROM call WHERE run = ? ORDER BY rowid"
        return [
            LedgerEntry(outcome, status, TokenUse(sent, received, bool(estimated)), cost)
            for outcome, status, sent, received, estimated, cost in self._read(query, (run,))
        ]

    def spent_by(self, run: str) -> float | None:
        """Add up what the calls of *run* cost; None where it has kept none of them here."""
        if not self._read("SELECT 1 FROM run WHERE name = ?", (run,)):
            return None
        return float(self._read("SELECT COALESCE(SUM(cost), 0) FROM call WHERE run = ?", (run,))[0][0])

    def spent_below(self, prefix: str) -> float:
        """Add up what the calls cost of all runs whose names begin with *prefix*."""
        query = "SELECT COALESCE(SUM(cost), 0) FROM call WHERE substr(run, 1, ?) = ?"
        return float(self._read(query, (len(prefix), prefix))[0][0])

    def _read(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        if self._pending:
            self._flush()
        with self._lock:
            return self._db.execute(query, values).fetchall() if self._open else []

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        with self._lock:
            if not self._open:
                return
            self._pending.append((statement, values))
            if len(self._pending) > 1:
                return  # the turn that has begun writes this, too
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._flush()
        else:
            loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Write what is pending, in one transaction."""
        with self._lock:
            pending, self._pending = self._pending, []
            if not pending or not self._open:
                return
            if len(pending) == 1:
                self._db.execute(*pending[0])
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                for statement, values in pending:
                    self._db.execute(statement, values)
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def _take_over(self, folder: Path) -> None:
        """Take in what an older version kept, which was paid for, and remove its files."""
        for path in sorted(folder.glob("??/*.json")):
            try:
                reply = json.loads(path.read_bytes())
                content, usage = str(reply["content"]), dict(reply["usage"])
            except (FileNotFoundError, ValueError, KeyError, TypeError):
                continue  # half a file, or one that another process has taken over meanwhile
            self.put(path.stem, content, usage)
            path.unlink(missing_ok=True)
