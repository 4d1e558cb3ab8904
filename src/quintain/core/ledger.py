"""The books: accounts, and transactions whose moves sum to zero in every currency.

What somebody earns is owed by whom they earned it from: the worker's account goes up and the round's goes down by the
same amount. Each holder has an account for every kind of pay and for where it stands (`base.pending`,
`bonus.approved` …), so that every sum that anybody asks for is the balance of one account.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from quintain.core.errors import BadInput
from quintain.core.rounds import Money

KINDS = ("base", "bonus")
AHEAD = "ahead"  # what was paid of an earning whose rest is not paid yet
OVERPAID = "overpaid"  # what was paid for nothing that was earned, and was not held back since
STATUSES = ("pending", "approved", "declined", "paid")


@dataclass(frozen=True, slots=True, order=True)
class Account:
    """An account in one currency: whose it is, and what for.

    >>> str(Account("worker:7", "base.pending", "USD"))
    'worker:7 base.pending USD'
    """

    holder: str
    name: str
    currency: str

    def __str__(self) -> str:
        return f"{self.holder} {self.name} {self.currency}"


@dataclass(frozen=True, slots=True)
class Move:
    """What an account is given; taken from it, where the amount is negative."""

    account: Account
    amount: int


@dataclass(frozen=True, slots=True)
class Posting:
    """A transaction to be booked once under its *key*. Its moves sum to zero in each currency, or it is refused."""

    key: str
    kind: str
    moves: tuple[Move, ...]

    def __post_init__(self) -> None:
        """Refuse what is not balanced: a currency that was mixed up shows here as well."""
        wrong = imbalance(self.moves)
        if wrong:
            amounts = ", ".join(str(money) for money in wrong)
            raise BadInput(
                "Transaction '{key}' does not add up: {said} come from nowhere.",
                key=self.key,
                said=amounts,
                remedy="What one account is given is taken from another in the same currency.",
            )


@dataclass(frozen=True, slots=True)
class PaidPiece:
    """An earning as the books see it: who owes it to whom, for which kind of pay, and since when."""

    id: int
    user_id: int
    task_id: int
    round_id: int | None
    kind: str
    amount: int
    currency: str
    at: datetime

    @property
    def worker(self) -> str:
        """The holder who is paid."""
        return f"worker:{self.user_id}"

    @property
    def payer(self) -> str:
        """The holder who pays: the round, or the task where there is none."""
        return f"task:{self.task_id}" if self.round_id is None else f"round:{self.round_id}"


def imbalance(moves: Iterable[Move]) -> list[Money]:
    """Return what the moves leave over in each currency; nothing where they sum to zero.

    >>> one, other = Account("a", "x", "USD"), Account("b", "x", "EUR")
    >>> [str(left) for left in imbalance([Move(one, 5), Move(other, -5)])]
    ['-0.05 EUR', '0.05 USD']
    """
    sums: defaultdict[str, int] = defaultdict(int)
    for move in moves:
        sums[move.account.currency] += move.amount
    return [Money(amount, currency) for currency, amount in sorted(sums.items()) if amount]


def transfer(giver: tuple[str, str], taker: tuple[str, str], amount: int, currency: str) -> tuple[Move, Move]:
    """Move an amount from one account to another."""
    return Move(Account(*giver, currency), -amount), Move(Account(*taker, currency), amount)


def earned(piece: PaidPiece) -> Posting:
    """Book that somebody earned something: it is owed to them, and counts towards the day's and their own caps."""
    name = f"{piece.kind}.pending"
    moves = (
        *transfer((piece.payer, name), (piece.worker, name), piece.amount, piece.currency),
        *transfer(*_counted(piece), piece.amount, piece.currency),
    )
    return Posting(f"earning:{piece.id}", "earned", moves)


