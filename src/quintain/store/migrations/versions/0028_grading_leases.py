"""Leases of grading, panels and consent of trials; messages and letters as templates with values."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the leases, and add what messages, letters, members and trials know besides."""
    _create_crowd_leases()
    for table, column in (("crowd_trials", "entry"), ("crowd_letters", "said")):
        op.add_column(table, sa.Column(column, sa.JSON(none_as_null=True), nullable=True))
    for column in ("said", "more"):
        op.add_column("notifications", sa.Column(column, sa.JSON(none_as_null=True), nullable=True))
    op.add_column("crowd_letters", sa.Column("answer", sa.Text(), nullable=True))
    op.add_column("crowd_members", sa.Column("consent", sa.String(length=64), nullable=True))


def _create_crowd_leases() -> None:
    op.create_table(
        "crowd_leases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("item", sa.String(length=40), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["arm_id"], ["crowd_arms.id"], name=op.f("fk_crowd_leases_arm_id_crowd_arms")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_crowd_leases_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crowd_leases")),
        sa.UniqueConstraint(
            "arm_id", "stage", "item", "user_id", name=op.f("uq_crowd_leases_arm_id_stage_item_user_id")
        ),
    )
    op.create_index(op.f("ix_crowd_leases_user_id"), "crowd_leases", ["user_id"], unique=False)
