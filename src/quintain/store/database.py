"""Connections and transactions, on SQLite and on PostgreSQL.

Reading happens in short deferred transactions. Writing goes through `transaction`, which on SQLite takes the write
lock at once (`BEGIN IMMEDIATE`): two writers then wait for each other instead of failing half-way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.orm import Session

from quintain.core.errors import Unavailable

BUSY_TIMEOUT_MS = 15_000


def connect(url: str) -> Engine:
    """Open the database at *url*: `sqlite:///path/to/file` or `postgresql://…`."""
    if url.startswith("sqlite"):
        return _connect_sqlite(url)
    if url.startswith(("postgresql://", "postgres://")):
        url = "postgresql+psycopg://" + url.split("://", 1)[1]
    try:
        return create_engine(url, pool_size=20, max_overflow=20, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"The driver for this database is not installed ({error.name}).",
            remedy="Install it with: pip install 'quintain[postgres]'.",
        ) from error


def _connect_sqlite(url: str) -> Engine:
    engine = create_engine(url, connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        # The driver's own idea of when to begin is switched off; `begin` below says BEGIN itself.
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "foreign_keys=ON",
            f"busy_timeout={BUSY_TIMEOUT_MS}",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("writing", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


@contextmanager
def transaction(db: Session) -> Iterator[Session]:
    """Run the block as one transaction: all of it is kept, or none.

    A service that calls another one joins the transaction that is already open.
    """
    if db.info.get("in_transaction"):
        yield db
        return
    if db.in_transaction():
        db.commit()  # end the reading that went before, so that writing starts from what is true now
    db.info["in_transaction"] = True
    try:
        db.connection(execution_options={"writing": True})
        yield db
        db.commit()
    except BaseException:
        db.rollback()
        raise
    finally:
        db.info["in_transaction"] = False
