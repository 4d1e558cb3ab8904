"""Automatic searches for pairs of a contest, and what they propose."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_contest_searches()
    _create_contest_proposals()


def _create_contest_searches() -> None:
    op.create_table(
        "contest_searches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("contest_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_contest_searches_contest_id_contests")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_contest_searches_created_by_users")),
        sa.ForeignKeyConstraint(
            ["model_version_id"],
            ["model_versions.id"],
            name=op.f("fk_contest_searches_model_version_id_model_versions"),
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["contest_teams.id"], name=op.f("fk_contest_searches_team_id_contest_teams")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_searches")),
    )
    op.create_index(op.f("ix_contest_searches_contest_id"), "contest_searches", ["contest_id"], unique=False)
    op.create_index(op.f("ix_contest_searches_created_by"), "contest_searches", ["created_by"], unique=False)
    op.create_index(op.f("ix_contest_searches_team_id"), "contest_searches", ["team_id"], unique=False)


def _create_contest_proposals() -> None:
    op.create_table(
        "contest_proposals",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("search_id", sa.Integer(), nullable=False),
        sa.Column("original", sa.JSON(), nullable=False),
        sa.Column("modified", sa.JSON(), nullable=False),
        sa.Column("modified_hash", sa.String(length=64), nullable=False),
        sa.Column("gold", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("was", sa.Text(), nullable=False),
        sa.Column("says", sa.Text(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("decision", sa.String(length=8), nullable=False),
        sa.Column("pair", sa.String(length=80), nullable=False),
        sa.Column("decided_by", sa.Integer(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["decided_by"], ["users.id"], name=op.f("fk_contest_proposals_decided_by_users")),
        sa.ForeignKeyConstraint(
            ["search_id"], ["contest_searches.id"], name=op.f("fk_contest_proposals_search_id_contest_searches")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_proposals")),
        sa.UniqueConstraint("search_id", "modified_hash", name=op.f("uq_contest_proposals_search_id_modified_hash")),
    )
    op.create_index(op.f("ix_contest_proposals_decided_by"), "contest_proposals", ["decided_by"], unique=False)
    op.create_index(op.f("ix_contest_proposals_search_id"), "contest_proposals", ["search_id"], unique=False)
