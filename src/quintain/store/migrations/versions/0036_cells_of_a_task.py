"""An index for the list of a task's runs: counted and paged without reading the runs."""

from __future__ import annotations

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let the new index stand for the one that it begins with."""
    op.drop_index("ix_cells_dataset_version_id", "cells")
    op.create_index("ix_cells_dataset_state", "cells", ["dataset_version_id", "state", "model_version_id"])
