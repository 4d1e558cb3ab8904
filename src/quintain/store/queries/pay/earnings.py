"""Questions about what people earned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, case, func, insert, or_, select, update
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
    PayQuestion,
    Round,
    TaskRow,
    User,
    WritingSession,
)

_facts, _standings, _decisions = table_of(Earning), table_of(EarningStanding), table_of(EarningDecision)
_STAND = insert(_standings)
COUNTED = "earnings"  # the names of the counts begin so, and end with where earnings stand
SPENT = "spent"  # what an arm of a trial has spent by its own steps, by currency
STATUSES = ("pending", "approved", "declined", "paid")
CHUNK = 500  # pieces of work that are looked up together
ORDERS: Mapping[str, tuple[Any, ...]] = {
    "newest": (EarningStanding.earning_id.desc(),),
    "oldest": (EarningStanding.earning_id,),
    "largest": (EarningStanding.amount.desc(), EarningStanding.earning_id.desc()),
    "smallest": (EarningStanding.amount, EarningStanding.earning_id),
    "worker": (User.name, EarningStanding.earning_id.desc()),
    "worker_down": (User.name.desc(), EarningStanding.earning_id),
}
BY_WORKER = ("worker", "worker_down")


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
    about = {name: values.get(name) for name in ("user_id", "task_id", "round_id", "amount")}
    db.execute(_STAND, {"earning_id": number, "status": "pending", **about})
    earning = Earning(id=number, **values)
    counts.change(db, _moves(earning.task_id, earning.round_id, {"pending": 1}) + _in_arm(earning, 1))
    return earning


@cache
def _adding(dialect: str) -> Any:
    """Return the statement that adds an earning once, put together once.

    Who deleted their account earns nothing more.
    """
    insert_ = postgresql.insert if dialect == "postgresql" else sqlite.insert
    columns = [column for column in _facts.columns if column.name != "id"]
    values = select(*(bindparam(column.name, type_=column.type).label(column.name) for column in columns))
    whose = bindparam("user_id", type_=_facts.c.user_id.type)
    stays = select(User.id).where(User.id == whose, User.deleted_at.is_(None))
    adding = insert_(_facts).from_select([column.name for column in columns], values.where(stays.exists()))
    return adding.on_conflict_do_nothing(index_elements=["work"]).returning(_facts.c.id)


def paid_works(db: Session, works: Sequence[str]) -> set[str]:
    """Return which pieces of work have an earning."""
    paid: set[str] = set()
    for first in range(0, len(works), CHUNK):
        paid.update(db.scalars(select(Earning.work).where(Earning.work.in_(works[first : first + CHUNK]))))
    return paid


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
    if limit is not None:
        # Which ones a page has is known from an index; only those are joined with what is shown of them.
        page = select(EarningStanding.earning_id).where(*fitting).order_by(*ORDERS[order]).offset(offset).limit(limit)
        page = page.join(User, User.id == EarningStanding.user_id) if order in BY_WORKER else page
        query = query.where(Earning.id.in_(page.subquery().select()))
    else:
        query = query.where(*fitting).offset(offset)
    return [EarningRow(*found) for found in db.execute(query)]


def count(db: Session, *, user_id: int, task_id: int | None = None, status: str | None = None) -> int:
    """Count a person's earnings that fit every filter given."""
    query = select(func.count()).select_from(EarningStanding)
    return db.scalar(query.where(*_fitting(user_id, task_id, None, status))) or 0


def sums(db: Session, user_id: int, task_id: int) -> list[tuple[str, str, int, str]]:
    """Add up what a person earned with a task: kind, status, amount and currency, in the order of these."""
    parts = (Earning.currency, Earning.kind, EarningStanding.status)
    query = (
        select(Earning.kind, EarningStanding.status, func.sum(Earning.amount), Earning.currency)
        .join(EarningStanding, EarningStanding.earning_id == Earning.id)
        .where(*_fitting(user_id, task_id, None, None))
        .group_by(*parts)
        .order_by(*parts)
    )
    return [(kind, status, int(amount), currency) for kind, status, amount, currency in db.execute(query)]


def known_count(db: Session, *, task_id: int, round_id: int | None = None, status: str | None = None) -> int:
    """Return the number of earnings of a round, or of a task, as it is kept."""
    known = counts.of_task(db, task_id) if round_id is None else counts.of_round(db, round_id)
    statuses = STATUSES if status is None else (status,)
    return sum(known.get(f"{COUNTED}.{status}", 0) for status in statuses)


