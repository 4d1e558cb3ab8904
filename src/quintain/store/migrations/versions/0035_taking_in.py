"""What was looked at for items, by the ends of indices: a number of rows had to be counted at every look."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace the number; everything is looked at once more."""
    op.add_column("validations", sa.Column("seen_to", sa.String(length=80), server_default="", nullable=False))
    op.drop_column("validations", "taken_to")
