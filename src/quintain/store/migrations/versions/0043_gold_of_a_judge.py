"""Indices by which hot paths find their rows: the gold items that somebody was shown."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0038"
branch_labels = None
depends_on = None

GOLD = sa.text("slot_id IS NULL")


def upgrade() -> None:
    """Create the indices."""
    op.create_index(
        "ix_judging_offers_gold_of", "judging_offers", ["user_id"], postgresql_where=GOLD, sqlite_where=GOLD
    )


def downgrade() -> None:
    """Remove them."""
    op.drop_index("ix_judging_offers_gold_of", "judging_offers")
