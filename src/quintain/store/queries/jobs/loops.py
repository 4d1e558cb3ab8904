"""Queries on how things fare that go on in processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from quintain.store.tables import LoopRow


def put(db: Session, process: str, states: Mapping[str, dict[str, Any]], at: datetime) -> None:
    """Write down how the loops of a process fare, in place of what it said before. In a transaction."""
    forget(db, process)
    db.add_all(LoopRow(process=process, name=name, seen_at=at, state=state) for name, state in states.items())


def forget(db: Session, process: str) -> None:
    """Strike out the loops of a process."""
    db.execute(delete(LoopRow).where(LoopRow.process == process).execution_options(synchronize_session=False))


def forget_before(db: Session, moment: datetime) -> None:
    """Strike out the loops of processes that have said nothing since *moment*."""
    db.execute(delete(LoopRow).where(LoopRow.seen_at < moment).execution_options(synchronize_session=False))


def known(db: Session) -> Sequence[LoopRow]:
    """List all loops of all processes by name."""
    query = select(LoopRow).order_by(LoopRow.name, LoopRow.process)
    return db.scalars(query.execution_options(populate_existing=True)).all()
