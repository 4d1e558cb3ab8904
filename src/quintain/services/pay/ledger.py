"""The books: who may look at them, and whether they say what the facts say.

Earnings, decisions and payouts are facts; the ledger follows them in the same transaction. Nothing is ever changed in
it: what was booked wrongly would be booked back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.ledger import Account, Posting
from quintain.core.people import Actor
from quintain.core.records.pay import Balance, BookEntry, Books, BooksCheck, Discrepancy
from quintain.core.rounds import Money
from quintain.services.access import audit
from quintain.services.access.permissions import require_admin, require_owner
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.pay import ledger as queries
from quintain.store.queries.pay import overpaid as overpaid_queries

MOST = 50  # differences that are named


def post(db: Session, postings: Sequence[Posting]) -> int:
    """Book transactions whose keys are new, inside the caller's transaction; give how many were."""
    return queries.book(db, postings, now())


def books(
    db: Session, actor: Actor, task: str, number: int | None = None, *, limit: int = 50, offset: int = 0
) -> Books:
    """Show the accounts of a task's budget, or of one of its rounds, and what was booked to them (owners)."""
    require_owner(actor, task)
    holder = f"budget:{find_row(db, task).id}"
    if number is not None:
        round_id = queries.round_id(db, task, number)
        if round_id is None:
            raise NotFound("Task '{task}' has no round {number}.", task=task, number=number)
        holder = f"round:{round_id}"
    return _books(db, holder, limit, offset)


def _books(db: Session, holder: str, limit: int, offset: int) -> Books:
    entries, total = queries.entries(db, holder, limit=limit, offset=offset)
    return Books(
        holder=holder,
        balances=[
            Balance(f"{one.holder} {one.name}", amount, one.currency)
            for one, amount in sorted(queries.balances(db, holder).items())
        ],
        entries=[
            BookEntry(
                row.entry.id,
                row.transaction.created_at,
                row.transaction.key,
                row.transaction.kind,
                f"{row.account.holder} {row.account.name}",
                row.entry.amount,
                row.account.currency,
            )
            for row in entries
        ],
        total=total,
    )


def check(db: Session, actor: Actor, *, rebuild: bool = False) -> BooksCheck:
    """Count the books again: transactions, balances, and what facts say; *rebuild* makes balances of the entries."""
    require_admin(actor)
    if rebuild:
        with transaction(db):
            queries.rebuild(db)
            audit.record(db, actor, "pay.rebuild", "ledger")
    discrepancies = [
        Discrepancy(f"transaction {key}", str(Money(left, currency)), str(Money(0, currency)))
        for key, currency, left in queries.unbalanced(db, MOST)
    ]
    discrepancies += [
        Discrepancy(str(account), str(Money(held, account.currency)), str(Money(counted, account.currency)))
        for account, held, counted in queries.miscounted(db, MOST)
    ]
    discrepancies += [
        Discrepancy(f"earning {number}", stands or "nowhere", told)
        for number, stands, told in earning_queries.wrong_standings(db, MOST)
    ]
    discrepancies += _against_facts(db)
    discrepancies += _paid_twice(db)
    transactions, accounts = queries.size(db)
    return BooksCheck(transactions, accounts, discrepancies[:MOST])


def _paid_twice(db: Session) -> list[Discrepancy]:
    """Name what panels paid for nothing that was earned, until an owner has said what is to become of it."""
    discrepancies = [
        Discrepancy(f"payout {row.id} was paid twice", str(Money(left, row.currency)), str(Money(0, row.currency)))
        for row, left in overpaid_queries.unanswered(db, MOST)
    ]
    discrepancies += [
        Discrepancy(f"{place}, submission {submission} ({stay})", "nowhere", "approved on the panel")
        for place, stay, submission in overpaid_queries.unbooked(db, MOST)
    ]
    return discrepancies


def _against_facts(db: Session) -> list[Discrepancy]:
    """Compare the accounts of workers, rounds and tasks with what earnings, decisions and payouts add up to."""
    expected: defaultdict[Account, int] = defaultdict(int)
    for user, task, round_id, kind, currency, status, amount in earning_queries.standing_sums(db):
        payer = f"task:{task}" if round_id is None else f"round:{round_id}"
        expected[Account(f"worker:{user}", f"{kind}.{status}", currency)] += amount
        expected[Account(payer, f"{kind}.{status}", currency)] -= amount
    for account, amount in overpaid_queries.accounts(db).items():
        expected[account] += amount
    booked = queries.stored_balances(db)
    return [
        Discrepancy(
            str(account), str(Money(booked.get(account, 0), account.currency)), str(Money(amount, account.currency))
        )
        for account, amount in sorted({**dict.fromkeys(booked, 0), **expected}.items())
        if booked.get(account, 0) != amount
    ]
