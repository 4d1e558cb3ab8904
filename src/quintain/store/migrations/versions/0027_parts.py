"""Items of a validation know their part and how often they are judged; members of a trial know their stratum."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; what is there already is of no part and of no stratum."""
    op.add_column("validation_items", sa.Column("part", sa.String(length=80), server_default="", nullable=False))
    op.add_column("validation_items", sa.Column("asked", sa.Integer(), nullable=True))
    op.add_column("crowd_members", sa.Column("stratum", sa.String(length=200), server_default="", nullable=False))
    op.create_index("ix_crowd_members_trial_id_stratum", "crowd_members", ["trial_id", "stratum"], unique=False)
