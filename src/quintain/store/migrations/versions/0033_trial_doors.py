"""How people from panels come into a trial and go back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; a trial without it has no doors."""
    op.add_column("crowd_trials", sa.Column("doors", sa.JSON(none_as_null=True), nullable=True))
