"""Queries on the queue of runs: who works at what, what is stuck, what waits and for what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from quintain.core.cells import CellState
from quintain.store.queries.evaluate.cells import CellRow, joined
from quintain.store.tables import Cell


def running(db: Session, now: datetime, limit: int) -> Sequence[CellRow]:
    """List the runs that a worker holds, the longest at work first."""
    held = (Cell.state == CellState.RUNNING) & (Cell.lease_until >= now)
    return _rows(db, held, Cell.started_at, limit)


def stuck(db: Session, now: datetime, limit: int) -> Sequence[CellRow]:
    """List the runs whose worker has not been heard of since its lease ran out, the oldest first."""
    left = (Cell.state == CellState.RUNNING) & (Cell.lease_until < now)
    return _rows(db, left, Cell.lease_until, limit)


def failed_since(db: Session, moment: datetime) -> int:
    """Count the runs that have failed since *moment*."""
    query = select(func.count()).select_from(Cell)
    return db.scalar(query.where(Cell.state == CellState.FAILED, Cell.finished_at >= moment)) or 0


def waiting(db: Session) -> list[tuple[str, str, int]]:
    """Count the queued runs by what they wait for beside their turn, and by the class of machine that they need."""
    machine = func.coalesce(Cell.machine, "")
    query = select(Cell.waits_for, machine, func.count()).where(Cell.state == CellState.QUEUED)
    groups = db.execute(query.group_by(Cell.waits_for, machine).order_by(Cell.waits_for, machine))
    return [(str(wait), str(of), int(count)) for wait, of, count in groups]


def oldest_queued(db: Session) -> datetime | None:
    """Return since when the run that has waited longest is queued; None where none is."""
    return db.scalar(select(func.min(Cell.created_at)).where(Cell.state == CellState.QUEUED))


def _rows(
    db: Session, condition: ColumnElement[bool], order: InstrumentedAttribute[datetime | None], limit: int
) -> list[CellRow]:
    return [CellRow(*row) for row in db.execute(joined().where(condition).order_by(order, Cell.id).limit(limit))]
