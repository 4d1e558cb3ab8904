"""Queries on automatic searches for pairs, and on what they propose."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import case, func, select, update
from sqlalchemy.orm import Session

from quintain.store.tables import ContestProposal, ContestSearch


class StoredSearch(NamedTuple):
    """A search with how many proposals it has made, and how many of them wait."""

    row: ContestSearch
    proposals: int
    waiting: int


def of_team(db: Session, team_id: int) -> list[StoredSearch]:
    """List the searches of a team, the newest first."""
    waits = func.sum(case((ContestProposal.decision == "", 1), else_=0))
    counted = (
        select(ContestProposal.search_id, func.count().label("n"), waits.label("waiting"))
        .group_by(ContestProposal.search_id)
        .subquery()
    )
    query = (
        select(ContestSearch, func.coalesce(counted.c.n, 0), func.coalesce(counted.c.waiting, 0))
        .outerjoin(counted, counted.c.search_id == ContestSearch.id)
        .where(ContestSearch.team_id == team_id)
        .order_by(ContestSearch.id.desc())
    )
    return [StoredSearch(row, int(proposals), int(waiting)) for row, proposals, waiting in db.execute(query)]


def asked_by_team(db: Session, team_id: int) -> int:
    """Count the texts that a team's searches have asked models about."""
    return (
        db.scalar(select(func.coalesce(func.sum(ContestSearch.asked), 0)).where(ContestSearch.team_id == team_id)) or 0
    )


def advance(db: Session, search: ContestSearch, position: int, asked: int) -> bool:
    """Write down how far a search is by now; False where somebody else went on with it meanwhile."""
    query = update(ContestSearch).where(ContestSearch.id == search.id, ContestSearch.position == search.position)
    values = {"position": position, "asked": ContestSearch.asked + asked}
    return bool(db.execute(query.values(**values)).rowcount)  # type: ignore[attr-defined]


def hashes(db: Session, search_id: int) -> set[str]:
    """Return the hashes of what a search has proposed."""
    return set(db.scalars(select(ContestProposal.modified_hash).where(ContestProposal.search_id == search_id)))


def proposals(
    db: Session, search_id: int, *, waiting: bool, offset: int, limit: int
) -> tuple[list[ContestProposal], int]:
    """Return a page of proposals, those that wait first, and how many there are; with *waiting*, only such."""
    ours = [ContestProposal.search_id == search_id, *([ContestProposal.decision == ""] if waiting else [])]
    total = db.scalar(select(func.count()).select_from(ContestProposal).where(*ours)) or 0
    order = case((ContestProposal.decision == "", 0), else_=1), ContestProposal.id
    return list(db.scalars(select(ContestProposal).where(*ours).order_by(*order).offset(offset).limit(limit))), total


def proposal_of_team(db: Session, team_id: int, number: int) -> ContestProposal | None:
    """Find a proposal of one of a team's searches."""
    query = select(ContestProposal).join(ContestSearch, ContestSearch.id == ContestProposal.search_id)
    return db.scalar(query.where(ContestProposal.id == number, ContestSearch.team_id == team_id))
