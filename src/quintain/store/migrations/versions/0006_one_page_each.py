"""A person holds one page of a validation at a time: the database sees to it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


HELD = sa.text("ended_at IS NULL")


def upgrade() -> None:
    """Create the index."""
    op.create_index(
        "ix_judging_pages_held",
        "judging_pages",
        ["validation_id", "user_id"],
        unique=True,
        postgresql_where=HELD,
        sqlite_where=HELD,
    )
