"""What people earn: facts that are added once per piece of work, and what owners decide on them.

Base pay is for work that was done, and never depends on whether a model was fooled. A bonus is a fact of its own.
Every fact is booked in the ledger as it arrives, and sums are read from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from sqlalchemy.orm import Session

from quintain.core import ledger as book
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.people import Actor
from quintain.core.records.base import plain
from quintain.core.records.pay import Earning, EarningOrder, Earnings, PayStatus, PayTotal
from quintain.core.rounds import Money, RoundSpec
from quintain.core.texts import Text
from quintain.data.exporting import json_list, whole_or_nothing
from quintain.services.access import audit
from quintain.services.access.actors import find_for
from quintain.services.access.notify import notify
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.pay import ledger
from quintain.services.tasks.definitions import find_row, only_task_id
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.pay import ahead as ahead_queries
from quintain.store.queries.pay import earnings
from quintain.store.queries.pay import earnings as queries
from quintain.store.queries.pay import ledger as ledger_queries
from quintain.store.tables import Earning as EarningFact
from quintain.store.tables import EarningDecision, WritingSession

Kind = Literal["base", "bonus"]
CHUNK = 500  # earnings that are looked up together
NAMED = 50  # earnings that the audit names one by one
ENOUGH_TIMES = 5  # finished sessions after which what they took says more than the owner's estimate
ENOUGH_SECONDS = 600  # and so much work in all


@dataclass(frozen=True, slots=True)
class Wage:
    """How long a session takes and what an hour of it pays; *measured* counts the sessions that the time is from."""

    minutes: float
    hourly: Money
    measured: int


def earn(
    db: Session,
    user_id: int,
    task_id: int,
    *,
    kind: Kind,
    work: str,
    money: Money,
    what: str = "",
    round_id: int | None = None,
) -> bool:
    """Add what a person earned by the piece of work called *work*; a second time changes nothing and gives False.

    For other services, inside their transaction; nobody calls it for themselves.
    """
    if money.amount < 0:
        raise BadInput("An earning of {money} is not one.", money=money, remedy="Earnings are never negative.")
    if money.amount == 0:
        return False
    row = queries.add_once(
        db,
        user_id=user_id,
        task_id=task_id,
        round_id=round_id,
        kind=kind,
        work=work[:80],
        amount=money.amount,
        currency=money.currency,
        what=what[:200],
        created_at=now(),
    )
    if row is None:
        return False
    ledger.post(db, [book.earned(piece_of(row))])
    return True


def piece_of(row: EarningFact) -> book.PaidPiece:
    """Return an earning as the books see it."""
    return book.PaidPiece(
        row.id, row.user_id, row.task_id, row.round_id, row.kind, row.amount, row.currency, row.created_at
    )


def earn_session(
    db: Session, spec: RoundSpec, task_id: int, session: WritingSession, *, full: bool, attempts: int | None = None
) -> bool:
    """Add the base pay of a writing session that has ended: all of it, or the share of the attempts that were made.

    A session in which nothing was written earns nothing. *attempts* counts its attempts, where the caller knows.
    """
    attempts = queries.attempts_in(db, session.id) if attempts is None else attempts
    if not attempts:
        return False
    amount = spec.reward.amount if full else -(-spec.reward.amount * attempts // session.allowed)
    return earn(
        db,
        session.user_id,
        task_id,
        kind="base",
        work=f"session:{session.id}",
        money=Money(amount, spec.reward.currency),
        what=f"Writing for “{spec.title}”",
        round_id=session.round_id,
    )


def earn_bonus(
    db: Session, spec: RoundSpec, task_id: int, round_id: int, user_id: int, attempt_id: int, *, what: str = ""
) -> bool:
    """Add the bonus for an attempt that other people confirmed; once per attempt."""
    return earn(
        db,
        user_id,
        task_id,
        kind="bonus",
        work=bonus_work(attempt_id),
        money=Money(spec.reward.bonus, spec.reward.currency),
        what=what or f"Confirmed example for “{spec.title}”",
        round_id=round_id,
    )


def bonus_work(attempt_id: int) -> str:
    """Name the piece of work that a confirmed attempt is."""
    return f"bonus:attempt:{attempt_id}"


def my_earnings(db: Session, actor: Actor, *, limit: int | None = None, offset: int = 0) -> list[Earning]:
    """List what the actor earned, newest first; by a panel's link, with the task that it led to."""
    user_id, task_id = require_user(actor), only_task_id(db, actor)
    return [_info(row) for row in queries.rows(db, user_id=user_id, task_id=task_id, limit=limit, offset=offset)]


