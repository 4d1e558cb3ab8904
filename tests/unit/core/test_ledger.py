"""The books: whatever happens to earnings, every transaction sums to zero and every sum is an account's."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.core.ledger import Account, Move, PaidPiece, Posting, decided, earned, imbalance, merged, paid

DAY = datetime(2026, 11, 16, 12, tzinfo=UTC)
pieces = st.builds(
    PaidPiece,
    id=st.integers(1, 10**6),
    user_id=st.integers(1, 4),
    task_id=st.just(1),
    round_id=st.sampled_from([None, 1, 2]),
    kind=st.sampled_from(["base", "bonus"]),
    amount=st.integers(1, 10**9),
    currency=st.sampled_from(["USD", "EUR", "JPY"]),
    at=st.just(DAY),
)


@given(st.lists(st.tuples(pieces, st.lists(st.booleans(), max_size=4), st.booleans()), max_size=12))
def test_balances_are_what_became_of_earnings(histories: list[tuple[PaidPiece, list[bool], bool]]) -> None:
    """Any earnings, decided to and fro and paid or not: transactions balance, accounts say where each one stands."""
    balances: defaultdict[Account, int] = defaultdict(int)
    wanted: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    counted: defaultdict[str, int] = defaultdict(int)
    for piece, decisions, pay in histories:
        postings, status = [earned(piece)], "pending"
        for number, approved in enumerate(decisions):
            after = "approved" if approved else "declined"
            if after != status:
                postings.append(decided(piece, number, status, after))
                status = after
        if pay and status == "approved":
            postings.append(paid(1, "prolific", 1, [piece]))
            status = "paid"
        for posting in postings:
            assert imbalance(posting.moves) == []
            for move in posting.moves:
                balances[move.account] += move.amount
        wanted[piece.worker, f"{piece.kind}.{status}", piece.currency] += piece.amount
        wanted[piece.payer, f"{piece.kind}.{status}", piece.currency] -= piece.amount
        counted[piece.currency] += piece.amount if status != "declined" else 0
    standing = {
        (one.holder, one.name, one.currency): amount
        for one, amount in balances.items()
        if amount and one.name.partition(".")[0] in {"base", "bonus"}
    }
    assert standing == {key: amount for key, amount in wanted.items() if amount}
    for currency, amount in counted.items():
        assert balances[Account("task:1", "day.2026-11-16", currency)] == -amount


def test_what_does_not_add_up_is_refused() -> None:
    """Money from nowhere, and one currency against another, are refused with what is left over."""
    one, other = Account("worker:1", "base.pending", "USD"), Account("round:1", "base.pending", "EUR")
    for moves in ((Move(one, 5),), (Move(one, 5), Move(other, -5))):
        with pytest.raises(BadInput, match=r"does not add up.*USD"):
            Posting("key", "earned", moves)
    assert merged([Move(one, 5), Move(other, 3), Move(one, -5)]) == (Move(other, 3),)
