"""What sessions and pages earned, half of it approved, booked as it would have been."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta

from big.judging import REF, Page
from big.loading import Loader, packed
from big.rounds import Written
from big.sizes import ALLOWED, PER_SESSION, TASK, Size
from quintain.core.ledger import Account, PaidPiece, Posting, decided, earned
from quintain.services.validate.types import ValidationInfo
from quintain.store.tables import (
    AuditEntry,
    Earning,
    EarningDecision,
    EarningStanding,
    LedgerAccount,
    LedgerEntry,
    LedgerTransaction,
)

SESSION = -(-30 * PER_SESSION // ALLOWED)
PAGE_PAY = 25
APPROVED_TOGETHER = 50


def add_pay(
    load: Loader, size: Size, validation: ValidationInfo, written: Written, pages: list[Page], begun: datetime
) -> None:
    """Add the earnings, decisions on every second of them, and the books."""
    rows = list(_earnings(load.next_id(Earning), size, validation, written, pages))
    load.add(
        Earning,
        ("id", "user_id", "task_id", "round_id", "kind", "work", "amount", "currency", "what", "created_at"),
        (
            (p.id, p.user_id, p.task_id, p.round_id, p.kind, work, p.amount, p.currency, what, load.when(p.at))
            for p, work, what in rows
        ),
    )
    pieces = [piece for piece, _, _ in rows]
    approved = pieces[::2]
    decision = load.next_id(EarningDecision)
    later = load.when(begun + timedelta(days=400))
    load.add(
        EarningDecision,
        ("id", "earning_id", "approved", "reason", "created_at"),
        ((decision + n, piece.id, True, "", later) for n, piece in enumerate(approved)),
    )
    decisions = {piece.id: decision + n for n, piece in enumerate(approved)}
    load.add(
        EarningStanding,
        ("earning_id", "user_id", "task_id", "round_id", "status", "decision_id", "amount"),
        (
            (
                p.id,
                p.user_id,
                p.task_id,
                p.round_id,
                "approved" if p.id in decisions else "pending",
                decisions.get(p.id),
                p.amount,
            )
            for p in pieces
        ),
    )
    load.add(
        AuditEntry,
        ("at", "actor", "action", "subject", "details"),
        (
            (later, "operator", "pay.approve", TASK, packed({"earnings": [one.id for one in approved[n : n + 50]]}))
            for n in range(0, len(approved), APPROVED_TOGETHER)
        ),
    )
    postings = [earned(piece) for piece in pieces]
    postings += [decided(piece, decisions[piece.id], "pending", "approved") for piece in approved]
    _book(load, postings, begun)


def _earnings(
    first: int, size: Size, validation: ValidationInfo, written: Written, pages: list[Page]
) -> Iterator[tuple[PaidPiece, str, str]]:
    number = first
    for place, session in enumerate(written.sessions):
        start = place * PER_SESSION
        round_id = written.rounds[0] if start < size.judged else written.rounds[1]
        user, at = written.session_users[place], written.at[start]
        title = "Writing for “Round 1”" if start < size.judged else "Writing for “Round 2”"
        yield (
            PaidPiece(number, user, validation.task_id, round_id, "base", SESSION, "USD", at),
            f"session:{session}",
            title,
        )
        number += 1
    for page in pages:
        work = f"judging:{page.id}:{len(page.items) + 1}"
        piece = PaidPiece(number, page.user, validation.task_id, validation.round_id, "base", PAGE_PAY, "USD", page.at)
        yield piece, work, f"Judging for {REF}"
        number += 1


def _book(load: Loader, postings: list[Posting], begun: datetime) -> None:
    """Write transactions and entries, and balances into which all of them are folded."""
    account, transaction, entry = (load.next_id(one) for one in (LedgerAccount, LedgerTransaction, LedgerEntry))
    balances: defaultdict[Account, int] = defaultdict(int)
    for posting in postings:
        for move in posting.moves:
            balances[move.account] += move.amount
    ids = {one: account + n for n, one in enumerate(balances)}
    load.add(
        LedgerAccount,
        ("id", "holder", "name", "currency", "balance"),
        ((ids[one], one.holder, one.name, one.currency, amount) for one, amount in balances.items()),
    )
    at = load.when(begun)
    load.add(
        LedgerTransaction,
        ("id", "key", "kind", "created_at"),
        ((transaction + n, posting.key, posting.kind, at) for n, posting in enumerate(postings)),
    )
    moves = ((n, move) for n, posting in enumerate(postings) for move in posting.moves)
    load.add(
        LedgerEntry,
        ("id", "transaction_id", "account_id", "amount"),
        ((entry + m, transaction + n, ids[move.account], move.amount) for m, (n, move) in enumerate(moves)),
    )
