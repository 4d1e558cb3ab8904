"""Booking, balances, and counting the books again.

Whoever books adds entries and tails and locks no account, so that people who are paid from the same round never wait
for each other. A balance is what was folded into the account plus its tail, read in one statement.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Select, String, Table, and_, bindparam, cast, delete, func, insert, literal, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.core.ledger import Account, Posting
from quintain.store.base import table_of
from quintain.store.tables import LedgerAccount, LedgerEntry, LedgerTail, LedgerTransaction, Round, TaskRow

CHUNK = 300
_NAMES_OF_ACCOUNTS = ("holder", "name", "currency")
FOLD_BITS = 6  # one entry in 64 folds the tail of its account
_accounts, _entries, _tails = table_of(LedgerAccount), table_of(LedgerEntry), table_of(LedgerTail)
_transactions = table_of(LedgerTransaction)
# What every piece of work books is put together once: that takes longer than the answer.
_ADD_ENTRIES = insert(_entries).returning(_entries.c.id, _entries.c.account_id)
_ADD_TAILS = insert(_tails).from_select(
    ["entry_id", "account_id", "amount"],
    select(_entries.c.id, _entries.c.account_id, _entries.c.amount).where(
        _entries.c.transaction_id.in_(bindparam("transactions", expanding=True))
    ),
)


class EntryRow(NamedTuple):
    """An entry with its transaction and account."""

    entry: LedgerEntry
    transaction: LedgerTransaction
    account: LedgerAccount


def book(db: Session, postings: Sequence[Posting], at: Any) -> int:
    """Book transactions whose keys are new, in the caller's transaction; give how many were."""
    new = 0
    for first in range(0, len(postings), CHUNK):
        new += _book(db, {posting.key: posting for posting in postings[first : first + CHUNK]}, at)
    return new


def _book(db: Session, postings: dict[str, Posting], at: Any) -> int:
    rows = [{"key": posting.key, "kind": posting.kind, "created_at": at} for posting in postings.values()]
    new = db.execute(_adding(db.get_bind().dialect.name), rows).all()
    accounts = _ids(db, {move.account for _, key in new for move in postings[key].moves})
    entries = [
        {"transaction_id": number, "account_id": accounts[move.account], "amount": move.amount}
        for number, key in new
        for move in postings[key].moves
    ]
    if not entries:
        return len(new)
    added = db.execute(_ADD_ENTRIES, entries).all()
    db.execute(_ADD_TAILS, {"transactions": [number for number, _ in new]})
    for account_id in {account_id for number, account_id in added if folds(number)}:
        fold(db, account_id)
    return len(new)


def folds(number: int) -> bool:
    """Whether the entry of this number folds the tail of its account; nobody has to count.

    Numbers are mixed first: the entries of one transaction follow each other, so that by remainders alone some accounts
    would never have their turn, and their tails would grow for ever.

    >>> sum(folds(number) for number in range(1, 64_001, 4)) in range(200, 300)
    True
    """
    mixed = (number * 0x9E3779B97F4A7C15) & (2**64 - 1)
    return (mixed ^ (mixed >> 29)) >> (64 - FOLD_BITS) == 0


def fold(db: Session, account_id: int) -> bool:
    """Fold the tail of an account into its balance; leave it where somebody else is at it."""
    held = select(LedgerAccount.id).where(LedgerAccount.id == account_id)
    # The keys stay free: who books into this account meanwhile points to it and does not wait.
    if db.execute(held.with_for_update(skip_locked=True, key_share=True)).first() is None:
        return False
    gone = delete(_tails).where(_tails.c.account_id == account_id).returning(_tails.c.amount)
    amount = sum(db.execute(gone).scalars())
    if amount:
        db.execute(update(_accounts).where(_accounts.c.id == account_id).values(balance=_accounts.c.balance + amount))
    return True


def balances(db: Session, holder: str, prefix: str = "") -> dict[Account, int]:
    """Return the balances of the accounts of a holder whose names begin with *prefix*."""
    query = _with_tail().where(LedgerAccount.holder == holder)
    if prefix:
        query = query.where(LedgerAccount.name.startswith(prefix, autoescape=True))
    return {Account(*row[:3]): int(row[3]) for row in db.execute(query)}


