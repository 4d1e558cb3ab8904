"""Questions about what people earned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, case, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.base import table_of
from quintain.store.queries.jobs import counts
from quintain.store.queries.jobs.counts import CountKey, round_count, task_count
from quintain.store.queries.pay import owed
from quintain.store.queries.pay.owed import OwedTo
from quintain.store.tables import (
    Attempt,
    Earning,
    EarningDecision,
    EarningStanding,
    Payout,
    Round,
    TaskRow,
    User,
)

_facts, _standings = table_of(Earning), table_of(EarningStanding)
_STAND = insert(_standings)
COUNTED = "earnings"  # the names of the counts begin so, and end with where earnings stand
STATUSES = ("pending", "approved", "declined", "paid")
CHUNK = 500  # pieces of work that are looked up together
ORDERS: Mapping[str, tuple[Any, ...]] = {
    "newest": (EarningStanding.earning_id.desc(),),
    "oldest": (EarningStanding.earning_id,),
    "largest": (Earning.amount.desc(), EarningStanding.earning_id.desc()),
    "smallest": (Earning.amount, EarningStanding.earning_id),
    "worker": (User.name, EarningStanding.earning_id.desc()),
    "worker_down": (User.name.desc(), EarningStanding.earning_id),
}
BY_NUMBER = ("newest", "oldest")


class EarningRow(NamedTuple):
    """An earning with where it stands, its newest decision, the task, the round's number, the worker, when paid."""

    earning: Earning
    standing: EarningStanding
    decision: EarningDecision | None
    task: str
    round: int | None
    worker: str
    paid_at: datetime | None


def add_once(db: Session, **values: Any) -> Earning | None:
    """Add an earning unless its piece of work has been paid; give it where it was added, as it is stored."""
    number = db.scalar(_adding(db.get_bind().dialect.name), values)
    if number is None:
        return None
    about = {name: values.get(name) for name in ("user_id", "task_id", "round_id")}
    db.execute(_STAND, {"earning_id": number, "status": "pending", **about})
    counts.change(db, _moves(values["task_id"], values.get("round_id"), {"pending": 1}))
    return Earning(id=number, **values)


@cache
def _adding(dialect: str) -> Any:
    """Give the statement that adds an earning once, put together once."""
    insert_ = postgresql.insert if dialect == "postgresql" else sqlite.insert
    return insert_(_facts).on_conflict_do_nothing(index_elements=["work"]).returning(_facts.c.id)


def paid_works(db: Session, works: Sequence[str]) -> set[str]:
    """Say which pieces of work have an earning."""
    found: set[str] = set()
    for first in range(0, len(works), CHUNK):
        found.update(db.scalars(select(Earning.work).where(Earning.work.in_(works[first : first + CHUNK]))))
    return found


def rows(
    db: Session,
    *,
    user_id: int | None = None,
    task_id: int | None = None,
    round_id: int | None = None,
    status: str | None = None,
    ids: Sequence[int] | None = None,
    before: int | None = None,
    order: str = "newest",
    limit: int | None = None,
    offset: int = 0,
) -> list[EarningRow]:
    """List the earnings that fit every filter given, those that came *before* one where it is named."""
    fitting = _fitting(user_id, task_id, round_id, status)
    if ids is not None:
        fitting.append(EarningStanding.earning_id.in_(ids))
    if before is not None:
        fitting.append(EarningStanding.earning_id < before)
    query = _joined().order_by(*ORDERS[order])
    if order in BY_NUMBER and limit is not None:
        # Which ones a page has is known from an index; only those are joined with what is shown of them.
        page = select(EarningStanding.earning_id).where(*fitting).order_by(*ORDERS[order]).offset(offset).limit(limit)
        query = query.where(Earning.id.in_(page.subquery().select()))
    else:
        query = query.where(*fitting).offset(offset).limit(limit)
    return [EarningRow(*found) for found in db.execute(query)]


def count(db: Session, *, user_id: int, status: str | None = None) -> int:
    """Count a person's earnings that fit every filter given."""
    query = select(func.count()).select_from(EarningStanding)
    return db.scalar(query.where(*_fitting(user_id, None, None, status))) or 0


def known_count(db: Session, *, task_id: int, round_id: int | None = None, status: str | None = None) -> int:
    """Give the number of earnings of a round, or of a task, as it is kept."""
    known = counts.of_task(db, task_id) if round_id is None else counts.of_round(db, round_id)
    wanted = STATUSES if status is None else (status,)
    return sum(known.get(f"{COUNTED}.{one}", 0) for one in wanted)


def set_status(db: Session, rows: Sequence[EarningRow], status: str, decisions: Mapping[int, int]) -> None:
    """Let earnings stand as an owner decided; *decisions* are the decisions by their earnings."""
    counted: Counter[CountKey] = Counter()
    owing: Counter[OwedTo] = Counter()
    for row in rows:
        earning, before = row.earning, row.standing.status
        change = update(_standings).where(_standings.c.earning_id == earning.id)
        db.execute(change.values(status=status, decision_id=decisions[earning.id]))
        counted.update(_moves(earning.task_id, earning.round_id, {before: -1, status: 1}))
        by = (status == "approved") - (before == "approved")
        owing[OwedTo(earning.task_id, earning.user_id, earning.currency)] += by * earning.amount
    counts.change(db, counted)
    owed.change(db, owing)


