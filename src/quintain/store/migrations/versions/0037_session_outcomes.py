"""An index by which a round's sessions are counted by outcome, and those that last are found."""

from __future__ import annotations

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_writing_sessions_round_outcome", "writing_sessions", ["round_id", "outcome"])