def set_status(db: Session, rows: Sequence[EarningRow], status: str) -> None:
    """Let earnings stand as an owner has just decided, by their newest decisions."""
    counted: Counter[CountKey] = Counter()
    owing: Counter[OwedTo] = Counter()
    newest = select(func.max(_decisions.c.id)).where(_decisions.c.earning_id == _standings.c.earning_id)
    change = update(_standings).values(status=status, decision_id=newest.scalar_subquery())
    for first in range(0, len(rows), CHUNK):
        some = [row.earning.id for row in rows[first : first + CHUNK]]
        db.execute(change.where(_standings.c.earning_id.in_(some)))
    for row in rows:
        earning, before = row.earning, row.standing.status
        counted.update(_moves(earning.task_id, earning.round_id, {before: -1, status: 1}))
        counted.update(_in_arm(earning, (before == "declined") - (status == "declined")))
        by = (status == "approved") - (before == "approved")
        owing[OwedTo(earning.task_id, earning.user_id, earning.currency)] += by * earning.amount
    counts.change(db, counted)
    owed.change(db, owing)


def unpaid(db: Session, user_id: int) -> list[EarningRow]:
    """List what somebody earned that is neither paid nor set aside, the oldest first."""
    open_ = EarningStanding.status.in_(("pending", "approved"))
    query = _joined().where(EarningStanding.user_id == user_id, open_).order_by(EarningStanding.earning_id)
    return [EarningRow(*row) for row in db.execute(query)]


def is_asked(db: Session, earning_id: int, text: str) -> bool:
    """Whether a question with this *text* about an earning waits for its answer."""
    asked = select(PayQuestion.id).where(PayQuestion.earning_id == earning_id, PayQuestion.text == text)
    return db.scalar(asked.where(PayQuestion.answered_at.is_(None)).limit(1)) is not None


def pending_ids(db: Session, round_id: int, *, after: int, until: int, limit: int) -> list[int]:
    """List the next earnings of a round that wait for a decision, the oldest first."""
    query = select(EarningStanding.earning_id).where(
        EarningStanding.round_id == round_id,
        EarningStanding.status == "pending",
        EarningStanding.earning_id > after,
        EarningStanding.earning_id <= until,
    )
    return list(db.scalars(query.order_by(EarningStanding.earning_id).limit(limit)))


def newest_pending(db: Session, round_id: int) -> int:
    """Return the newest earning of a round that waits for a decision; 0 where none does."""
    query = select(func.max(EarningStanding.earning_id)).where(EarningStanding.round_id == round_id)
    return db.scalar(query.where(EarningStanding.status == "pending")) or 0


def approved_since(
    db: Session, round_id: int, by: int | None, decision: int, *, after: int, limit: int
) -> list[tuple[int, list[tuple[str, int]]]]:
    """Add up what somebody approved in a round from a decision on: the next workers, and how much in each currency."""
    mine = EarningDecision.by.is_(None) if by is None else EarningDecision.by == by
    approved = (
        select(Earning.user_id, Earning.currency, func.sum(Earning.amount).label("amount"))
        .join(EarningDecision, EarningDecision.earning_id == Earning.id)
        .where(EarningDecision.id >= decision, EarningDecision.approved, mine, Earning.round_id == round_id)
        .where(Earning.user_id > after)
        .group_by(Earning.user_id, Earning.currency)
    )
    amounts_by_user: dict[int, list[tuple[str, int]]] = {}
    for user_id, currency, amount in db.execute(approved.order_by(Earning.user_id, Earning.currency)):
        if user_id not in amounts_by_user and len(amounts_by_user) == limit:
            break
        amounts_by_user.setdefault(user_id, []).append((currency, int(amount)))
    return [*amounts_by_user.items()]


def mark_paid(db: Session, payout_id: int) -> None:
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


def has_base_to_pay(db: Session, task_id: int, user_id: int) -> bool:
    """Whether somebody has base pay of a task that is pending, or approved and in no payout."""
    query = (
        select(EarningStanding.earning_id)
        .join(Earning, Earning.id == EarningStanding.earning_id)
        .where(EarningStanding.user_id == user_id, EarningStanding.task_id == task_id, Earning.kind == "base")
        .where(EarningStanding.payout_id.is_(None), EarningStanding.status.in_(("pending", "approved")))
    )
    return db.scalar(query.limit(1)) is not None


def counted(db: Session) -> dict[CountKey, int]:
    """Count all earnings by where they stand, of each task and round."""
    places = (EarningStanding.task_id, EarningStanding.round_id, EarningStanding.status)
    totals: Counter[CountKey] = Counter()
    for task_id, round_id, status, number in db.execute(select(*places, func.count()).group_by(*places)):
        totals.update(_moves(task_id, round_id, {status: number}))
    return dict(totals)


def _moves(task_id: int, round_id: int | None, changes: Mapping[str, int]) -> Counter[CountKey]:
    """Return what changes of the counts of a task and, where there is one, of a round."""
    moves = Counter({task_count(task_id, f"{COUNTED}.{status}"): by for status, by in changes.items()})
    if round_id is not None:
        moves.update({round_count(round_id, f"{COUNTED}.{status}"): by for status, by in changes.items()})
    return moves


