"""Queries on the judging of pairs: which one somebody is handed, who holds which, and what was judged."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from quintain.store.tables import (
    ContestDispute,
    ContestJudgement,
    ContestLease,
    ContestPair,
    ContestRuling,
)


class PairFilter(NamedTuple):
    """Which pairs are judged: those of a contest, or the *disputed* ones, until each has *enough* judgements.

    What people *alike*, who may be whoever asks, wrote, have judged or were handed is left out.
    """

    contest_id: int
    disputed: bool
    enough: int
    alike: tuple[int, ...] = ()


def draw(db: Session, pair_filter: PairFilter, user_id: int, at: datetime) -> int | None:
    """Return the pair that somebody is handed next: the one that they hold, else the one with the fewest judgements.

    What was decided, has enough judgements (those that others have in hand counted), was judged or skipped by them is
    left out. In a transaction that nobody else judges in.
    """
    held = lease_of(db, pair_filter.contest_id, user_id, at)
    if (
        held is not None
        and db.scalar(_open(pair_filter, user_id, at).where(ContestPair.id == held.pair_id)) is not None
    ):
        return held.pair_id
    number = _judged() + _in_hand(user_id, at)
    return db.scalar(_open(pair_filter, user_id, at).order_by(number, ContestPair.modified_hash).limit(1))


def count(db: Session, pair_filter: PairFilter, user_id: int, at: datetime) -> int:
    """Count the pairs that wait for somebody's judgement."""
    return db.scalar(select(func.count()).select_from(_open(pair_filter, user_id, at).subquery())) or 0


def lease_of(db: Session, contest_id: int, user_id: int, at: datetime) -> ContestLease | None:
    """Return the pair that somebody has in hand; None without one."""
    query = select(ContestLease).where(ContestLease.contest_id == contest_id, ContestLease.user_id == user_id)
    query = query.where(ContestLease.lease_until > at, ~ContestLease.skipped)
    judged = select(ContestJudgement.id).where(
        ContestJudgement.pair_id == ContestLease.pair_id, ContestJudgement.user_id == user_id
    )
    return db.scalar(query.where(~judged.exists()).order_by(ContestLease.held_since.desc()).limit(1))


def lease_on(db: Session, pair_id: int, user_id: int) -> ContestLease | None:
    """Return somebody's lease of a pair, whether or not it has run out."""
    return db.scalar(select(ContestLease).where(ContestLease.pair_id == pair_id, ContestLease.user_id == user_id))


def judged_in_time(db: Session, pair_id: int) -> int:
    """Count the judgements of a pair that were not late."""
    query = select(func.count()).where(ContestJudgement.pair_id == pair_id, ~ContestJudgement.late)
    return db.scalar(query) or 0


def count_returned(db: Session, contest_id: int, user_id: int) -> int:
    """Count the pairs of a contest that somebody gave back."""
    query = select(func.count()).where(ContestLease.contest_id == contest_id, ContestLease.user_id == user_id)
    return db.scalar(query.where(ContestLease.skipped)) or 0


def count_judged(db: Session, contest_id: int, user_id: int) -> int:
    """Count the pairs of a contest that somebody judged."""
    pairs = select(ContestPair.id).where(ContestPair.contest_id == contest_id)
    mine = (ContestJudgement.user_id == user_id, ContestJudgement.pair_id.in_(pairs))
    return db.scalar(select(func.count()).where(*mine)) or 0


def judged_by(db: Session, pair_id: int, user_id: int) -> bool:
    """Whether somebody has judged a pair."""
    query = select(ContestJudgement.id).where(ContestJudgement.pair_id == pair_id)
    return db.scalar(query.where(ContestJudgement.user_id == user_id).limit(1)) is not None


def is_ruled(db: Session, pair_id: int) -> bool:
    """Whether the organisers have decided about a pair."""
    return db.scalar(select(ContestRuling.id).where(ContestRuling.pair_id == pair_id).limit(1)) is not None


def people(db: Session, contest_id: int) -> list[int]:
    """List who has judged pairs of a contest."""
    query = select(ContestJudgement.user_id).join(ContestPair, ContestPair.id == ContestJudgement.pair_id)
    user_ids = db.scalars(query.where(ContestPair.contest_id == contest_id).distinct())
    return sorted(user_id for user_id in user_ids if user_id is not None)


def recent_seconds(db: Session, contest_id: int, most: int = 200) -> list[float]:
    """Return how long the newest judgements of a contest took."""
    query = (
        select(ContestJudgement.seconds)
        .join(ContestPair, ContestPair.id == ContestJudgement.pair_id)
        .where(ContestPair.contest_id == contest_id, ContestJudgement.seconds.is_not(None))
        .order_by(ContestJudgement.id.desc())
        .limit(most)
    )
    return [seconds for seconds in db.scalars(query) if seconds is not None]


def _of(pair_filter: PairFilter) -> Select[int]:
    """Return a statement: ids of the pairs that are judged at all, and not decided by the organisers."""
    ruled = select(ContestRuling.id).where(ContestRuling.pair_id == ContestPair.id)
    query = select(ContestPair.id).where(ContestPair.contest_id == pair_filter.contest_id, ~ruled.exists())
    if pair_filter.disputed:
        query = query.where(ContestPair.id.in_(select(ContestDispute.pair_id)))
    return query


def _open(pair_filter: PairFilter, user_id: int, at: datetime) -> Select[int]:
    """Return a statement: ids of the pairs that somebody may be handed."""
    mine = select(ContestJudgement.id).where(
        ContestJudgement.pair_id == ContestPair.id, ContestJudgement.user_id == user_id
    )
    skipped = select(ContestLease.id).where(
        ContestLease.pair_id == ContestPair.id, ContestLease.user_id == user_id, ContestLease.skipped
    )
    room = _judged() + _in_hand(user_id, at) < pair_filter.enough
    query = _of(pair_filter).where(room, ~mine.exists(), ~skipped.exists())
    if not pair_filter.alike:
        return query
    judged = select(ContestJudgement.pair_id).where(ContestJudgement.user_id.in_(pair_filter.alike))
    handed = select(ContestLease.pair_id).where(ContestLease.user_id.in_(pair_filter.alike))
    return query.where(ContestPair.id.not_in(judged), ContestPair.id.not_in(handed))


def _judged() -> ColumnElement[int]:
    query = select(func.count()).where(ContestJudgement.pair_id == ContestPair.id, ~ContestJudgement.late)
    return query.correlate(ContestPair).scalar_subquery()


def _in_hand(user_id: int, at: datetime) -> ColumnElement[int]:
    """Count the judgements that others have promised: leases that run and have no judgement yet."""
    done = select(ContestJudgement.id).where(
        ContestJudgement.pair_id == ContestLease.pair_id, ContestJudgement.user_id == ContestLease.user_id
    )
    held = (
        ContestLease.pair_id == ContestPair.id,
        ContestLease.user_id != user_id,
        ContestLease.lease_until > at,
        ~ContestLease.skipped,
        ~done.exists(),
    )
    return select(func.count()).where(*held).correlate(ContestPair).scalar_subquery()
