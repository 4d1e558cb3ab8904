"""Questions about people who come from panels."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import PanelPerson, PanelVisit, User


def person(db: Session, provider: str, outside_id: str) -> User | None:
    """Give the account of somebody whom a panel knows by *outside_id*."""
    query = (
        select(User)
        .join(PanelPerson, PanelPerson.user_id == User.id)
        .where(PanelPerson.provider == provider, PanelPerson.outside_id == outside_id, User.deleted_at.is_(None))
    )
    return db.scalar(query)


def visit(db: Session, round_id: int, user_id: int, study: str, outside_session: str) -> PanelVisit | None:
    """Give an arrival that was seen before."""
    query = select(PanelVisit).where(
        PanelVisit.round_id == round_id,
        PanelVisit.user_id == user_id,
        PanelVisit.study == study,
        PanelVisit.outside_session == outside_session,
    )
    return db.scalar(query)


def newest_visit(db: Session, round_id: int, user_id: int) -> tuple[PanelVisit, str] | None:
    """Give somebody's newest arrival at a round, with the id that the panel knows them by."""
    query = (
        select(PanelVisit, PanelPerson.outside_id)
        .join(PanelPerson, (PanelPerson.user_id == PanelVisit.user_id) & (PanelPerson.provider == PanelVisit.provider))
        .where(PanelVisit.round_id == round_id, PanelVisit.user_id == user_id)
        .order_by(PanelVisit.id.desc())
        .limit(1)
    )
    row = db.execute(query).first()
    return (row[0], row[1]) if row else None
