"""Measure again what was measured by the models' own clocks: those figures cannot be trusted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Queue the finished measurements of models that have not been withdrawn, and drop the figures of the others."""
    versions = sa.table("model_versions", sa.column("id"), sa.column("withdrawn_at"))
    cells = sa.table(
        "cells",
        sa.column("model_version_id"),
        sa.column("variant"),
        sa.column("state"),
        sa.column("attempts"),
        sa.column("done"),
        sa.column("lease_until"),
        sa.column("finished_at"),
        sa.column("measurements", sa.JSON()),
    )
    measured = (cells.c.variant == "measure") & (cells.c.state == "done")
    live = sa.select(versions.c.id).where(versions.c.withdrawn_at.is_(None))
    op.execute(sa.update(cells).where(measured).values(measurements={}))
    op.execute(
        sa.update(cells)
        .where(measured, cells.c.model_version_id.in_(live))
        .values(state="queued", attempts=0, done=0, lease_until=None, finished_at=None)
    )
