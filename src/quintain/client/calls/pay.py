"""Calls about what people earned with tasks and in rounds (`task/number`).

Written by scripts/make_client.py from the API's description; change that, not this.
"""

from __future__ import annotations

from collections.abc import Iterable

from quintain.client.refs import place, task_path
from quintain.client.transport import Transport
from quintain.core.records.pay import Books, Earning, Earnings, RoundPay


class PayCalls:
    """What `Client` can ask about pay."""

    _transport: Transport

    def round_pay(
        self, ref: str, *, status: str | None = None, order: str = "newest", limit: int = 1000, offset: int = 0
    ) -> RoundPay:
        """Say what a round pays and has cost, and who earned what: all, or what is `pending` (owners)."""
        return self._transport.read(
            RoundPay,
            "GET",
            f"{place(ref, 'rounds')}/pay",
            params={"status": status, "order": order, "limit": limit, "offset": offset},
        )

    def approve_round_pay(self, ref: str) -> RoundPay:
        """Approve everything that is pending in a round (owners)."""
        return self._transport.read(RoundPay, "POST", f"{place(ref, 'rounds')}/pay/approval")

    def round_books(self, ref: str, *, limit: int = 50, offset: int = 0) -> Books:
        """Show the accounts of a round and what was booked to them, the newest first (owners)."""
        return self._transport.read(
            Books, "GET", f"{place(ref, 'rounds')}/books", params={"limit": limit, "offset": offset}
        )

    def books(self, task: str, *, limit: int = 50, offset: int = 0) -> Books:
        """Show what was booked to the budget of a task, the newest first (owners)."""
        return self._transport.read(Books, "GET", f"{task_path(task)}/books", params={"limit": limit, "offset": offset})

    def earnings(
        self, task: str, *, status: str | None = None, order: str = "newest", limit: int = 1000, offset: int = 0
    ) -> list[Earning]:
        """List what people earned with a task, the newest first (owners)."""
        return self._transport.read(
            Earnings,
            "GET",
            f"{task_path(task)}/earnings",
            params={"status": status, "order": order, "limit": limit, "offset": offset},
        ).earnings

    def decide_earnings(
        self, task: str, ids: Iterable[int], *, approved: bool = True, reason: str = ""
    ) -> list[Earning]:
        """Approve earnings, or set them aside with a reason that the worker reads (owners)."""
        return self._transport.read(
            Earnings,
            "POST",
            f"{task_path(task)}/earnings/decisions",
            json={"ids": list(ids), "approved": approved, "reason": reason},
        ).earnings
