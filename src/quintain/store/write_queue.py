"""A line in front of SQLite's write lock.

SQLite lets waiting writers sleep and try again, ever longer, so that with many processes some wait long for a lock
that is mostly free. Where many short writes must be prompt, writers stand in line for a lock of the system first,
which wakes the next one at once.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session


@contextmanager
def sqlite_write_queue(db: Session) -> Iterator[None]:
    """Wait in line for the write lock of SQLite; on PostgreSQL, and inside a transaction, there is no line.

    One who holds the write lock must not stand in line for it: that is why a transaction may not be under way.
    """
    address = db.get_bind().engine.url
    file = address.database
    if address.get_backend_name() != "sqlite" or not file or file == ":memory:" or db.info.get("in_transaction"):
        yield
        return
    if db.in_transaction():
        db.commit()
    handle = os.open(f"{file}.turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)  # which also lets the next one go
