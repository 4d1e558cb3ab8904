"""How models stand against people on released rounds, and by what margin."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_parity_margins()
    _create_round_standings()


def _create_parity_margins() -> None:
    op.create_table(
        "parity_margins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("margin", sa.Double(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_parity_margins_created_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_parity_margins_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_parity_margins")),
    )
    op.create_index(op.f("ix_parity_margins_created_by"), "parity_margins", ["created_by"], unique=False)
    op.create_index(op.f("ix_parity_margins_task_id"), "parity_margins", ["task_id"], unique=False)


def _create_round_standings() -> None:
    op.create_table(
        "round_standings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("release_id", sa.Integer(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=False),
        sa.Column("predictions", sa.String(length=80), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("low", sa.Double(), nullable=True),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("signalled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["model_version_id"], ["model_versions.id"], name=op.f("fk_round_standings_model_version_id_model_versions")
        ),
        sa.ForeignKeyConstraint(["release_id"], ["releases.id"], name=op.f("fk_round_standings_release_id_releases")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round_standings")),
        sa.UniqueConstraint(
            "release_id", "model_version_id", name=op.f("uq_round_standings_release_id_model_version_id")
        ),
    )
    op.create_index(op.f("ix_round_standings_model_version_id"), "round_standings", ["model_version_id"], unique=False)
