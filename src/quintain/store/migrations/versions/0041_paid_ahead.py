"""What a payout pays of an earning whose rest another one pays."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
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