def decided(piece: PaidPiece, decision_id: int, before: str, after: str) -> Posting:
    """Book that an earning stands otherwise than before. What is set aside no longer counts towards caps."""
    moves = _restood(piece, before, after)
    if "declined" in {before, after}:
        giver, taker = _counted(piece)
        back = (taker, giver) if after == "declined" else (giver, taker)
        moves = (*moves, *transfer(*back, piece.amount, piece.currency))
    return Posting(f"decision:{decision_id}", after, moves)


def paid(
    payout_id: int,
    provider: str,
    task_id: int,
    pieces: Sequence[PaidPiece],
    *,
    before: Mapping[int, int] | None = None,
    ahead: Sequence[tuple[PaidPiece, int]] = (),
) -> Posting:
    """Book that approved earnings were paid through a provider, out of the task's budget.

    *ahead* are parts of others that it pays; they stand in an account of their own until the payout of the rest takes
    them out again. *before* says what was so paid of these.
    """
    moves = [move for piece in pieces for move in _restood(piece, "approved", "paid")]
    budget, taker = (f"budget:{task_id}", "paid"), (f"provider:{provider}", "paid")
    for piece in pieces:
        known = (before or {}).get(piece.id, 0)
        moves += transfer(budget, taker, piece.amount - known, piece.currency)
        moves += transfer((piece.worker, AHEAD), (piece.payer, AHEAD), known, piece.currency)
    for piece, amount in ahead:
        moves += transfer(budget, taker, amount, piece.currency)
        moves += transfer((piece.payer, AHEAD), (piece.worker, AHEAD), amount, piece.currency)
    return Posting(f"payout:{payout_id}", "paid", merged(moves))


def overpaid(payout_id: int, provider: str, task_id: int, user_id: int, money: Money) -> Posting:
    """Book that a panel paid somebody for what had been paid already: it stands in an account of its own."""
    moves = (
        *transfer((f"budget:{task_id}", "paid"), (f"provider:{provider}", "paid"), money.amount, money.currency),
        *transfer((f"task:{task_id}", OVERPAID), (f"worker:{user_id}", OVERPAID), money.amount, money.currency),
    )
    return Posting(f"payout:{payout_id}", OVERPAID, moves)


def held_back(payout_id: int, piece: PaidPiece, amount: int, *, whole: bool) -> Posting:
    """Book that so much of a *piece* is not paid, because payout *payout_id* has paid it for nothing.

    Where that leaves nothing of it to pay, it is *whole* and stands as paid.
    """
    moves = [
        *transfer((piece.worker, OVERPAID), (f"task:{piece.task_id}", OVERPAID), amount, piece.currency),
        *transfer((piece.payer, AHEAD), (piece.worker, AHEAD), amount, piece.currency),
    ]
    if whole:
        moves += _restood(piece, "approved", "paid")
        moves += transfer((piece.worker, AHEAD), (piece.payer, AHEAD), piece.amount, piece.currency)
    return Posting(f"heldback:{payout_id}:{piece.id}", "held back", merged(moves))


def merged(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Return one move for each account; none where they cancel out."""
    sums: defaultdict[Account, int] = defaultdict(int)
    for move in moves:
        sums[move.account] += move.amount
    return tuple(Move(account, amount) for account, amount in sorted(sums.items()) if amount)


def day_name(at: datetime) -> str:
    """Name the account of a task that counts what was earned on a day (UTC)."""
    return f"day.{at:%Y-%m-%d}"


def _restood(piece: PaidPiece, before: str, after: str) -> tuple[Move, ...]:
    old, new = f"{piece.kind}.{before}", f"{piece.kind}.{after}"
    return (
        *transfer((piece.worker, old), (piece.worker, new), piece.amount, piece.currency),
        *transfer((piece.payer, new), (piece.payer, old), piece.amount, piece.currency),
    )


def _counted(piece: PaidPiece) -> tuple[tuple[str, str], tuple[str, str]]:
    return (f"task:{piece.task_id}", day_name(piece.at)), (piece.worker, f"task.{piece.task_id}")
