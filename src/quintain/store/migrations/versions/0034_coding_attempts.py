"""Which attempt an item of a coding's sample is, so that what is taken back leaves the sample."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; what somebody wrote is known by its key."""
    with op.batch_alter_table("coding_items") as table:
        table.add_column(sa.Column("attempt_id", sa.Integer(), nullable=True))
        table.add_column(sa.Column("alike_attempts", sa.JSON(), server_default="[]", nullable=False))
        table.create_foreign_key(op.f("fk_coding_items_attempt_id_attempts"), "attempts", ["attempt_id"], ["id"])
    op.execute("UPDATE coding_items SET attempt_id = CAST(key AS INTEGER) WHERE author_id IS NOT NULL")
