"""What a panel said last of each submission, and which process sends a payout."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; nothing is known yet."""
    for table in ("panel_visits", "panel_stays"):
        op.add_column(table, sa.Column("standing", sa.String(12), nullable=False, server_default=""))
    op.add_column("payouts", sa.Column("holder", sa.String(120), nullable=False, server_default=""))
