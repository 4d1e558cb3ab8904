"""What the calls of a run have cost: one entry for each request, and a budget that none of them may break.

A call reserves the most that it can cost before it is made, and is settled when it has ended, however it ended. Where
the budget does not cover a call while others are under way, it is asked again later: they may leave some of what they
reserved.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from quintain.adapters.prices import Prices
from quintain.core.errors import Conflict

CallOutcome = Literal["answered", "refused", "failed", "lost", "cached"]


class OverBudget(Conflict):
    """The next call might cost more than is left."""

    code = "over_budget"


@dataclass(frozen=True, slots=True)
class CallSize:
    """The most that a call can take: tokens that are sent, and tokens that come back."""

    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class TokenUse:
    """The tokens that a call took, and whether they are *estimated* because the server does not say."""

    sent: int = 0
    received: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One request, or one reply that was found in the cache, with what it cost.

    *outcome*: `answered`; `refused` or `failed` by the server, with its *status*; `lost` where no reply, or half of
    one, came back to a request that was sent; `cached`, which costs nothing now.
    """

    outcome: CallOutcome
    status: int | None
    usage: TokenUse
    cost: float


class Ledger:
    """The entries of one run, from several threads. *keep* is told of each entry when it is made."""

    def __init__(
        self, prices: Prices, budget: float | None = None, keep: Callable[[LedgerEntry], None] | None = None
    ) -> None:
        self.prices = prices
        self.budget = budget
        self.spent = 0.0
        self._keep = keep
        self._reserved = 0.0
        self._under_way = 0
        self._counts: dict[CallOutcome, int] = {}
        self._sent = self._received = self._estimated = 0
        self._kept_cost = 0.0  # what replies from the cache cost when they were asked for
        self._lock = threading.Lock()

    def reserve(self, size: CallSize, share: float = 1.0) -> float | None:
        """Reserve what a call of *size* can cost, and return that; raises OverBudget where there is not enough left.

        None where other calls are under way that may leave enough. A call may cost a *share* of the usual price.
        """
        most = share * self.prices.cost(size.sent, size.received)
        with self._lock:
            if not self._covers(most):
                if not self._is_hopeless(most):
                    return None
                raise OverBudget(
                    "The budget does not cover the next call: {budget:.6g} were left for this run, of which "
                    "{spent:.6g} are spent, and the call may cost {most:.6g}.",
                    budget=self.budget,
                    spent=self.spent,
                    most=most,
                    remedy="Replies that came are kept. Raise the budget, and try the run again.",
                )
            self._reserved += most
            self._under_way += 1
        return most

    def _covers(self, most: float) -> bool:
        return self.budget is None or self.spent + self._reserved + most <= self.budget

    def _is_hopeless(self, most: float) -> bool:
        """Whether nothing that is under way could leave enough."""
        return self.budget is not None and (not self._under_way or self.spent + most > self.budget)

    def record_call(self, reserved: float, outcome: CallOutcome, status: int | None, usage: TokenUse) -> None:
        """Enter a call that has ended, in place of what was *reserved* for it."""
        entry = LedgerEntry(outcome, status, usage, self.prices.cost(usage.sent, usage.received))
        with self._lock:  # in one step: between two, somebody might reserve what is just being spent
            self._under_way -= 1
            self._reserved = self._reserved - reserved if self._under_way else 0.0
            self.spent += entry.cost
            self._count(entry)
        if self._keep is not None:
            self._keep(entry)

    def release(self, reserved: float) -> None:
        """Free what was *reserved* for what has ended."""
        with self._lock:
            self._under_way -= 1
            self._reserved = self._reserved - reserved if self._under_way else 0.0

    def enter(self, outcome: CallOutcome, status: int | None, usage: TokenUse, share: float = 1.0) -> None:
        """Enter a call that has ended, at a *share* of the usual price."""
        entry = LedgerEntry(outcome, status, usage, share * self.prices.cost(usage.sent, usage.received))
        with self._lock:
            self.spent += entry.cost
            self._count(entry)
        if self._keep is not None:
            self._keep(entry)

    def enter_cached(self, usage: TokenUse) -> None:
        """Enter a reply that came from the cache."""
        entry = LedgerEntry("cached", None, usage, 0.0)
        with self._lock:
            self._kept_cost += self.prices.cost(usage.sent, usage.received)
            self._count(entry)
        if self._keep is not None:
            self._keep(entry)

    def facts(self) -> Mapping[str, Any]:
        """Return what asking took. Cached replies count in tokens and cost too: somebody paid for them once.

        *spent* is the cost of this run's own calls; *estimated* counts the entries whose tokens are a guess.
        """
        with self._lock:
            cached = self._counts.get("cached", 0)
            return {
                "requests": sum(self._counts.values()) - cached,
                "answered": self._counts.get("answered", 0),
                "cached": cached,
                "lost": self._counts.get("lost", 0),
                "input_tokens": self._sent,
                "output_tokens": self._received,
                "estimated": self._estimated,
                "cost": self.spent + self._kept_cost,
                "spent": self.spent,
            }

    def _count(self, entry: LedgerEntry) -> None:
        self._counts[entry.outcome] = self._counts.get(entry.outcome, 0) + 1
        self._sent += entry.usage.sent
        self._received += entry.usage.received
        self._estimated += entry.usage.estimated
