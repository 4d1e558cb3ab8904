"""Contrast projects: pivots, variants, checks, looks at models."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_contrast_projects()
    _create_contrast_pivots()
    _create_contrast_looks()
    _create_contrast_variants()
    _create_contrast_checks()


def _create_contrast_projects() -> None:
    op.create_table(
        "contrast_projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("dataset_version_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_contrast_projects_created_by_users")),
        sa.ForeignKeyConstraint(
            ["dataset_version_id"],
            ["dataset_versions.id"],
            name=op.f("fk_contrast_projects_dataset_version_id_dataset_versions"),
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_contrast_projects_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contrast_projects")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_contrast_projects_task_id_name")),
    )
    op.create_index(op.f("ix_contrast_projects_task_id"), "contrast_projects", ["task_id"], unique=False)


def _create_contrast_pivots() -> None:
    op.create_table(
        "contrast_pivots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("example", sa.String(length=64), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("draw", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("holder_id", sa.Integer(), nullable=True),
        sa.Column("held_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["holder_id"], ["users.id"], name=op.f("fk_contrast_pivots_holder_id_users")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["contrast_projects.id"], name=op.f("fk_contrast_pivots_project_id_contrast_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contrast_pivots")),
        sa.UniqueConstraint("project_id", "example", name=op.f("uq_contrast_pivots_project_id_example")),
    )
    op.create_index("ix_contrast_pivots_project_holder", "contrast_pivots", ["project_id", "holder_id"], unique=False)
    op.create_index(
        "ix_contrast_pivots_project_state_draw", "contrast_pivots", ["project_id", "state", "draw"], unique=False
    )


def _create_contrast_looks() -> None:
    op.create_table(
        "contrast_looks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pivot_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_version_id"], ["model_versions.id"], name=op.f("fk_contrast_looks_model_version_id_model_versions")
        ),
        sa.ForeignKeyConstraint(
            ["pivot_id"], ["contrast_pivots.id"], name=op.f("fk_contrast_looks_pivot_id_contrast_pivots")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_contrast_looks_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contrast_looks")),
    )
    op.create_index(op.f("ix_contrast_looks_pivot_id"), "contrast_looks", ["pivot_id"], unique=False)
    op.create_index(op.f("ix_contrast_looks_user_id"), "contrast_looks", ["user_id"], unique=False)


def _create_contrast_variants() -> None:
    op.create_table(
        "contrast_variants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("pivot_id", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("settled", sa.JSON(), nullable=True),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("keeps_label", sa.Boolean(), nullable=False),
        sa.Column("draft", sa.String(length=200), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("holder_id", sa.Integer(), nullable=True),
        sa.Column("held_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_contrast_variants_author_id_users")),
        sa.ForeignKeyConstraint(["holder_id"], ["users.id"], name=op.f("fk_contrast_variants_holder_id_users")),
        sa.ForeignKeyConstraint(
            ["pivot_id"], ["contrast_pivots.id"], name=op.f("fk_contrast_variants_pivot_id_contrast_pivots")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["contrast_projects.id"], name=op.f("fk_contrast_variants_project_id_contrast_projects")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contrast_variants")),
    )
    op.create_index(op.f("ix_contrast_variants_author_id"), "contrast_variants", ["author_id"], unique=False)
    op.create_index(op.f("ix_contrast_variants_pivot_id"), "contrast_variants", ["pivot_id"], unique=False)
    op.create_index("ix_contrast_variants_project_hash", "contrast_variants", ["project_id", "hash"], unique=False)
    op.create_index(
        "ix_contrast_variants_project_state", "contrast_variants", ["project_id", "state", "id"], unique=False
    )


def _create_contrast_checks() -> None:
    op.create_table(
        "contrast_checks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("variant_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("agrees", sa.Boolean(), nullable=False),
        sa.Column("minimal", sa.Boolean(), nullable=False),
        sa.Column("sound", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("adjudicates", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_contrast_checks_user_id_users")),
        sa.ForeignKeyConstraint(
            ["variant_id"], ["contrast_variants.id"], name=op.f("fk_contrast_checks_variant_id_contrast_variants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contrast_checks")),
        sa.UniqueConstraint("variant_id", "user_id", name=op.f("uq_contrast_checks_variant_id_user_id")),
    )
    op.create_index(op.f("ix_contrast_checks_user_id"), "contrast_checks", ["user_id"], unique=False)
    op.create_index(op.f("ix_contrast_checks_variant_id"), "contrast_checks", ["variant_id"], unique=False)
