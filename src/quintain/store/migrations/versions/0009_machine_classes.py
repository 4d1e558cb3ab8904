"""Measurements may wait for a class of machine."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("cells", sa.Column("machine", sa.String(length=120), nullable=True))
