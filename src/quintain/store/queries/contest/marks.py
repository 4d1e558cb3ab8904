"""What pairs of a contest are listed by, as it was found out last: kept in step, and asked for page by page."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.database import transaction
from quintain.store.tables import ContestMark, ContestPair

AT_A_TIME = 1000  # rows that one transaction writes: others wait for some milliseconds
Mark = tuple[str, int]  # a mark, and the pair that has it


def keep(db: Session, contest_id: int, marks: Collection[Mark]) -> int:
    """Bring the marks of a contest into step with *marks*; give how many were not as they should be."""
    query = select(ContestMark.mark, ContestMark.pair_id).where(ContestMark.contest_id == contest_id)
    before = {(mark, pair) for mark, pair in db.execute(query)}
    insert = postgresql.insert if db.get_bind().dialect.name == "postgresql" else sqlite.insert
    add = insert(ContestMark).on_conflict_do_nothing()
    new, gone = sorted(set(marks) - before), sorted(before - set(marks))
    for start in range(0, len(gone), AT_A_TIME):
        by_mark: dict[str, list[int]] = {}
        for mark, pair in gone[start : start + AT_A_TIME]:
            by_mark.setdefault(mark, []).append(pair)
        with transaction(db):
            for mark, pairs in by_mark.items():
                mine = ContestMark.contest_id == contest_id, ContestMark.mark == mark, ContestMark.pair_id.in_(pairs)
                db.execute(delete(ContestMark).where(*mine).execution_options(synchronize_session=False))
    for start in range(0, len(new), AT_A_TIME):
        rows = [
            {"contest_id": contest_id, "mark": mark, "pair_id": pair} for mark, pair in new[start : start + AT_A_TIME]
        ]
        with transaction(db):
            db.execute(add, rows)
    return len(new) + len(gone)


def page(
    db: Session, contest_id: int, marks: Sequence[str], *, team_id: int | None, offset: int, limit: int
) -> tuple[list[int], int]:
    """Return a page of the pairs that have every one of *marks*, in the order they were written, and count them."""
    query = select(ContestPair.id).where(ContestPair.contest_id == contest_id)
    if team_id is not None:
        query = query.where(ContestPair.team_id == team_id)
    for mark in marks:
        marked = select(ContestMark.pair_id).where(ContestMark.contest_id == contest_id, ContestMark.mark == mark)
        query = query.where(ContestPair.id.in_(marked))
    total = db.scalar(select(func.count()).select_from(query.subquery())) or 0
    return list(db.scalars(query.order_by(ContestPair.id).offset(offset).limit(limit))), total
