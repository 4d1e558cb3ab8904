"""Several systems of a team, which it may take out again, and pairs that dispute a label of the starter set."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns: no system was taken out yet, and no label disputed."""
    op.add_column("contest_systems", sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("contest_pairs", sa.Column("claimed_gold", sa.JSON(none_as_null=True), nullable=True))
