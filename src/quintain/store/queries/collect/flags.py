"""Flags on attempts, and where they stand: written together, listed page by page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, insert, select, text, update
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.queries.jobs import counts
from quintain.store.queries.jobs.counts import CountKey, round_count
from quintain.store.tables import Attempt, AttemptFlag, FlagDecision, FlagStanding

COUNTED = "flags"  # the names of the counts begin so
CHUNK = 500
OPEN, DECIDED = "flags.open", "flags.decided"
_standings = table_of(FlagStanding)


class FlagRow(NamedTuple):
    """A flag with the attempt that it is on, and the newest decision."""

    flag: AttemptFlag
    attempt: Attempt
    decision: FlagDecision | None


def add(db: Session, round_id: int, rows: Sequence[AttemptFlag]) -> None:
    """Add flags on attempts of a round; nobody has decided on them yet."""
    db.add_all(rows)
    db.flush()
    db.execute(insert(_standings), [{"flag_id": row.id, "round_id": round_id} for row in rows])
    counts.change(db, {round_count(round_id, OPEN): len(rows)})


def decide(db: Session, decision: FlagDecision, round_id: int) -> None:
    """Add what was decided on a flag: it stands so from now on."""
    db.add(decision)
    db.flush()
    mine = _standings.c.flag_id == decision.flag_id
    before = db.scalar(select(_standings.c.decision_id).where(mine).with_for_update())
    db.execute(update(_standings).where(mine).values(decision_id=decision.id))
    if before is None:
        counts.change(db, {round_count(round_id, OPEN): -1, round_count(round_id, DECIDED): 1})


def page(
    db: Session, round_id: int, *, decided: bool | None, offset: int = 0, limit: int | None = None
) -> list[FlagRow]:
    """List the flags on a round's attempts with the newest decision: open ones, decided ones, or all."""
    here = select(FlagStanding.flag_id).where(FlagStanding.round_id == round_id, *_by_decision(decided))
    ids = list(db.scalars(here.order_by(FlagStanding.flag_id).offset(offset).limit(limit)))
    flag_rows: list[FlagRow] = []
    for first in range(0, len(ids), CHUNK):
        query = (
            select(AttemptFlag, Attempt, FlagDecision)
            .join(FlagStanding, FlagStanding.flag_id == AttemptFlag.id)
            .join(Attempt, Attempt.id == AttemptFlag.attempt_id)
            .outerjoin(FlagDecision, FlagDecision.id == FlagStanding.decision_id)
            .where(AttemptFlag.id.in_(ids[first : first + CHUNK]))
            .order_by(AttemptFlag.id)
        )
        flag_rows += [FlagRow(flag, attempt, decision) for flag, attempt, decision in db.execute(query)]
    return flag_rows


def count(db: Session, round_id: int, *, decided: bool | None) -> int:
    """Return the number of the flags on a round's attempts: open ones, decided ones, or all."""
    known = counts.of_round(db, round_id)
    names = {None: (OPEN, DECIDED), True: (DECIDED,), False: (OPEN,)}[decided]
    return sum(known.get(name, 0) for name in names)


def among(db: Session, round_id: int, ids: Collection[int]) -> set[int]:
    """Return which of *ids* are flags on a round's attempts."""
    query = select(FlagStanding.flag_id).where(FlagStanding.round_id == round_id)
    return set(db.scalars(query.where(FlagStanding.flag_id.in_(ids))))


def _by_decision(decided: bool | None) -> list[ColumnElement[bool]]:
    if decided is None:
        return []
    return [FlagStanding.decision_id.is_not(None) if decided else _open()]


def _open() -> ColumnElement[bool]:
    return text("decision_id IS NULL")  # type: ignore[return-value]  # SQLite uses a partial index where it sees this


def counted(db: Session) -> dict[CountKey, int]:
    """Count all flags by round, and by whether somebody has decided on them, from the facts."""
    current = _with_decisions().subquery()
    name = func.coalesce(current.c.decision_id, 0) > 0
    query = select(current.c.round_id, name, func.count()).group_by(current.c.round_id, name)
    return {
        round_count(round_id, DECIDED if decided else OPEN): number for round_id, decided, number in db.execute(query)
    }


def misplaced(db: Session) -> list[Mapping[str, Any]]:
    """Find flags that stand otherwise than decisions say, or nowhere: how they should."""
    current = _with_decisions().subquery()
    query = (
        select(current)
        .outerjoin(FlagStanding, FlagStanding.flag_id == current.c.flag_id)
        .where(
            FlagStanding.round_id.is_distinct_from(current.c.round_id)
            | FlagStanding.decision_id.is_distinct_from(current.c.decision_id)
        )
    )
    return [dict(row) for row in db.execute(query).mappings()]


def replace(db: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Let flags stand as *rows* say."""
    for first in range(0, len(rows), CHUNK):
        some = [dict(row) for row in rows[first : first + CHUNK]]
        db.execute(_standings.delete().where(_standings.c.flag_id.in_([row["flag_id"] for row in some])))
        db.execute(insert(_standings), some)


def _with_decisions() -> Any:
    """Return a statement: every flag with its round and its newest decision."""
    newest = select(FlagDecision.flag_id, func.max(FlagDecision.id).label("id")).group_by(FlagDecision.flag_id)
    decided = newest.subquery()
    return (
        select(AttemptFlag.id.label("flag_id"), Attempt.round_id, decided.c.id.label("decision_id"))
        .join(Attempt, Attempt.id == AttemptFlag.attempt_id)
        .outerjoin(decided, decided.c.flag_id == AttemptFlag.id)
    )
