"""Create the tables of evaluation and of boards."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_result_cache()
    _create_board_forks()
    _create_board_settings()
    _create_board_snapshots()
    _create_uploads()
    _create_cells()
    _create_variants()
    _create_cell_events()


def _create_result_cache() -> None:
    op.create_table(
        "result_cache",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_result_cache")),
    )


def _create_board_forks() -> None:
    op.create_table(
        "board_forks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("view", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_board_forks_task_id_tasks")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_board_forks_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board_forks")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_board_forks_task_id_name")),
    )
    op.create_index(op.f("ix_board_forks_task_id"), "board_forks", ["task_id"], unique=False)
    op.create_index(op.f("ix_board_forks_user_id"), "board_forks", ["user_id"], unique=False)


def _create_board_settings() -> None:
    op.create_table(
        "board_settings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_board_settings_created_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_board_settings_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board_settings")),
    )
    op.create_index(op.f("ix_board_settings_task_id"), "board_settings", ["task_id"], unique=False)


def _create_board_snapshots() -> None:
    op.create_table(
        "board_snapshots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("blob", sa.String(length=80), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_board_snapshots_created_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_board_snapshots_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_board_snapshots")),
        sa.UniqueConstraint("hash", name=op.f("uq_board_snapshots_hash")),
    )
    op.create_index(op.f("ix_board_snapshots_task_id"), "board_snapshots", ["task_id"], unique=False)


def _create_uploads() -> None:
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("received", sa.Integer(), nullable=False),
        sa.Column("blob", sa.String(length=80), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_uploads_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uploads")),
    )
    op.create_index(op.f("ix_uploads_user_id"), "uploads", ["user_id"], unique=False)


def _create_cells() -> None:
    op.create_table(
        "cells",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=False),
        sa.Column("dataset_version_id", sa.Integer(), nullable=False),
        sa.Column("variant", sa.String(length=80), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=120), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("predictions", sa.String(length=80), nullable=True),
        sa.Column("measurements", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["dataset_version_id"], ["dataset_versions.id"], name=op.f("fk_cells_dataset_version_id_dataset_versions")
        ),
        sa.ForeignKeyConstraint(
            ["model_version_id"], ["model_versions.id"], name=op.f("fk_cells_model_version_id_model_versions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cells")),
        sa.UniqueConstraint(
            "model_version_id",
            "dataset_version_id",
            "variant",
            name=op.f("uq_cells_model_version_id_dataset_version_id_variant"),
        ),
    )
    op.create_index(op.f("ix_cells_dataset_version_id"), "cells", ["dataset_version_id"], unique=False)
    op.create_index(op.f("ix_cells_model_version_id"), "cells", ["model_version_id"], unique=False)
    op.create_index("ix_cells_state_lease_until", "cells", ["state", "lease_until"], unique=False)


def _create_variants() -> None:
    op.create_table(
        "variants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_version_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("blob", sa.String(length=80), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_version_id"],
            ["dataset_versions.id"],
            name=op.f("fk_variants_dataset_version_id_dataset_versions"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_variants")),
        sa.UniqueConstraint("dataset_version_id", "name", name=op.f("uq_variants_dataset_version_id_name")),
    )
    op.create_index(op.f("ix_variants_dataset_version_id"), "variants", ["dataset_version_id"], unique=False)


def _create_cell_events() -> None:
    op.create_table(
        "cell_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("cell_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["cell_id"], ["cells.id"], name=op.f("fk_cell_events_cell_id_cells")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cell_events")),
    )
    op.create_index(op.f("ix_cell_events_cell_id"), "cell_events", ["cell_id"], unique=False)