def settle(db: Session, payout_id: int) -> None:
    """Let the earnings of a payout stand as paid."""
    mine = _standings.c.payout_id == payout_id
    places = (_standings.c.task_id, _standings.c.round_id, _standings.c.status)
    counted: Counter[CountKey] = Counter()
    for task_id, round_id, before, number in db.execute(
        select(*places, func.count()).where(mine, _standings.c.status != "paid").group_by(*places)
    ).all():
        counted.update(_moves(task_id, round_id, {before: -number, "paid": number}))
    db.execute(update(_standings).where(mine).values(status="paid"))
    counts.change(db, counted)


def counted(db: Session) -> dict[CountKey, int]:
    """Count all earnings by where they stand, of each task and round."""
    places = (EarningStanding.task_id, EarningStanding.round_id, EarningStanding.status)
    found: Counter[CountKey] = Counter()
    for task_id, round_id, status, number in db.execute(select(*places, func.count()).group_by(*places)):
        found.update(_moves(task_id, round_id, {status: number}))
    return dict(found)


def _moves(task_id: int, round_id: int | None, changes: Mapping[str, int]) -> Counter[CountKey]:
    """Give what changes of the counts of a task and, where there is one, of a round."""
    found = Counter({task_count(task_id, f"{COUNTED}.{status}"): by for status, by in changes.items()})
    if round_id is not None:
        found.update({round_count(round_id, f"{COUNTED}.{status}"): by for status, by in changes.items()})
    return found


def standing_sums(db: Session) -> list[tuple[int, int, int | None, str, str, str, int]]:
    """Add up earnings by user, task, round, kind, currency and status, as decisions and payouts have it."""
    told = _told().subquery()
    facts = (Earning.user_id, Earning.task_id, Earning.round_id, Earning.kind, Earning.currency, told.c.status)
    query = select(*facts, func.sum(Earning.amount)).join(told, told.c.id == Earning.id).group_by(*facts)
    return [(*row[:6], int(row[6])) for row in db.execute(query)]


def misstanding(db: Session, limit: int) -> list[tuple[int, str, str]]:
    """Find earnings that stand otherwise than decisions and payouts say: the earning, how it stands, how it should.

    An earning without a standing stands nowhere.
    """
    told = _told().subquery()
    stands = func.coalesce(EarningStanding.status, "")
    query = (
        select(told.c.id, stands, told.c.status)
        .outerjoin(EarningStanding, EarningStanding.earning_id == told.c.id)
        .where(stands != told.c.status)
        .order_by(told.c.id)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in db.execute(query)]


def _told() -> Select[int, str]:
    """Give every earning with what its newest decision, and its payout, say of it."""
    newest = (
        select(EarningDecision.earning_id, func.max(EarningDecision.id).label("id"))
        .group_by(EarningDecision.earning_id)
        .subquery()
    )
    status = case(
        (Payout.state == "sent", "paid"),
        (EarningDecision.id.is_(None), "pending"),
        (EarningDecision.approved, "approved"),
        else_="declined",
    )
    return (
        select(Earning.id, status.label("status"))
        .outerjoin(newest, newest.c.earning_id == Earning.id)
        .outerjoin(EarningDecision, EarningDecision.id == newest.c.id)
        .outerjoin(EarningStanding, EarningStanding.earning_id == Earning.id)
        .outerjoin(Payout, Payout.id == EarningStanding.payout_id)
    )


def decided(db: Session, user_id: int) -> tuple[int, int]:
    """Count a worker's base earnings that were approved, and those that were decided on."""
    query = (
        select(func.count().filter(EarningStanding.status.in_(("approved", "paid"))), func.count())
        .select_from(EarningStanding)
        .join(Earning, Earning.id == EarningStanding.earning_id)
        .where(EarningStanding.user_id == user_id, EarningStanding.status != "pending", Earning.kind == "base")
    )
    approved, total = db.execute(query).one()
    return int(approved), int(total)


def earned_since(db: Session, user_id: int, task_id: int, since: datetime) -> dict[str, int]:
    """Add up what somebody earned with a task since then and was not set aside, by currency."""
    query = (
        select(Earning.currency, func.sum(Earning.amount))
        .join(EarningStanding, EarningStanding.earning_id == Earning.id)
        .where(Earning.user_id == user_id, Earning.task_id == task_id, Earning.created_at >= since)
        .where(EarningStanding.status != "declined")
        .group_by(Earning.currency)
    )
    return {currency: int(amount) for currency, amount in db.execute(query)}


def attempts_in(db: Session, session_id: int) -> int:
    """Count the attempts of a session."""
    return db.scalar(select(func.count()).where(Attempt.session_id == session_id)) or 0


def _fitting(
    user_id: int | None, task_id: int | None, round_id: int | None, status: str | None
) -> list[ColumnElement[bool]]:
    given = (
        (EarningStanding.user_id, user_id),
        (EarningStanding.task_id, task_id),
        (EarningStanding.round_id, round_id),
        (EarningStanding.status, status),
    )
    return [column == value for column, value in given if value is not None]


def _joined() -> Select[Earning, EarningStanding, EarningDecision, str, int, str, datetime | None]:
    return (
        select(Earning, EarningStanding, EarningDecision, TaskRow.name, Round.number, User.name, Payout.settled_at)
        .join(EarningStanding, EarningStanding.earning_id == Earning.id)
        .join(TaskRow, TaskRow.id == Earning.task_id)
        .join(User, User.id == Earning.user_id)
        .outerjoin(Round, Round.id == Earning.round_id)
        .outerjoin(EarningDecision, EarningDecision.id == EarningStanding.decision_id)
        .outerjoin(Payout, (Payout.id == EarningStanding.payout_id) & (EarningStanding.status == "paid"))
    )


def by_work(db: Session, work: str) -> int:
    """Give the number of the earning for a piece of work."""
    return db.scalars(select(Earning.id).where(Earning.work == work)).one()
