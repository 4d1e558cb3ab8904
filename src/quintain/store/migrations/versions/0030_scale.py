"""An index for what is asked at every look at a board: the newest act of a kind."""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_audit_action_id", "audit", ["action", "id"])
