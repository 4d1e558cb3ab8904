"""What people earn, the ledger that it is booked in, and what was paid out."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now


class Earning(Fact, Base):
    """Money that a person earned by one piece of work, in minor units. *work* names the piece: it is paid once."""

    __tablename__ = "earnings"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"), index=True)
    kind: Mapped[str] = mapped_column(String(12))
    work: Mapped[str] = mapped_column(String(80), unique=True)
    amount: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    what: Mapped[str] = mapped_column(String(200), default="")
    created_at: Mapped[datetime] = mapped_column(default=now)


class EarningDecision(Fact, Base):
    """An owner approved an earning, or set it aside with a reason. The newest counts; without one it is pending."""

    __tablename__ = "earning_decisions"

    id: Mapped[int] = mapped_column(primary_key=True)
    earning_id: Mapped[int] = mapped_column(ForeignKey("earnings.id"), index=True)
    approved: Mapped[bool]
    reason: Mapped[str] = mapped_column(Text, default="")
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class EarningStanding(Base):
    """Where an earning stands: pending, approved, declined or paid. It follows decisions and payouts.

    The *amount* is the earning's, so that lists can be sorted by an index.
    """

    __tablename__ = "earning_standings"
    __table_args__ = (
        Index("ix_earning_standings_user", "user_id", "status", "earning_id"),
        Index("ix_earning_standings_task", "task_id", "status", "earning_id"),
        Index("ix_earning_standings_round", "round_id", "status", "earning_id"),
        Index("ix_earning_standings_task_number", "task_id", "earning_id"),
        Index("ix_earning_standings_round_number", "round_id", "earning_id"),
        Index("ix_earning_standings_task_amount", "task_id", "amount", "earning_id"),
        Index("ix_earning_standings_round_amount", "round_id", "amount", "earning_id"),
    )

    earning_id: Mapped[int] = mapped_column(ForeignKey("earnings.id"), primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"))
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"))
    status: Mapped[str] = mapped_column(String(12), default="pending")
    decision_id: Mapped[int | None] = mapped_column(ForeignKey("earning_decisions.id"))
    payout_id: Mapped[int | None] = mapped_column(ForeignKey("payouts.id"), index=True)
    amount: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")


class PaidAhead(Base):
    """What one payout pays of an earning whose rest another one pays: an approval pays a study's reward and no less.

    It goes with its payout: cancelled, it pays nothing ahead.
    """

    __tablename__ = "paid_ahead"

    earning_id: Mapped[int] = mapped_column(ForeignKey("earnings.id"), primary_key=True, autoincrement=False)
    payout_id: Mapped[int] = mapped_column(ForeignKey("payouts.id"), primary_key=True, autoincrement=False, index=True)
    amount: Mapped[int] = mapped_column(BigInteger)


class OwedPay(Base):
    """What a task owes to a person: what is approved, in no payout, and not paid ahead. It follows those."""

    __tablename__ = "owed_pay"

    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, autoincrement=False)
    currency: Mapped[str] = mapped_column(String(3), primary_key=True)
    amount: Mapped[int] = mapped_column(BigInteger, default=0)


class LedgerAccount(Base):
    """An account in one currency: *holder* and *name* say whose and what for.

    *balance* holds what was folded in; what is in `ledger_tails` comes on top.
    """

    __tablename__ = "ledger_accounts"
    __table_args__ = (UniqueConstraint("holder", "name", "currency"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    holder: Mapped[str] = mapped_column(String(80))
    name: Mapped[str] = mapped_column(String(40))
    currency: Mapped[str] = mapped_column(String(3))
    balance: Mapped[int] = mapped_column(BigInteger, default=0)


class LedgerTransaction(Fact, Base):
    """Money that changed hands, in entries that sum to zero. Its *key* is written once."""

    __tablename__ = "ledger_transactions"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(120), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[datetime] = mapped_column(default=now)


class LedgerEntry(Fact, Base):
    """What a transaction gave to an account, or took from it, in minor units."""

    __tablename__ = "ledger_entries"
    __table_args__ = (Index("ix_ledger_entries_account", "account_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    transaction_id: Mapped[int] = mapped_column(ForeignKey("ledger_transactions.id"), index=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("ledger_accounts.id"))
    amount: Mapped[int] = mapped_column(BigInteger)


class LedgerTail(Base):
    """An entry that is not yet folded into the balance of its account.

    Whoever books adds rows here and locks nobody out; now and then they are folded into the account.
    """

    __tablename__ = "ledger_tails"

    entry_id: Mapped[int] = mapped_column(ForeignKey("ledger_entries.id"), primary_key=True, autoincrement=False)
    account_id: Mapped[int] = mapped_column(ForeignKey("ledger_accounts.id"), index=True)
    amount: Mapped[int] = mapped_column(BigInteger)


class PayPolicy(Fact, Base):
    """What the owner of a task promises and allows to be spent. The newest counts."""

    __tablename__ = "pay_policies"

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    definition: Mapped[dict[str, Any]] = mapped_column(default=dict)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class Payout(Base):
    """Earnings that are paid together through a provider, in one currency. *key* tells the provider's calls apart.

    *outside_id* is what the provider calls it; *generation* fences off whoever was at it before, and *holder* names the
    process that has it. Of step `overpaid` is what a panel has paid for nothing that was earned.
    """

    __tablename__ = "payouts"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(40), unique=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    provider: Mapped[str] = mapped_column(String(20))
    step: Mapped[str] = mapped_column(String(12))
    study: Mapped[str] = mapped_column(String(200), default="")
    currency: Mapped[str] = mapped_column(String(3))
    amount: Mapped[int] = mapped_column(BigInteger)
    people: Mapped[int]
    state: Mapped[str] = mapped_column(String(12), index=True)
    reason: Mapped[str] = mapped_column(Text, default="")
    outside_id: Mapped[str] = mapped_column(String(200), default="")
    content: Mapped[dict[str, Any]] = mapped_column(default=dict)
    generation: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[datetime | None]
    holder: Mapped[str] = mapped_column(String(120), default="", server_default="")
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    settled_at: Mapped[datetime | None]


class PayoutCall(Fact, Base):
    """One call to a provider for a payout: what was asked under which key, and what came back."""

    __tablename__ = "payout_calls"

    id: Mapped[int] = mapped_column(primary_key=True)
    payout_id: Mapped[int] = mapped_column(ForeignKey("payouts.id"), index=True)
    key: Mapped[str] = mapped_column(String(80))
    outcome: Mapped[str] = mapped_column(String(12))
    status: Mapped[int | None]
    reply: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)


class PayQuestion(Base):
    """What a worker asks about an earning, and what the owner answers."""

    __tablename__ = "pay_questions"

    id: Mapped[int] = mapped_column(primary_key=True)
    earning_id: Mapped[int] = mapped_column(ForeignKey("earnings.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    text: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=now)
    answer: Mapped[str] = mapped_column(Text, default="")
    answered_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    answered_at: Mapped[datetime | None]


class PanelEvent(Base):
    """A message of a panel that was taken; the same one is not taken twice."""

    __tablename__ = "panel_events"

    id: Mapped[int] = mapped_column(primary_key=True)
    provider: Mapped[str] = mapped_column(String(20))
    event_key: Mapped[str] = mapped_column(String(80), unique=True)
    kind: Mapped[str] = mapped_column(String(60))
    created_at: Mapped[datetime] = mapped_column(default=now)