def owed_by_rounds(
    db: Session, tasks: Collection[str], names: Sequence[str], limit: int
) -> list[tuple[str, int, int, str, int]]:
    """List what rounds of *tasks* owe in the accounts *names*: task, the round's number and id, currency, amount."""
    owed = -func.sum(LedgerAccount.balance + _tail())
    query = (
        select(TaskRow.name, Round.number, Round.id, LedgerAccount.currency, owed)
        .join(TaskRow, TaskRow.id == Round.task_id)
        .join(LedgerAccount, LedgerAccount.holder == literal("round:") + cast(Round.id, String))
        .where(TaskRow.name.in_(tasks), LedgerAccount.name.in_(names))
        .group_by(TaskRow.name, Round.number, Round.id, LedgerAccount.currency)
        .having(owed > 0)
        .order_by(TaskRow.name, Round.number.desc(), LedgerAccount.currency)
        .limit(limit)
    )
    return [
        (task, number, round_id, currency, int(sum_)) for task, number, round_id, currency, sum_ in db.execute(query)
    ]


def balance(db: Session, account: Account) -> int:
    """Return the balance of one account; nothing was ever booked where there is none."""
    account_row = db.execute(
        one_account(), {"of": account.holder, "called": account.name, "money": account.currency}
    ).first()
    return int(account_row[3]) if account_row else 0


@cache
def one_account() -> Select[str, str, str, int]:
    """Return the statement that asks for one account, put together once: it is asked before every piece of work."""
    names = (LedgerAccount.holder, LedgerAccount.name, LedgerAccount.currency)
    these = (column == bindparam(name) for column, name in zip(names, ("of", "called", "money"), strict=True))
    return _with_tail().where(*these)


def entries(db: Session, holder: str, *, limit: int, offset: int) -> tuple[list[EntryRow], int]:
    """List what was booked to a holder, the newest first, and say how much there is."""
    mine = select(LedgerAccount.id).where(LedgerAccount.holder == holder)
    query = (
        select(LedgerEntry, LedgerTransaction, LedgerAccount)
        .join(LedgerTransaction, LedgerTransaction.id == LedgerEntry.transaction_id)
        .join(LedgerAccount, LedgerAccount.id == LedgerEntry.account_id)
        .where(LedgerEntry.account_id.in_(mine))
        .order_by(LedgerEntry.id.desc())
        .limit(limit)
        .offset(offset)
    )
    total = db.scalar(select(func.count()).select_from(LedgerEntry).where(LedgerEntry.account_id.in_(mine))) or 0
    return [EntryRow(*row) for row in db.execute(query)], total


def unbalanced(db: Session, limit: int) -> list[tuple[str, str, int]]:
    """Find transactions that do not sum to zero: key, currency, what is left over."""
    query = (
        select(LedgerTransaction.key, LedgerAccount.currency, func.sum(LedgerEntry.amount))
        .join(LedgerEntry, LedgerEntry.transaction_id == LedgerTransaction.id)
        .join(LedgerAccount, LedgerAccount.id == LedgerEntry.account_id)
        .group_by(LedgerTransaction.key, LedgerAccount.currency)
        .having(func.sum(LedgerEntry.amount) != 0)
        .limit(limit)
    )
    return [(key, currency, int(amount)) for key, currency, amount in db.execute(query)]


def miscounted(db: Session, limit: int | None = None) -> list[tuple[Account, int, int]]:
    """Find accounts whose balance is not the sum of their entries: the account, its balance, the sum."""
    sums = (
        select(LedgerEntry.account_id, func.sum(LedgerEntry.amount).label("amount"))
        .group_by(LedgerEntry.account_id)
        .subquery()
    )
    counted = func.coalesce(sums.c.amount, 0)
    query = (
        _with_tail()
        .add_columns(counted)
        .outerjoin(sums, sums.c.account_id == LedgerAccount.id)
        .where(LedgerAccount.balance + _tail() != counted)
        .limit(limit)
    )
    return [(Account(*row[:3]), int(row[3]), int(row[4])) for row in db.execute(query)]


