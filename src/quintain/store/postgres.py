"""Connections to PostgreSQL that ask no more of it than they must: each question costs a way there and back."""

from __future__ import annotations

import time
from typing import Any

import psycopg
from psycopg.pq import ExecStatus, TransactionStatus
from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.exc import InvalidatePoolError

IDLE_S = 1.0  # a connection that was in use so short a time ago is not asked whether it still stands


class KeepingConnection(psycopg.Connection[Any]):
    """A connection that keeps its prepared statements when a transaction is rolled back.

    psycopg forgets them, because a table that they name may have been made in what is undone. We make tables in
    migrations only, and end every reading with a rollback: so nothing would ever stay prepared, and every question
    would be planned anew.
    """

    def rollback(self) -> None:
        """Undo the transaction; after an error, as psycopg does it."""
        healthy = self.pgconn.transaction_status == TransactionStatus.INTRANS
        if healthy and self.pgconn.exec_(b"ROLLBACK").status == ExecStatus.COMMAND_OK:
            return
        super().rollback()


def open_postgres(address: URL, **options: Any) -> Engine:
    """Make an engine for the database at *address*; the newest connections are used first, and stay prepared."""
    engine = create_engine(address, pool_use_lifo=True, **options)

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, arguments: Any, options: Any) -> Any:
        return KeepingConnection.connect(*arguments, **options)

    @event.listens_for(engine, "checkin")
    def note(connection: Any, record: Any) -> None:
        record.info["returned"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def check(connection: Any, record: Any, proxy: Any) -> None:
        if time.monotonic() - record.info.get("returned", time.monotonic()) < IDLE_S:
            return
        try:
            engine.dialect.do_ping(connection)
        except psycopg.Error as error:
            raise InvalidatePoolError from error  # the pool then opens another one

    return engine