def export_my_earnings(db: Session, actor: Actor, path: Path) -> int:
    """Write what the actor earned to *path* as JSON, newest first, some at a time, and count it."""
    user_id = require_user(actor)
    total = -1  # the last piece only ends the list
    with whole_or_nothing(path) as part, part.open("w", encoding="utf-8") as stream:
        stream.write('{\n  "earnings": ')
        for piece in json_list(_all_of(db, user_id), plain, level=1):
            stream.write(piece)
            total += 1
        stream.write(f',\n  "total": {total}\n}}')
    return total


def _all_of(db: Session, user_id: int) -> Iterator[Earning]:
    """Return the earnings of somebody, newest first; what comes in meanwhile moves none of them."""
    before: int | None = None
    while rows := queries.rows(db, user_id=user_id, before=before, limit=CHUNK):
        yield from map(_info, rows)
        before = rows[-1].earning.id


def my_page(
    db: Session, actor: Actor, *, status: PayStatus | None = None, limit: int = 25, offset: int = 0
) -> Earnings:
    """List some of what the actor earned, newest first, and say how much there is; by a panel's link, of its task."""
    user_id, task_id = require_user(actor), only_task_id(db, actor)
    rows = queries.rows(db, user_id=user_id, task_id=task_id, status=status, limit=limit, offset=offset)
    return Earnings([_info(row) for row in rows], queries.count(db, user_id=user_id, task_id=task_id, status=status))


def my_totals(db: Session, actor: Actor) -> list[PayTotal]:
    """Add up what the actor earned, by currency, kind and status; by a panel's link, with the task that it led to."""
    user_id, task_id = require_user(actor), only_task_id(db, actor)
    if task_id is not None:
        return [PayTotal(*row) for row in queries.sums(db, user_id, task_id)]
    return _totals(ledger_queries.balances(db, f"worker:{user_id}"), 1)


def round_totals(db: Session, actor: Actor, task: str, round_id: int) -> list[PayTotal]:
    """Add up what a round has cost so far, by kind and status."""
    require_owner(actor, task)
    return _totals(ledger_queries.balances(db, f"round:{round_id}"), -1)


def list_earnings(
    db: Session,
    actor: Actor,
    task: str,
    *,
    status: PayStatus | None = None,
    round_id: int | None = None,
    order: EarningOrder = "newest",
    limit: int | None = None,
    offset: int = 0,
) -> Earnings:
    """List what people earned with a task, for its owners: all, or one page of them."""
    task_id = find_row(db, task).id
    require_owner(actor, task)
    rows = queries.rows(
        db,
        task_id=task_id if round_id is None else None,
        round_id=round_id,
        status=status,
        order=order,
        limit=limit,
        offset=offset,
    )
    total = queries.known_count(db, task_id=task_id, round_id=round_id, status=status)
    return Earnings([_info(row) for row in rows], total)


