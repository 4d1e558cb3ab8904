"""What owners answer in datasheets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_datasheet_answers()


def _create_datasheet_answers() -> None:
    op.create_table(
        "datasheet_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["users.id"], name=op.f("fk_datasheet_answers_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_datasheet_answers_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_datasheet_answers")),
    )
    op.create_index(op.f("ix_datasheet_answers_by"), "datasheet_answers", ["by"], unique=False)
    op.create_index(op.f("ix_datasheet_answers_task_id"), "datasheet_answers", ["task_id"], unique=False)
