"""Cells say what they wait for; what failed through no fault of its model is tried again by the newer version."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

PLATFORM = "failed through no fault of the model%"


def upgrade() -> None:
    """Add the column, and queue the cells again that the platform failed."""
    with op.batch_alter_table("cells") as table:
        table.add_column(sa.Column("waits_for", sa.String(20), nullable=False, server_default=""))
    cells = sa.table(
        "cells",
        *(sa.column(name) for name in ("state", "reason", "attempts", "lease_until", "finished_at")),
    )
    op.execute(
        cells.update()
        .where(cells.c.state == "failed", cells.c.reason.like(PLATFORM))
        .values(state="queued", attempts=0, lease_until=None, finished_at=None)
    )