def size(db: Session) -> tuple[int, int]:
    """Count the transactions and the accounts."""
    counts = [db.scalar(select(func.count()).select_from(table)) or 0 for table in (LedgerTransaction, LedgerAccount)]
    return counts[0], counts[1]


def rebuild(db: Session, only: Sequence[Account] | None = None) -> None:
    """Make every balance, or those of some accounts *only*, the sum of its entries, with no tails."""
    summed = (
        select(func.coalesce(func.sum(_entries.c.amount), 0))
        .where(_entries.c.account_id == _accounts.c.id)
        .scalar_subquery()
    )
    if only is None:
        db.execute(delete(_tails))
        db.execute(update(_accounts).values(balance=summed))
        return
    for number in _known(db, only).values():
        db.execute(delete(_tails).where(_tails.c.account_id == number))
        db.execute(update(_accounts).where(_accounts.c.id == number).values(balance=summed))


def stored_balances(db: Session) -> dict[Account, int]:
    """Return the balances of all accounts that stand for pay: of workers, rounds and tasks, by kind and status.

    What was paid twice is among them.
    """
    kinds = LedgerAccount.name.like("base.%") | LedgerAccount.name.like("bonus.%") | (LedgerAccount.name == "overpaid")
    return {Account(*row[:3]): int(row[3]) for row in db.execute(_with_tail().where(kinds)) if row[3]}


def _tail() -> Any:
    tail = select(func.sum(LedgerTail.amount)).where(LedgerTail.account_id == LedgerAccount.id)
    return func.coalesce(tail.correlate(LedgerAccount).scalar_subquery(), 0)


def _with_tail() -> Select[str, str, str, int]:
    return select(LedgerAccount.holder, LedgerAccount.name, LedgerAccount.currency, LedgerAccount.balance + _tail())


def _ids(db: Session, accounts: Iterable[Account]) -> dict[Account, int]:
    """Return the numbers of accounts; those that are missing are opened, in one order for everybody."""
    ordered = sorted(accounts)
    ids = _known(db, ordered)
    missing = [one for one in ordered if one not in ids]
    if missing:
        rows = [{"holder": o.holder, "name": o.name, "currency": o.currency, "balance": 0} for o in missing]
        db.execute(_opening(db.get_bind().dialect.name), rows)
        ids |= _known(db, missing)
    return ids


def _known(db: Session, accounts: Sequence[Account]) -> dict[Account, int]:
    ids: dict[Account, int] = {}
    for first in range(0, len(accounts), CHUNK):
        some = accounts[first : first + CHUNK]
        params = {
            f"{name}_{number}": getattr(one, name) for number, one in enumerate(some) for name in _NAMES_OF_ACCOUNTS
        }
        ids |= {Account(*row[:3]): row[3] for row in db.execute(_asking(len(some)), params)}
    return ids


@lru_cache(maxsize=16)
def _asking(count: int) -> Select[str, str, str, int]:
    """Return the statement that asks for some accounts, each by itself.

    A list of rows would be looked for in all of the table, which has some for every worker.
    """
    these = or_(
        *(and_(*(_accounts.c[name] == bindparam(f"{name}_{n}") for name in _NAMES_OF_ACCOUNTS)) for n in range(count))
    )
    return select(_accounts.c.holder, _accounts.c.name, _accounts.c.currency, _accounts.c.id).where(these)


@cache
def _adding(dialect: str) -> Any:
    """Return the statement that adds transactions whose keys are new."""
    added = _inserting(dialect, _transactions).on_conflict_do_nothing(index_elements=["key"])
    return added.returning(_transactions.c.id, _transactions.c.key)


@cache
def _opening(dialect: str) -> Any:
    """Return the statement that opens accounts, unless somebody else just has."""
    return _inserting(dialect, _accounts).on_conflict_do_nothing()


def _inserting(dialect: str, table: Table) -> Any:
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


def round_id(db: Session, task: str, number: int) -> int | None:
    """Return the id of the round *number* of a task; None where there is none."""
    query = select(Round.id).join(TaskRow, TaskRow.id == Round.task_id)
    return db.scalar(query.where(TaskRow.name == task, Round.number == number))
