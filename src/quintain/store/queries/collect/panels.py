"""Questions about people who come from panels."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.tables import (
    CrowdTrial,
    PanelEvent,
    PanelPerson,
    PanelPlace,
    PanelStay,
    PanelVisit,
    Qualification,
    Round,
    User,
    Validation,
)


def person(db: Session, provider: str, outside_id: str) -> User | None:
    """Return the account of somebody whom a panel knows by *outside_id*."""
    query = (
        select(User)
        .join(PanelPerson, PanelPerson.user_id == User.id)
        .where(PanelPerson.provider == provider, PanelPerson.outside_id == outside_id, User.deleted_at.is_(None))
    )
    return db.scalar(query)


def visit(db: Session, round_id: int, user_id: int, study: str, outside_session: str) -> PanelVisit | None:
    """Return an arrival that was seen before."""
    query = select(PanelVisit).where(
        PanelVisit.round_id == round_id,
        PanelVisit.user_id == user_id,
        PanelVisit.study == study,
        PanelVisit.outside_session == outside_session,
    )
    return db.scalar(query)


def newest_visit(db: Session, round_id: int, user_id: int) -> tuple[PanelVisit, str] | None:
    """Return somebody's newest arrival at a round, with the id that the panel knows them by."""
    query = (
        select(PanelVisit, PanelPerson.outside_id)
        .join(PanelPerson, (PanelPerson.user_id == PanelVisit.user_id) & (PanelPerson.provider == PanelVisit.provider))
        .where(PanelVisit.round_id == round_id, PanelVisit.user_id == user_id)
        .order_by(PanelVisit.id.desc())
        .limit(1)
    )
    row = db.execute(query).first()
    return (row[0], row[1]) if row else None


def place_of(db: Session, key: str) -> str | None:
    """Return the place, other than a round, that an entry address leads to."""
    return db.scalar(select(PanelPlace.place).where(PanelPlace.key == key))


def stay(db: Session, place_ref: str, user_id: int, study: str, outside_session: str) -> PanelStay | None:
    """Return an arrival at a place that was seen before."""
    query = select(PanelStay).where(PanelStay.place == place_ref, PanelStay.user_id == user_id)
    return db.scalar(query.where(PanelStay.study == study, PanelStay.outside_session == outside_session))


def newest_stay(db: Session, place_ref: str, user_id: int) -> tuple[PanelStay, str] | None:
    """Return somebody's newest arrival at a place, with the id that the panel knows them by."""
    query = (
        select(PanelStay, PanelPerson.outside_id)
        .join(PanelPerson, (PanelPerson.user_id == PanelStay.user_id) & (PanelPerson.provider == PanelStay.provider))
        .where(PanelStay.place == place_ref, PanelStay.user_id == user_id)
        .order_by(PanelStay.id.desc())
        .limit(1)
    )
    row = db.execute(query).first()
    return (row[0], row[1]) if row else None


def outside_by_qualification(
    db: Session, task_id: int, qualification: str, provider: str
) -> tuple[list[str], list[str]]:
    """Return what a panel calls those who hold a qualification, and those whose own has ended."""
    newest = (
        select(Qualification.user_id, func.max(Qualification.id).label("id"))
        .where(Qualification.task_id == task_id, Qualification.name == qualification)
        .group_by(Qualification.user_id)
        .subquery()
    )
    query = (
        select(PanelPerson.outside_id, Qualification.held)
        .join(newest, newest.c.user_id == PanelPerson.user_id)
        .join(Qualification, Qualification.id == newest.c.id)
        .where(PanelPerson.provider == provider)
        .order_by(PanelPerson.outside_id)
    )
    people = [(row[0], bool(row[1])) for row in db.execute(query)]
    return [one for one, held in people if held], [one for one, held in people if not held]


def add_event(db: Session, event: PanelEvent) -> bool:
    """Keep a message of a panel unless it was taken before; say whether it is new."""
    dialect = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    names = ("provider", "event_key", "kind", "created_at")
    row = dialect.insert(PanelEvent).values({name: getattr(event, name) for name in names})
    insertion = row.on_conflict_do_nothing(index_elements=["event_key"]).returning(PanelEvent.id)
    return db.scalar(insertion) is not None


def set_standing(
    db: Session, task_id: int, provider: str, outside_session: str, status: str, *, completed_at: datetime | None
) -> None:
    """Note of an arrival at a place of a task what the panel says of it, and when it was complete, where it is."""
    judged = db.scalars(select(Validation.id).where(Validation.task_id == task_id))
    tried = db.scalars(select(CrowdTrial.id).where(CrowdTrial.task_id == task_id)).all()
    places = [f"validation:{number}" for number in judged]
    places += [f"{kind}:{number}" for kind in ("trial", "grading") for number in tried]
    rounds = select(Round.id).where(Round.task_id == task_id)
    for table, here in ((PanelVisit, PanelVisit.round_id.in_(rounds)), (PanelStay, PanelStay.place.in_(places))):
        same = (table.provider == provider, table.outside_session == outside_session)
        db.execute(update(table).where(*same, here).values(standing=status))
        if completed_at is not None:
            db.execute(update(table).where(*same, here, table.completed_at.is_(None)).values(completed_at=completed_at))
