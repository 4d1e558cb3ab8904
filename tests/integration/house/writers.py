"""Processes that write to one database at the same time; started by the tests of the store."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.database import connect, transaction
from quintain.store.tables import AuditEntry, User


def write(url: str, writer: str, times: int) -> None:
    """Add *times* entries, and count each one up in a row that all writers share."""
    engine = connect(url)
    for number in range(times):
        with Session(engine) as db, transaction(db):
            db.add(AuditEntry(actor=writer, action="write", subject=str(number)))
            shared = db.scalars(select(User).where(User.name == "shared").with_for_update()).one()
            shared.display_name = str(int(shared.display_name) + 1)
    engine.dispose()
