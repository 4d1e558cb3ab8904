"""Members of a trial know their stratum."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; who is in a trial already is of no stratum."""
    op.add_column("crowd_members", sa.Column("stratum", sa.String(length=200), server_default="", nullable=False))
    op.create_index("ix_crowd_members_trial_id_stratum", "crowd_members", ["trial_id", "stratum"], unique=False)
