"""Rows in bulk, the quickest way that each database has; what comes out is what the services would have written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import Engine

from quintain.store.base import Base, table_of

CHUNK = 20_000


class Loader:
    """Puts rows into tables while it is `loading`, with ids of our own; the database counts on from there."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.sqlite = engine.dialect.name == "sqlite"
        self._connection: Any = None

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Load in one transaction, without waiting for the disk; references are looked at when all is there, by SQLite.

        On PostgreSQL that takes a superuser, as the server has that is started for this.
        """
        raw = self.engine.raw_connection()
        self._connection = raw.driver_connection
        if self.sqlite:
            for pragma in ("foreign_keys=OFF", "synchronous=OFF", "cache_size=-400000"):
                self._connection.execute(f"PRAGMA {pragma}")
            self._connection.execute("BEGIN IMMEDIATE")
        else:  # offers lead to slots, those to judgements, and these to offers
            self._connection.execute("SET LOCAL session_replication_role = replica")
        try:
            yield
            self._finish()
            self._connection.execute("COMMIT")
            if self.sqlite:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            raw.invalidate()  # what was switched off stays with this connection
            raw.close()

    def when(self, moment: datetime) -> str:
        """Give a moment as the driver writes it."""
        plain = moment.strftime("%Y-%m-%d %H:%M:%S.%f")
        return plain if self.sqlite else f"{plain}+00:00"

    def next_id(self, kind: type[Base]) -> int:
        """Give the first id of a table that nobody has."""
        top = self._connection.execute(f'SELECT max(id) FROM "{table_of(kind).name}"').fetchone()[0]  # noqa: S608
        return int(top or 0) + 1

    def one(self, query: str) -> Any:
        """Give the only value of a query."""
        return self._connection.execute(query).fetchone()[0]

    def add(self, kind: type[Base], columns: Iterable[str], rows: Iterable[tuple[Any, ...]]) -> int:
        """Add rows, given as tuples in the order of *columns*; give how many."""
        names, table = list(columns), table_of(kind).name
        quoted = ", ".join(f'"{name}"' for name in names)
        marks = ", ".join("?" * len(names))
        stream, count = iter(rows), 0
        while some := list(islice(stream, CHUNK)):
            count += len(some)
            if self.sqlite:
                self._connection.executemany(f"INSERT INTO {table} ({quoted}) VALUES ({marks})", some)  # noqa: S608
                continue
            with self._connection.cursor() as cursor, cursor.copy(f"COPY {table} ({quoted}) FROM STDIN") as copy:
                for row in some:
                    copy.write_row(row)
        return count

    def _finish(self) -> None:
        if self.sqlite:
            lost = self._connection.execute("PRAGMA foreign_key_check").fetchmany(3)
            assert not lost, f"references that lead nowhere: {lost}"
            return
        for table in Base.metadata.sorted_tables:
            if "id" in table.c and table.c.id.type.python_type is int:
                top = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM \"{table.name}\""  # noqa: S608
                self._connection.execute(f"{top} HAVING max(id) IS NOT NULL")


def packed(value: Any) -> str:
    """Give a value as the JSON that is stored."""
    return json.dumps(value, allow_nan=False)
