"""Let charges stand for what is asked outside of runs, which belongs to no cell."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Allow charges without a cell, and without a model version."""
    with op.batch_alter_table("charges") as batch:
        batch.alter_column("model_version_id", existing_type=sa.Integer(), nullable=True)
        batch.alter_column("cell_id", existing_type=sa.Integer(), nullable=True)