def decide(
    db: Session, actor: Actor, task: str, ids: Sequence[int], *, approved: bool = True, reason: str = ""
) -> list[Earning]:
    """Approve earnings of a task, or set them aside; that needs a reason, which the worker sees."""
    if not approved and not reason.strip():
        raise BadInput(faults=[Fault("say why: the worker will read it", field="reason")])
    with transaction(db):
        task_id = find_row(db, task).id
        require_owner(actor, task)
        lock(db, f"pay of {task_id}")
        rows = {row.earning.id: row for row in _every(db, task_id, ids)}
        for number in ids:
            if number not in rows:
                raise NotFound("Task '{task}' has no earning {number}.", task=task, number=number)
        parts = {} if approved else ahead_queries.of_earnings(db, ids)
        changed = [
            number
            for number in dict.fromkeys(ids)
            if _changes(rows[number], approved=approved, in_part=number in parts)
        ]
        _decided(db, actor, task, [rows[number] for number in changed], approved=approved, reason=reason.strip())
        _tell_workers(db, task, [rows[number] for number in changed], approved=approved, reason=reason.strip())
        db.expire_all()
        return [_info(row) for row in _every(db, task_id, ids)]


def approve_some(db: Session, actor: Actor, task: str, ids: Sequence[int]) -> list[int]:
    """Approve those of some earnings of a task that are pending, in the caller's transaction, and tell nobody yet.

    Give the numbers of the decisions. Who may is for the caller to say.
    """
    task_id = find_row(db, task).id
    lock(db, f"pay of {task_id}")
    waiting = [row for row in _every(db, task_id, ids) if row.standing.status == "pending"]
    return _decided(db, actor, task, waiting, approved=True, reason="")


def _decided(
    db: Session, actor: Actor, task: str, rows: Sequence[queries.EarningRow], *, approved: bool, reason: str
) -> list[int]:
    """Write decisions down, and let the earnings stand so; give the numbers of the decisions."""
    decisions = {
        row.earning.id: EarningDecision(earning_id=row.earning.id, approved=approved, reason=reason, by=actor.user_id)
        for row in rows
    }
    db.add_all(decisions.values())
    db.flush()
    _restand(db, rows, decisions, "approved" if approved else "declined")
    audit.record(db, actor, "pay.approve" if approved else "pay.decline", task, **_audited([*decisions]))
    return [decision.id for decision in decisions.values()]


def _audited(ids: Sequence[int]) -> dict[str, Any]:
    """Name earnings in the audit; of many, how many they are and between which numbers."""
    if len(ids) <= NAMED:
        return {"earnings": [*ids]}
    return {"number": len(ids), "first": min(ids), "last": max(ids)}


def _every(db: Session, task_id: int, ids: Sequence[int]) -> list[queries.EarningRow]:
    chunks = (ids[first : first + CHUNK] for first in range(0, len(ids), CHUNK))
    return [row for some in chunks for row in queries.rows(db, task_id=task_id, ids=some)]


def _changes(row: queries.EarningRow, *, approved: bool, in_part: bool) -> bool:
    """Whether a decision changes where an earning stands; refuse to take back what was paid, or is on its way."""
    if not approved and (in_part or row.standing.payout_id is not None):
        raise Conflict(
            "Earning {number} is paid, or on its way.",
            number=row.earning.id,
            remedy="Cancel its payout first, if that has not been sent.",
        )
    target_statuses = {"approved", "paid"} if approved else {"declined"}
    return row.standing.status not in target_statuses


def _restand(
    db: Session, rows: Sequence[queries.EarningRow], decisions: Mapping[int, EarningDecision], status: str
) -> None:
    """Book what was decided, and let the earnings stand so."""
    ledger.post(
        db,
        [
            book.decided(piece_of(row.earning), decisions[row.earning.id].id, row.standing.status, status)
            for row in rows
        ],
    )
    queries.set_status(db, rows, status)


def _tell_workers(db: Session, task: str, rows: Sequence[queries.EarningRow], *, approved: bool, reason: str) -> None:
    """Tell each worker what was decided on their pay, in one message for each currency."""
    sums: dict[tuple[int, str], int] = {}
    for row in rows:
        key = (row.earning.user_id, row.earning.currency)
        sums[key] = sums.get(key, 0) + row.earning.amount
    for (user_id, currency), amount in sums.items():
        money = Money(amount, currency)
        if approved:
            tell_approved(db, task, user_id, money)
        else:
            text = Text("{money} for {task} set aside: {reason}", money=money, task=task, reason=reason)
            notify(db, user_id, "pay.declined", text, "/work/earnings")


