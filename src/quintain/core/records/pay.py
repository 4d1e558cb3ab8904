"""Pay, as workers and owners see it: earnings, the books, payouts and what things cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from quintain.core.records.base import Record
from quintain.core.records.jobs import JobStanding
from quintain.core.rounds import Money

PayStatus = Literal["pending", "approved", "declined", "paid"]
EarningOrder = Literal["newest", "oldest", "largest", "smallest", "worker", "worker_down"]


@dataclass(frozen=True, slots=True)
class Earning(Record):
    """One earning in minor units (cents): for what, when, how much, and where it stands."""

    id: int
    kind: str
    what: str
    task: str
    round: int | None
    amount: int
    currency: str
    status: PayStatus
    reason: str
    created_at: datetime
    decided_at: datetime | None
    worker: str = ""
    paid_at: datetime | None = None

    @property
    def money(self) -> Money:
        """The amount with its currency."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class Earnings(Record):
    """Earnings in the order that was asked for, some of *total*."""

    earnings: list[Earning]
    total: int = 0


@dataclass(frozen=True, slots=True)
class HeldPay(Record):
    """What is approved and held, because nobody has confirmed the people from panels who earned it, in minor units."""

    people: int
    amount: int
    currency: str

    @property
    def money(self) -> Money:
        """The amount with its currency."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class MyHeldPay(Record):
    """What one task holds of a worker's pay, in minor units."""

    task: str
    amount: int
    currency: str

    @property
    def money(self) -> Money:
        """The amount with its currency."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class PayTotal(Record):
    """A sum of earnings of one currency, kind and status, in minor units."""

    kind: str
    status: str
    amount: int
    currency: str

    @property
    def money(self) -> Money:
        """The amount with its currency."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class OpenPay(Record):
    """What somebody earned and was not paid, by currency: *open*, and *under_way* in payouts that are not over.

    Of what is open, tasks have *held* some: the panel has not confirmed yet that it was this person who worked.
    """

    open: Sequence[Money]
    under_way: Sequence[Money]
    held: Sequence[MyHeldPay] = ()


@dataclass(frozen=True, slots=True)
class RoundPay(Record):
    """What a round pays and has cost.

    *measured* counts the finished sessions that *minutes* are from; 0 is the owner's estimate. Of *total* earnings that
    fit, those asked for are listed. *approving* is the job that approves what is pending, while it is on the way.
    """

    round: str
    minutes: float
    measured: int
    hourly: Money
    totals: list[PayTotal]
    earnings: list[Earning]
    total: int = 0
    approving: JobStanding | None = None


@dataclass(frozen=True, slots=True)
class GroupCost(Record):
    """What the texts of a group, such as a round, have cost: base pay, bonuses, and the time of experts.

    *each* is what one text cost; None where there is none. A *training* group leaves no texts behind. What belongs to
    no round is a group by the name of the task.
    """

    name: str
    training: bool
    texts: int
    base: Money
    bonus: Money
    expert: Money
    total: Money
    each: Money | None


@dataclass(frozen=True, slots=True)
class CostReport(Record):
    """What a text has cost in each round of a task, in one currency; with what training cost, and without it.

    *others* are the currencies in which people earned something as well.
    """

    task: str
    currency: str
    groups: list[GroupCost]
    texts: int
    total: Money
    each: Money | None
    total_without_training: Money
    each_without_training: Money | None
    others: list[str]


@dataclass(frozen=True, slots=True)
class PayQuestionRecord(Record):
    """What a worker asks about an earning, and what was answered."""

    id: int
    earning: int
    worker: str
    task: str
    what: str
    money: Money
    text: str
    created_at: datetime
    answer: str
    answered_at: datetime | None


@dataclass(frozen=True, slots=True)
class PayQuestions(Record):
    """Questions about pay, those without an answer first, some of *total*."""

    questions: list[PayQuestionRecord]
    total: int


