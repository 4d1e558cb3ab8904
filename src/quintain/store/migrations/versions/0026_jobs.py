"""Jobs that workers do outside of requests, and figures that follow from facts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=60), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("task", sa.String(length=80), nullable=False),
        sa.Column("params", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("asked_by", sa.Integer(), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("worker", sa.String(length=120), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("checkpoint", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["asked_by"], ["users.id"], name=op.f("fk_jobs_asked_by_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    waits = sa.text("state = 'queued'")
    op.create_index(
        "uq_jobs_waiting", "jobs", ["kind", "subject"], unique=True, sqlite_where=waits, postgresql_where=waits
    )
    op.create_index("ix_jobs_kind_subject", "jobs", ["kind", "subject", "id"])
    op.create_index("ix_jobs_state", "jobs", ["state", "id"])
    op.create_index(op.f("ix_jobs_asked_by"), "jobs", ["asked_by"])
    op.create_table(
        "kept_figures",
        sa.Column("kind", sa.String(length=60), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("basis", sa.String(length=255), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "subject", name=op.f("pk_kept_figures")),
    )