def _in_arm(earning: Earning, times: int) -> Counter[CountKey]:
    """Return what changes of what an arm of a trial has spent by its own steps, where an earning is for one."""
    arm = arm_of(earning.work)
    return Counter({CountKey(f"arm:{arm}", f"{SPENT}.{earning.currency}"): times * earning.amount} if arm else {})


def arm_of(work: str) -> str:
    """Return the arm that a piece of work names; empty where it is no step of a trial.

    >>> arm_of("trial:3:tutorial/7/t"), arm_of("session:3")
    ('3', '')
    """
    kind, _, rest = work.partition(":")
    return rest.partition(":")[0] if kind == "trial" else ""


def spent_by_arms(db: Session, arms: Sequence[int], currency: str) -> int:
    """Return what arms of a trial have spent by their own steps, as it is kept; what was set aside is not in it."""
    return sum(counts.counts(db, f"arm:{arm}").get(f"{SPENT}.{currency}", 0) for arm in arms)


def counted_in_arms(db: Session) -> dict[CountKey, int]:
    """Add up what arms of trials have spent by their own steps, from the facts."""
    current = _with_status().subquery()
    query = (
        select(Earning.work, Earning.currency, Earning.amount)
        .join(current, current.c.id == Earning.id)
        .where(Earning.work.startswith("trial:"), current.c.status != "declined")
    )
    spent: Counter[CountKey] = Counter()
    for work, currency, amount in db.execute(query):
        spent[CountKey(f"arm:{arm_of(work)}", f"{SPENT}.{currency}")] += amount
    return dict(spent)


def standing_sums(db: Session) -> list[tuple[int, int, int | None, str, str, str, int]]:
    """Add up earnings by user, task, round, kind, currency and status, as decisions and payouts have it."""
    current = _with_status().subquery()
    facts = (Earning.user_id, Earning.task_id, Earning.round_id, Earning.kind, Earning.currency, current.c.status)
    query = select(*facts, func.sum(Earning.amount)).join(current, current.c.id == Earning.id).group_by(*facts)
    return [(*row[:6], int(row[6])) for row in db.execute(query)]


def wrong_standings(db: Session, limit: int) -> list[tuple[int, str, str]]:
    """Find earnings that stand otherwise than decisions and payouts say: the earning, how it stands, how it should.

    An earning without a standing stands nowhere.
    """
    current = _with_status().subquery()
    stands = func.coalesce(EarningStanding.status, "")
    query = (
        select(current.c.id, stands, current.c.status)
        .outerjoin(EarningStanding, EarningStanding.earning_id == current.c.id)
        .where(stands != current.c.status)
        .order_by(current.c.id)
        .limit(limit)
    )
    return [(row[0], row[1], row[2]) for row in db.execute(query)]


def misplaced(db: Session) -> list[Mapping[str, Any]]:
    """Find earnings that stand otherwise than facts say, or nowhere: how they should.

    Which payout an earning is in is known from where it stands alone.
    """
    current = _with_status().subquery()
    facts = (Earning.user_id, Earning.task_id, Earning.round_id, Earning.amount)
    should = (*facts, current.c.status, current.c.decision_id)
    stands = tuple(getattr(EarningStanding, column.name) for column in should)
    query = (
        select(Earning.id.label("earning_id"), *should, EarningStanding.payout_id)
        .join(current, current.c.id == Earning.id)
        .outerjoin(EarningStanding, EarningStanding.earning_id == Earning.id)
        .where(or_(*(is_.is_distinct_from(ought) for is_, ought in zip(stands, should, strict=True))))
        .order_by(Earning.id)
    )
    return [dict(row) for row in db.execute(query).mappings()]


def rebuild_standings(db: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Let earnings stand as *rows* say."""
    for first in range(0, len(rows), CHUNK):
        some = [dict(row) for row in rows[first : first + CHUNK]]
        db.execute(_standings.delete().where(_standings.c.earning_id.in_([row["earning_id"] for row in some])))
        db.execute(_STAND, some)


def _with_status() -> Select[int, str, int | None]:
    """Return a statement: every earning with its newest decision, and what this and its payout say of it."""
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
        select(Earning.id, status.label("status"), newest.c.id.label("decision_id"))
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
    filters = (
        (EarningStanding.user_id, user_id),
        (EarningStanding.task_id, task_id),
        (EarningStanding.round_id, round_id),
        (EarningStanding.status, status),
    )
    return [column == value for column, value in filters if value is not None]


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
    """Return the number of the earning for a piece of work."""
    return db.scalars(select(Earning.id).where(Earning.work == work)).one()


def session_times(db: Session, round_id: int, limit: int = 500) -> list[float]:
    """Return how many seconds the latest finished sessions of a round took."""
    query = (
        select(WritingSession.started_at, WritingSession.ended_at)
        .where(WritingSession.round_id == round_id, WritingSession.outcome.in_(("fooled", "exhausted")))
        .order_by(WritingSession.id.desc())
        .limit(limit)
    )
    return [(end - start).total_seconds() for start, end in db.execute(query) if end is not None]
