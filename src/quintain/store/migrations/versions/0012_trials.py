"""Submitted models are tried on a few examples before they are run."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "trials",
        sa.Column("version_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=120), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("log", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["version_id"], ["model_versions.id"], name=op.f("fk_trials_version_id_model_versions")
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_trials")),
    )
    op.create_index(op.f("ix_trials_state"), "trials", ["state"], unique=False)
