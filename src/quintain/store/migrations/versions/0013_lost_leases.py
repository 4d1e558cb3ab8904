"""Leases whose worker was lost are counted apart from attempts that failed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("cells", sa.Column("lost", sa.Integer(), nullable=False, server_default="0"))
