"""Questions about kept figures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.tables import KeptFigure


def figure(db: Session, kind: str, subject: str) -> KeptFigure | None:
    """Return the figure of a kind and subject that is kept, as it is in the database now."""
    query = select(KeptFigure).where(KeptFigure.kind == kind, KeptFigure.subject == subject)
    return db.scalar(query.execution_options(populate_existing=True))


class StoredBasis(NamedTuple):
    """What a kept figure rests on, and when it was computed."""

    basis: str
    computed_at: datetime


def stored_basis(db: Session, kind: str, subject: str) -> StoredBasis | None:
    """Return what the kept figure of a kind and subject rests on, without reading it, which may be long."""
    query = select(KeptFigure.basis, KeptFigure.computed_at)
    row = db.execute(query.where(KeptFigure.kind == kind, KeptFigure.subject == subject)).first()
    return StoredBasis(*row) if row else None


def subjects(db: Session, kind: str) -> Sequence[str]:
    """List the subjects of which a figure of *kind* is kept."""
    return db.scalars(select(KeptFigure.subject).where(KeptFigure.kind == kind).order_by(KeptFigure.subject)).all()


def put(
    db: Session, kind: str, subject: str, *, basis: str, value: dict[str, Any], at: datetime, seconds: float
) -> None:
    """Keep a figure in place of the one before. Inside a writing transaction."""
    add = postgresql.insert if db.get_bind().dialect.name == "postgresql" else sqlite.insert
    values = {"basis": basis, "value": value, "computed_at": at, "seconds": seconds}
    row = add(KeptFigure).values(kind=kind, subject=subject, **values)
    db.execute(row.on_conflict_do_update(index_elements=[KeptFigure.kind, KeptFigure.subject], set_=values))


def drop(db: Session, kind: str, subject: str | None = None) -> int:
    """Throw away the figures of a kind, or that of one subject; give how many there were."""
    deletion = delete(KeptFigure).where(KeptFigure.kind == kind)
    if subject is not None:
        deletion = deletion.where(KeptFigure.subject == subject)
    return int(db.execute(deletion.execution_options(synchronize_session=False)).rowcount)  # type: ignore[attr-defined]
