"""Questions about what people earned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.tables import Attempt, Earning, EarningDecision, Round, TaskRow, User


class EarningRow(NamedTuple):
    """An earning with its newest decision, the task, the round's number and the worker."""

    earning: Earning
    decision: EarningDecision | None
    task: str
    round: int | None
    worker: str


def add_once(db: Session, **values: Any) -> bool:
    """Add an earning unless its piece of work has been paid; say whether it was added."""
    insert = postgresql.insert if db.get_bind().dialect.name == "postgresql" else sqlite.insert
    row = insert(Earning).values(**values).on_conflict_do_nothing(index_elements=["work"])
    return db.scalar(row.returning(Earning.id)) is not None


def rows(
    db: Session,
    *,
    user_id: int | None = None,
    task: str | None = None,
    round_id: int | None = None,
    ids: Sequence[int] | None = None,
    limit: int | None = None,
) -> list[EarningRow]:
    """List the earnings that fit every filter given, newest first."""
    query = _joined().order_by(Earning.id.desc())
    if user_id is not None:
        query = query.where(Earning.user_id == user_id)
    if task is not None:
        query = query.where(TaskRow.name == task)
    if round_id is not None:
        query = query.where(Earning.round_id == round_id)
    if ids is not None:
        query = query.where(Earning.id.in_(ids))
    if limit is not None:
        query = query.limit(limit)
    return [EarningRow(*found) for found in db.execute(query)]


def totals(db: Session, *, user_id: int | None = None, round_id: int | None = None) -> dict[tuple[str, str, str], int]:
    """Add up earnings by currency, kind and status (pending, approved, declined)."""
    newest = _newest()
    query = (
        select(Earning.currency, Earning.kind, EarningDecision.approved, func.sum(Earning.amount))
        .outerjoin(newest, newest.c.earning_id == Earning.id)
        .outerjoin(EarningDecision, EarningDecision.id == newest.c.id)
        .group_by(Earning.currency, Earning.kind, EarningDecision.approved)
    )
    if user_id is not None:
        query = query.where(Earning.user_id == user_id)
    if round_id is not None:
        query = query.where(Earning.round_id == round_id)
    status = {None: "pending", True: "approved", False: "declined"}
    return {
        (currency, kind, status[None if approved is None else bool(approved)]): int(amount)
        for currency, kind, approved, amount in db.execute(query)
    }


def decided(db: Session, user_id: int) -> tuple[int, int]:
    """Count a worker's base earnings that were approved, and those that were decided on."""
    newest = _newest()
    query = (
        select(func.count().filter(EarningDecision.approved), func.count())
        .select_from(Earning)
        .join(newest, newest.c.earning_id == Earning.id)
        .join(EarningDecision, EarningDecision.id == newest.c.id)
        .where(Earning.user_id == user_id, Earning.kind == "base")
    )
    approved, total = db.execute(query).one()
    return int(approved), int(total)


def attempts_in(db: Session, session_id: int) -> int:
    """Count the attempts of a session."""
    return db.scalar(select(func.count()).where(Attempt.session_id == session_id)) or 0


def _newest() -> Any:
    return (
        select(EarningDecision.earning_id, func.max(EarningDecision.id).label("id"))
        .group_by(EarningDecision.earning_id)
        .subquery()
    )


def _joined() -> Select[Earning, EarningDecision, str, int, str]:
    newest = _newest()
    return (
        select(Earning, EarningDecision, TaskRow.name, Round.number, User.name)
        .join(TaskRow, TaskRow.id == Earning.task_id)
        .join(User, User.id == Earning.user_id)
        .outerjoin(Round, Round.id == Earning.round_id)
        .outerjoin(newest, newest.c.earning_id == Earning.id)
        .outerjoin(EarningDecision, EarningDecision.id == newest.c.id)
    )
