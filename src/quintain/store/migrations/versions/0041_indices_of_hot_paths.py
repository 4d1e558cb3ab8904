"""Indices of hot paths: gold items by judge, audit by subject, messages to be mailed, a writer's texts of a round."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

GOLD = sa.text("slot_id IS NULL")
NOT_SENT = sa.text("emailed_at IS NULL")


def upgrade() -> None:
    """Create the indices."""
    op.create_index(
        "ix_judging_offers_gold_of", "judging_offers", ["user_id"], postgresql_where=GOLD, sqlite_where=GOLD
    )
    op.create_index("ix_audit_subject_id", "audit", ["subject", "id"])
    op.create_index(
        "ix_notifications_mail", "notifications", ["at", "id"], postgresql_where=NOT_SENT, sqlite_where=NOT_SENT
    )
    op.create_index("ix_attempts_user_round", "attempts", ["user_id", "round_id", "id"])
