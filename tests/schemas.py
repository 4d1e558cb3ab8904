"""The tables of a new SQLite database, read once from one that the migrations made."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sqlalchemy import Connection

from quintain.store import migrate
from quintain.store.search_index import INDEX, is_index

Upgrade = Callable[..., None]


def as_in(template: Path, upgrade_on: Upgrade) -> Upgrade:
    """Give a way to upgrade that makes all tables of an empty SQLite database at once, as they are in *template*.

    The migrations lead there in half a second, one after another. Whatever is not empty, not SQLite, or to be brought
    to another version is left to them.
    """

    def make(connection: Connection, revision: str = "head") -> None:
        newest = revision in {"head", migrate.newest()}
        if not newest or connection.dialect.name != "sqlite" or migrate.revision_of(connection) is not None:
            upgrade_on(connection, revision)
            return
        for statement in _statements(template):
            connection.exec_driver_sql(statement)

    return make


@cache
def _statements(template: Path) -> list[str]:
    """Give the statements that make the tables and indexes, and that note the last migration."""
    made = "SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    connection = sqlite3.connect(template)
    try:
        (version,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        named = connection.execute(made).fetchall()
        # What the index for words keeps for itself comes with it.
        kept = {name for name, kind, _ in named if kind == "table" and is_index(name) and name != INDEX}
        found = [str(statement) for name, _, statement in named if name not in kept]
    finally:
        connection.close()
    return [*found, f"INSERT INTO alembic_version VALUES ('{version}')"]
