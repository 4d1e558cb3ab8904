"""Releases of validations, and the rating of the review that an item is from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, and give the items their column."""
    op.add_column("validation_items", sa.Column("source", sa.JSON(), nullable=False, server_default="{}"))
    op.create_table(
        "releases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_releases_created_by_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_releases_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_releases")),
        sa.UniqueConstraint("validation_id", "number", name=op.f("uq_releases_validation_id_number")),
    )
    op.create_index(op.f("ix_releases_created_by"), "releases", ["created_by"])
    op.create_table(
        "release_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("release_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("split", sa.String(length=12), nullable=False),
        sa.ForeignKeyConstraint(["release_id"], ["releases.id"], name=op.f("fk_release_versions_release_id_releases")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["dataset_versions.id"], name=op.f("fk_release_versions_version_id_dataset_versions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release_versions")),
        sa.UniqueConstraint("release_id", "split", name=op.f("uq_release_versions_release_id_split")),
    )
    op.create_index(op.f("ix_release_versions_version_id"), "release_versions", ["version_id"])