def tell_approved(db: Session, task: str, user_id: int, money: Money) -> None:
    """Tell a worker that so much of their pay was approved."""
    text = Text("{money} for your work on {task}: approved.", money=money, task=task)
    notify(db, user_id, "pay.approved", text, "/work/earnings")


def hourly(money: Money, minutes: float) -> Money:
    """Return what an hour pays at *money* per *minutes*.

    >>> str(hourly(Money(30, "USD"), 2.0))
    '9.00 USD'
    """
    if not minutes > 0:
        raise BadInput("A session takes {minutes:g} minutes.", minutes=minutes, remedy="Estimate more than none.")
    return Money(round(money.amount * 60 / minutes), money.currency)


def pace(times: Sequence[float], estimate: float, least: int) -> tuple[float, bool]:
    """Return how many seconds a piece of work takes, and whether that was measured.

    Measured is the median of *times*, once there are *least* of them and they add up to ten minutes: an hour's pay is
    not to be read off six seconds of work. Until then it is the owner's *estimate*.

    >>> pace([0.5] * 12, 20.0, 5), pace([70.0] * 12, 20.0, 5)
    ((20.0, False), (70.0, True))
    """
    if len(times) < least or sum(times) < ENOUGH_SECONDS:
        return estimate, False
    return max(median(times), 0.1), True


def wage(db: Session, round_id: int, spec: RoundSpec) -> Wage:
    """Return how long a session takes and what that pays per hour: as measured once there is enough, else estimated."""
    times = earnings.session_times(db, round_id)
    seconds, measured = pace(times, spec.minutes * 60, ENOUGH_TIMES)
    return Wage(seconds / 60, hourly(spec.reward.base, seconds / 60), len(times) if measured else 0)


def _info(row: queries.EarningRow) -> Earning:
    earning, decision = row.earning, row.decision
    status: PayStatus = row.standing.status  # type: ignore[assignment]
    return Earning(
        id=earning.id,
        kind=earning.kind,
        what=earning.what,
        task=row.task,
        round=row.round,
        amount=earning.amount,
        currency=earning.currency,
        status=status,
        reason=decision.reason if decision else "",
        created_at=earning.created_at,
        decided_at=decision.created_at if decision else None,
        worker=row.worker,
        paid_at=row.paid_at,
    )


def _totals(balances: Mapping[book.Account, int], sign: int) -> list[PayTotal]:
    totals = []
    for account, amount in sorted(balances.items(), key=lambda balance: (balance[0].currency, balance[0].name)):
        kind, _, status = account.name.partition(".")
        if kind in book.KINDS and amount:
            totals.append(PayTotal(kind, status, sign * amount, account.currency))
    return totals


def grant_bonus(db: Session, actor: Actor, task: str, worker: str, money: Money, *, what: str, key: str) -> bool:
    """Grant somebody a bonus on a task (owners); with the same *key* again nothing happens, and False is returned."""
    if money.amount <= 0:
        raise BadInput(faults=[Fault("is more than nothing", field="amount")])
    if not what.strip():
        raise BadInput(faults=[Fault("say what for: the worker will read it", field="what")])
    with transaction(db):
        task_id = find_row(db, task).id
        user = find_for(db, actor, worker, lambda: require_owner(actor, task))
        require_owner(actor, task)
        work = f"grant:{task_id}:{key}"[:80]
        granted = earn(db, user.id, task_id, kind="bonus", work=work, money=money, what=what.strip())
        if granted:
            audit.record(db, actor, "pay.bonus", task, user=user.id, amount=str(money))
            text = Text("A bonus of {money} for your work on {task}: {what}", money=money, task=task, what=what)
            notify(db, user.id, "pay.bonus", text, "/work/earnings")
    return granted
