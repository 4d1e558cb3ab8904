"""Queries on the pairs of a contest, and on how their labels were settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import and_, case, func, select, update
from sqlalchemy.orm import Session, aliased

from quintain.store.tables import (
    ContestDispute,
    ContestJudgement,
    ContestPair,
    ContestRow,
    ContestRuling,
    ContestTeam,
)

Said = TypeVar("Said", ContestDispute, ContestJudgement, ContestRuling)

MOST_NAMED = 500  # pairs that a statement names one by one


class StoredPair(NamedTuple):
    """A pair with its team's name."""

    row: ContestPair
    team: str


def of_contest(
    db: Session,
    contest_id: int,
    *,
    team_id: int | None = None,
    ids: Sequence[int] | None = None,
    offset: int = 0,
    limit: int | None = None,
) -> list[StoredPair]:
    """List pairs in the order in which they were written: of one team, or those with *ids*."""
    query = (
        select(ContestPair, ContestTeam.name)
        .join(ContestTeam, ContestTeam.id == ContestPair.team_id)
        .where(ContestPair.contest_id == contest_id)
        .order_by(ContestPair.id)
        .offset(offset)
    )
    if team_id is not None:
        query = query.where(ContestPair.team_id == team_id)
    if ids is not None and len(ids) > MOST_NAMED:
        chosen = set(ids)
        return [StoredPair(*row) for row in db.execute(query.limit(limit)) if row[0].id in chosen]
    if ids is not None:
        query = query.where(ContestPair.id.in_(ids))
    return [StoredPair(*row) for row in db.execute(query if limit is None else query.limit(limit))]


def page_of(db: Session, contest_id: int, *, team_id: int | None, offset: int, limit: int) -> list[int]:
    """Return the ids of a page of pairs, in the order in which they were written."""
    query = select(ContestPair.id).where(ContestPair.contest_id == contest_id).order_by(ContestPair.id)
    query = query if team_id is None else query.where(ContestPair.team_id == team_id)
    return list(db.scalars(query.offset(offset).limit(limit)))


def count(db: Session, contest_id: int, *, team_id: int | None = None) -> int:
    """Count pairs."""
    query = select(func.count()).where(ContestPair.contest_id == contest_id)
    return db.scalar(query if team_id is None else query.where(ContestPair.team_id == team_id)) or 0


def names(db: Session, team_id: int) -> set[str]:
    """Return the names of a team's pairs."""
    return set(db.scalars(select(ContestPair.name).where(ContestPair.team_id == team_id)))


def contents(db: Session, team_id: int) -> list[tuple[Mapping[str, Any], Mapping[str, Any], str]]:
    """Return what is in a team's pairs, on either side, with their names."""
    query = select(ContestPair.original, ContestPair.modified, ContestPair.name)
    rows = db.execute(query.where(ContestPair.team_id == team_id))
    return [(original, modified, name) for original, modified, name in rows]


def named(db: Session, team_id: int, name: str) -> ContestPair | None:
    """Find a team's pair by its name."""
    return db.scalar(select(ContestPair).where(ContestPair.team_id == team_id, ContestPair.name == name))


def claiming(db: Session, contest_id: int) -> list[ContestPair]:
    """List the pairs whose teams dispute the starter set's label of the original."""
    query = select(ContestPair).where(ContestPair.contest_id == contest_id, ContestPair.claimed_gold.is_not(None))
    return list(db.scalars(query.order_by(ContestPair.id)))


def disputes(db: Session, contest_id: int, pairs: Sequence[int]) -> dict[int, list[ContestDispute]]:
    """List what was said against pairs, by pair."""
    return _said_of(db, ContestDispute, contest_id, pairs)


def judgements(db: Session, contest_id: int, pairs: Sequence[int]) -> dict[int, list[ContestJudgement]]:
    """List what judges said of pairs, by pair."""
    return _said_of(db, ContestJudgement, contest_id, pairs)


def rulings(db: Session, contest_id: int, pairs: Sequence[int]) -> dict[int, ContestRuling]:
    """Return the newest decision of the organisers about each pair that they decided about."""
    return {pair: every[-1] for pair, every in _said_of(db, ContestRuling, contest_id, pairs).items()}


def bump(db: Session, contest_id: int, by: int = 1) -> None:
    """Count what was just said of pairs of a contest: its figures rest on that number."""
    db.execute(update(ContestRow).where(ContestRow.id == contest_id).values(facts=ContestRow.facts + by))


def facts(db: Session, contest_id: int) -> int:
    """Return a number that changes whenever a pair is contested, judged or decided about."""
    return db.scalar(select(ContestRow.facts).where(ContestRow.id == contest_id)) or 0


def count_to(db: Session, contest_id: int, most: int) -> int:
    """Count the pairs of a contest, and no further than *most*."""
    query = select(ContestPair.id).where(ContestPair.contest_id == contest_id).limit(most)
    return db.scalar(select(func.count()).select_from(query.subquery())) or 0


def disputed_by(db: Session, contest_id: int, team_id: int | None = None) -> list[tuple[ContestDispute, str | None]]:
    """List what was said against pairs of a contest, by one team or by all, the newest first, with the team's name.

    What disputes a label of the starter set is by no team against another: it has the name of the pair's own.
    """
    own = aliased(ContestTeam)
    by_author = and_(ContestDispute.team_id.is_(None), ContestDispute.user_id == ContestPair.author_id)
    query = (
        select(ContestDispute, case((by_author, own.name), else_=ContestTeam.name))
        .join(ContestPair, ContestPair.id == ContestDispute.pair_id)
        .join(own, own.id == ContestPair.team_id)
        .outerjoin(ContestTeam, ContestTeam.id == ContestDispute.team_id)
        .where(ContestPair.contest_id == contest_id)
        .order_by(ContestDispute.id.desc())
    )
    if team_id is not None:
        query = query.where(ContestDispute.team_id == team_id)
    return [(dispute, name) for dispute, name in db.execute(query)]


def unruled(db: Session, contest_id: int, *, disputed: bool, limit: int | None = None) -> list[int]:
    """Return the pairs that the organisers have not decided about, in the order in which they were written."""
    ruled = select(ContestRuling.id).where(ContestRuling.pair_id == ContestPair.id)
    query = select(ContestPair.id).where(ContestPair.contest_id == contest_id, ~ruled.exists())
    if disputed:
        query = query.where(ContestPair.id.in_(select(ContestDispute.pair_id)))
    return list(db.scalars(query.order_by(ContestPair.id).limit(limit)))


def wrote_some(db: Session, contest_id: int, user_id: int) -> bool:
    """Whether somebody wrote a pair of the contest, in whatever team they are now."""
    query = select(ContestPair.id).where(ContestPair.contest_id == contest_id, ContestPair.author_id == user_id)
    return db.scalar(query.limit(1)) is not None


def _said_of(db: Session, kind: type[Said], contest_id: int, pairs: Sequence[int]) -> dict[int, list[Said]]:
    """Return what was said of *pairs*, by pair. Where they are many, all of the contest is read in one statement."""
    ours: Any = pairs
    if len(pairs) > MOST_NAMED:
        ours = select(ContestPair.id).where(ContestPair.contest_id == contest_id)
    by_pair: dict[int, list[Said]] = {}
    for record in db.scalars(select(kind).where(kind.pair_id.in_(ours)).order_by(kind.id)):
        by_pair.setdefault(record.pair_id, []).append(record)
    return by_pair
