"""What a payout pays of an earning whose rest another one pays; what arms of trials have spent; amounts to sort by."""

from __future__ import annotations

from collections import Counter

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, add up what arms have spent by steps of their own, and put amounts beside where they stand."""
    op.create_table(
        "paid_ahead",
        sa.Column("earning_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("payout_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["earning_id"], ["earnings.id"], name=op.f("fk_paid_ahead_earning_id_earnings")),
        sa.ForeignKeyConstraint(["payout_id"], ["payouts.id"], name=op.f("fk_paid_ahead_payout_id_payouts")),
        sa.PrimaryKeyConstraint("earning_id", "payout_id", name=op.f("pk_paid_ahead")),
    )
    op.create_index(op.f("ix_paid_ahead_payout_id"), "paid_ahead", ["payout_id"])
    _count_arms()
    _add_amounts()


def _add_amounts() -> None:
    amount = sa.Column("amount", sa.BigInteger(), nullable=False, server_default="0")
    op.add_column("earning_standings", amount)
    op.execute(
        "UPDATE earning_standings SET amount ="
        " (SELECT e.amount FROM earnings e WHERE e.id = earning_standings.earning_id)"
    )
    for of in ("task", "round"):
        op.create_index(f"ix_earning_standings_{of}_amount", "earning_standings", [f"{of}_id", "amount", "earning_id"])


def _count_arms() -> None:
    connection, spent = op.get_bind(), Counter[tuple[str, str]]()
    for work, currency, amount in connection.execute(
        sa.text(
            "SELECT e.work, e.currency, e.amount FROM earnings e JOIN earning_standings s ON s.earning_id = e.id"
            " WHERE e.work LIKE 'trial:%' AND s.status <> 'declined'"
        )
    ):
        spent[f"arm:{work.split(':')[1]}", f"spent.{currency}"] += amount
    for (scope, name), count in spent.items():
        connection.execute(
            sa.text("INSERT INTO kept_counts (scope, name, count) VALUES (:scope, :name, :count)"),
            {"scope": scope, "name": name, "count": count},
        )
