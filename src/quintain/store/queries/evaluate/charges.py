"""Questions about what runs have cost."""

from __future__ import annotations

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from quintain.store.tables import Charge


def charged(db: Session, *, model_version_id: int | None = None, secret: str | None = None) -> float:
    """Add up what runs of a model version, or runs that a key paid for, have cost or may still cost."""
    total = select(func.coalesce(func.sum(Charge.amount), 0.0))
    if model_version_id is not None:
        total = total.where(Charge.model_version_id == model_version_id)
    if secret is not None:
        total = total.where(Charge.secret == secret)
    return float(db.scalar(total) or 0.0)


def pending(db: Session, *, model_version_id: int, secret: str | None) -> bool:
    """Say whether another run that draws on the same budgets is under way."""
    same = Charge.model_version_id == model_version_id
    if secret is not None:
        same |= Charge.secret == secret
    return db.scalar(select(Charge.id).where(same, ~Charge.settled).limit(1)) is not None


def drop_pending(db: Session, cell_id: int) -> None:
    """Forget what runs of a cell had set aside that never came to an end."""
    db.execute(delete(Charge).where(Charge.cell_id == cell_id, ~Charge.settled))


def settle(db: Session, cell_id: int, generation: int, amount: float) -> None:
    """Write what a run has cost in place of what it might."""
    run = (Charge.cell_id == cell_id, Charge.generation == generation)
    db.execute(update(Charge).where(*run).values(amount=amount, settled=True))
