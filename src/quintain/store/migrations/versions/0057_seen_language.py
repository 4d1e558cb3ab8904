"""In which language a person last read pages: mails are in it where they have chosen none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; it is filled as people sign in."""
    op.add_column("users", sa.Column("seen_language", sa.String(length=16), nullable=False, server_default=""))
