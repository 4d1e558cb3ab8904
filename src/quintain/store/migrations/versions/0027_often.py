"""Items of a validation know the part that they were drawn within, and those that are judged more often how often."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; items of before are of no part, and were asked about as their policy says."""
    op.add_column("validation_items", sa.Column("part", sa.String(length=80), server_default="", nullable=False))
    op.add_column("validation_items", sa.Column("asked", sa.Integer(), nullable=True))
