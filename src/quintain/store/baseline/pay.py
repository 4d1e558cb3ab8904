"""Panels, earnings, payouts and the books: as they were at revision 0041."""

from __future__ import annotations

import sqlalchemy as sa


def add_tables(tables: sa.MetaData) -> None:
    """Add the tables to *tables*, those that others point to first."""
    sa.Table(
        "ledger_accounts",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("holder", sa.String(80), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("currency", sa.String(3), nullable=False),
        sa.Column("balance", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("holder", "name", "currency"),
    )
    sa.Table(
        "ledger_transactions",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(120), nullable=False, unique=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    sa.Table(
        "panel_events",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("provider", sa.String(20), nullable=False),
        sa.Column("event_key", sa.String(80), nullable=False, unique=True),
        sa.Column("kind", sa.String(60), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    sa.Table(
        "ledger_entries",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("transaction_id", sa.ForeignKey("ledger_transactions.id"), nullable=False, index=True),
        sa.Column("account_id", sa.ForeignKey("ledger_accounts.id"), nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Index("ix_ledger_entries_account", "account_id", "id"),
    )
    sa.Table(
        "owed_pay",
        tables,
        sa.Column("task_id", sa.ForeignKey("tasks.id"), primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), primary_key=True),
        sa.Column("currency", sa.String(3), primary_key=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
    )
    sa.Table(
        "pay_policies",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("task_id", sa.ForeignKey("tasks.id"), nullable=False, index=True),
        sa.Column("definition", sa.JSON, nullable=False),
        sa.Column("by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    sa.Table(
        "payouts",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key", sa.String(40), nullable=False, unique=True),
        sa.Column("task_id", sa.ForeignKey("tasks.id"), nullable=False, index=True),
        sa.Column("provider", sa.String(20), nullable=False),
        sa.Column("step", sa.String(12), nullable=False),
        sa.Column("study", sa.String(200), nullable=False),
        sa.Column("currency", sa.String(3), nullable=False),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("people", sa.Integer, nullable=False),
        sa.Column("state", sa.String(12), nullable=False, index=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("outside_id", sa.String(200), nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("created_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True)),
    )
    sa.Table(
        "earnings",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("task_id", sa.ForeignKey("tasks.id"), nullable=False, index=True),
        sa.Column("round_id", sa.ForeignKey("rounds.id"), index=True),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("work", sa.String(80), nullable=False, unique=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
        sa.Column("currency", sa.String(3), nullable=False),
        sa.Column("what", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    sa.Table(
        "ledger_tails",
        tables,
        sa.Column("entry_id", sa.ForeignKey("ledger_entries.id"), primary_key=True),
        sa.Column("account_id", sa.ForeignKey("ledger_accounts.id"), nullable=False, index=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
    )
    sa.Table(
        "payout_calls",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("payout_id", sa.ForeignKey("payouts.id"), nullable=False, index=True),
        sa.Column("key", sa.String(80), nullable=False),
        sa.Column("outcome", sa.String(12), nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    sa.Table(
        "earning_decisions",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("earning_id", sa.ForeignKey("earnings.id"), nullable=False, index=True),
        sa.Column("approved", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    sa.Table(
        "paid_ahead",
        tables,
        sa.Column("earning_id", sa.ForeignKey("earnings.id"), primary_key=True),
        sa.Column("payout_id", sa.ForeignKey("payouts.id"), primary_key=True, index=True),
        sa.Column("amount", sa.BigInteger, nullable=False),
    )
    sa.Table(
        "pay_questions",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("earning_id", sa.ForeignKey("earnings.id"), nullable=False, index=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("task_id", sa.ForeignKey("tasks.id"), nullable=False, index=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
        sa.Column("answered_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("answered_at", sa.DateTime(timezone=True)),
    )
    sa.Table(
        "earning_standings",
        tables,
        sa.Column("earning_id", sa.ForeignKey("earnings.id"), primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False),
        sa.Column("task_id", sa.ForeignKey("tasks.id"), nullable=False),
        sa.Column("round_id", sa.ForeignKey("rounds.id")),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("decision_id", sa.ForeignKey("earning_decisions.id")),
        sa.Column("payout_id", sa.ForeignKey("payouts.id"), index=True),
        sa.Column("amount", sa.BigInteger, nullable=False, server_default="0"),
        sa.Index("ix_earning_standings_round", "round_id", "status", "earning_id"),
        sa.Index("ix_earning_standings_round_amount", "round_id", "amount", "earning_id"),
        sa.Index("ix_earning_standings_round_number", "round_id", "earning_id"),
        sa.Index("ix_earning_standings_task", "task_id", "status", "earning_id"),
        sa.Index("ix_earning_standings_task_amount", "task_id", "amount", "earning_id"),
        sa.Index("ix_earning_standings_task_number", "task_id", "earning_id"),
        sa.Index("ix_earning_standings_user", "user_id", "status", "earning_id"),
    )
