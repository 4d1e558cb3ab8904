"""A harvest is a numbered round as well: rounds have a kind."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; all rounds there are were written in."""
    op.add_column("rounds", sa.Column("kind", sa.String(length=12), nullable=False, server_default="writing"))
