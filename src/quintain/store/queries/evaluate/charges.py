"""Questions about what runs have cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import false, func, select, update
from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.store.base import now
from quintain.store.tables import Cell, Charge

LONGEST_CALL = timedelta(minutes=15)


def charged(db: Session, *, model_version_id: int | None = None, secret: str | None = None) -> float:
    """Add up what runs of a model version, or runs that a key paid for, have cost or may still cost."""
    total = select(func.coalesce(func.sum(Charge.amount), 0.0))
    if model_version_id is not None:
        total = total.where(Charge.model_version_id == model_version_id)
    if secret is not None:
        total = total.where(Charge.secret == secret)
    return float(db.scalar(total) or 0.0)


def pending(db: Session, *, model_version_id: int | None, secret: str | None) -> bool:
    """Whether something that draws on the same budgets is under way.

    A run that was killed, and will not be tried again, holds nobody up, and neither does a call whose end nobody saw.
    """
    same = false() if model_version_id is None else Charge.model_version_id == model_version_id
    if secret is not None:
        same |= Charge.secret == secret
    alive = Cell.state.in_((CellState.QUEUED.value, CellState.RUNNING.value)) | (
        Charge.cell_id.is_(None) & (Charge.created_at > now() - LONGEST_CALL)
    )
    query = select(Charge.id).outerjoin(Cell, Cell.id == Charge.cell_id).where(same, ~Charge.settled, alive)
    return db.scalar(query.limit(1)) is not None


def pending_of_cell(db: Session, cell_id: int) -> Sequence[Charge]:
    """List what runs of a cell had reserved that never came to an end."""
    return db.scalars(select(Charge).where(Charge.cell_id == cell_id, ~Charge.settled)).all()


def settle_charge(db: Session, cell_id: int, generation: int, amount: float) -> None:
    """Write what a run has cost in place of what it might."""
    run = (Charge.cell_id == cell_id, Charge.generation == generation)
    db.execute(update(Charge).where(*run).values(amount=amount, settled=True))


def settle_call_charge(db: Session, number: int, amount: float) -> None:
    """Write what a call outside of a run has cost in place of what it might."""
    db.execute(update(Charge).where(Charge.id == number).values(amount=amount, settled=True))