@dataclass(frozen=True, slots=True)
class Study(Record):
    """A study on a panel, its status there, and how many people may take part.

    *round* is where it leads: a round, or a judging or a trial by its name.
    """

    round: str
    study: str
    status: str
    places: int


@dataclass(frozen=True, slots=True)
class PanelGroup(Record):
    """A group of a panel's participants, and the qualification that puts people into it."""

    task: str
    qualification: str
    group: str
    people: int


@dataclass(frozen=True, slots=True)
class PanelEventTaken(Record):
    """A message of a panel that was taken."""

    event: str


@dataclass(frozen=True, slots=True)
class OwedList(Record):
    """What is approved and not in a payout yet."""

    owed: list[Owed]


@dataclass(frozen=True, slots=True)
class PayoutFile(Record):
    """A payout as CSV, by the panel's own ids."""

    csv: str


@dataclass(frozen=True, slots=True)
class Owed(Record):
    """What is approved and not in a payout yet: to how many people of a provider, in minor units."""

    provider: str
    people: int
    amount: int
    currency: str

    @property
    def money(self) -> Money:
        """The amount with its currency."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class PayoutLine(Record):
    """What one person is paid by a payout, in minor units; *person* is what their panel calls them, for owners only."""

    worker: str
    person: str
    amount: int


@dataclass(frozen=True, slots=True)
class PayoutCallRecord(Record):
    """One call to a provider for a payout, and what came back."""

    at: datetime
    key: str
    outcome: str
    status: int | None
    reply: str


@dataclass(frozen=True, slots=True)
class PayoutRecord(Record):
    """Earnings that are paid together: through whom, how much, and where it stands.

    *state* is `planned`, `prepared`, `sending`, `sent`, `refused`, `unknown` (no answer came: look, then decide) or
    `cancelled`. Of step `overpaid` is what a panel paid for work that had been paid already: *over* is what was not
    held back of it, and *answer* what its owner said, `hold back` or `let go`.
    """

    id: int
    task: str
    provider: str
    step: str
    study: str
    amount: int
    currency: str
    people: int
    state: str
    reason: str
    created_at: datetime
    settled_at: datetime | None
    lines: list[PayoutLine]
    calls: list[PayoutCallRecord]
    over: int = 0
    answer: str = ""

    @property
    def money(self) -> Money:
        """The amount with its currency."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class Payouts(Record):
    """Payouts of a task, the newest first, some of *total*."""

    payouts: list[PayoutRecord]
    total: int


@dataclass(frozen=True, slots=True)
class CapStanding(Record):
    """A cap that an owner has set, and how much of it is used; of a cap for each trial, by which *trial*."""

    name: str
    cap: Money
    spent: Money
    trial: str = ""


@dataclass(frozen=True, slots=True)
class PayPolicyText(Record):
    """What the owner of a task promises and allows, as a TOML file."""

    task: str
    toml: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class BookEntry(Record):
    """One line of the books: what a transaction gave to an account, or took from it."""

    id: int
    at: datetime
    transaction: str
    kind: str
    account: str
    amount: int
    currency: str

    @property
    def money(self) -> Money:
        """The amount with its currency."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class Balance(Record):
    """What an account holds, in minor units."""

    account: str
    amount: int
    currency: str

    @property
    def money(self) -> Money:
        """The amount with its currency."""
        return Money(self.amount, self.currency)


@dataclass(frozen=True, slots=True)
class Books(Record):
    """The accounts of a holder, such as `round:3` or `worker:7`, and some of *total* lines, the newest first."""

    holder: str
    balances: list[Balance]
    entries: list[BookEntry]
    total: int


@dataclass(frozen=True, slots=True)
class Discrepancy(Record):
    """Where the books and what they are to say differ: the place, what they hold, and what was counted."""

    place: str
    booked: str
    counted: str


@dataclass(frozen=True, slots=True)
class BooksCheck(Record):
    """Whether the books add up and say what the facts say."""

    transactions: int
    accounts: int
    discrepancies: list[Discrepancy]

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.discrepancies
