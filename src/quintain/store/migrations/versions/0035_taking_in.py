"""What was looked at for items, by the ends of indices; an index of gold items that tells which are shown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Replace the number, so that everything is looked at once more; let the index tell which gold items are shown."""
    op.add_column("validations", sa.Column("seen_to", sa.String(length=80), server_default="", nullable=False))
    op.drop_column("validations", "taken_to")
    op.drop_index("ix_validation_items_gold", "validation_items")
    gold = sa.text("gold IS NOT NULL")
    op.create_index(
        "ix_validation_items_gold",
        "validation_items",
        ["validation_id", "retired_at"],
        sqlite_where=gold,
        postgresql_where=gold,
    )
