"""Contests: teams, systems, pairs, and how labels were settled."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_contests()
    _create_contest_teams()
    _create_contest_versions()
    _create_contest_members()
    _create_contest_pairs()
    _create_contest_systems()
    _create_contest_answers()
    _create_contest_disputes()
    _create_contest_judgements()
    _create_contest_rulings()


def _create_contests() -> None:
    op.create_table(
        "contests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("pairs_version_id", sa.Integer(), nullable=True),
        sa.Column("frozen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_contests_created_by_users")),
        sa.ForeignKeyConstraint(
            ["pairs_version_id"], ["dataset_versions.id"], name=op.f("fk_contests_pairs_version_id_dataset_versions")
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_contests_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contests")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_contests_task_id_name")),
    )
    op.create_index(op.f("ix_contests_created_by"), "contests", ["created_by"], unique=False)
    op.create_index(op.f("ix_contests_task_id"), "contests", ["task_id"], unique=False)


def _create_contest_teams() -> None:
    op.create_table(
        "contest_teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("contest_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_contest_teams_contest_id_contests")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_contest_teams_created_by_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_teams")),
        sa.UniqueConstraint("contest_id", "name", name=op.f("uq_contest_teams_contest_id_name")),
    )
    op.create_index(op.f("ix_contest_teams_contest_id"), "contest_teams", ["contest_id"], unique=False)
    op.create_index(op.f("ix_contest_teams_created_by"), "contest_teams", ["created_by"], unique=False)


def _create_contest_versions() -> None:
    op.create_table(
        "contest_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("contest_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_contest_versions_contest_id_contests")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_contest_versions_created_by_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_versions")),
        sa.UniqueConstraint("contest_id", "number", name=op.f("uq_contest_versions_contest_id_number")),
    )
    op.create_index(op.f("ix_contest_versions_contest_id"), "contest_versions", ["contest_id"], unique=False)
    op.create_index(op.f("ix_contest_versions_created_by"), "contest_versions", ["created_by"], unique=False)


def _create_contest_members() -> None:
    op.create_table(
        "contest_members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("contest_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_contest_members_contest_id_contests")),
        sa.ForeignKeyConstraint(
            ["team_id"], ["contest_teams.id"], name=op.f("fk_contest_members_team_id_contest_teams")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_contest_members_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_members")),
        sa.UniqueConstraint("contest_id", "user_id", name=op.f("uq_contest_members_contest_id_user_id")),
    )
    op.create_index(op.f("ix_contest_members_team_id"), "contest_members", ["team_id"], unique=False)
    op.create_index(op.f("ix_contest_members_user_id"), "contest_members", ["user_id"], unique=False)


def _create_contest_pairs() -> None:
    op.create_table(
        "contest_pairs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("contest_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("original_id", sa.String(length=64), nullable=True),
        sa.Column("original", sa.JSON(), nullable=False),
        sa.Column("modified", sa.JSON(), nullable=False),
        sa.Column("original_hash", sa.String(length=64), nullable=False),
        sa.Column("modified_hash", sa.String(length=64), nullable=False),
        sa.Column("original_gold", sa.JSON(), nullable=False),
        sa.Column("modified_gold", sa.JSON(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("strategy", sa.String(length=80), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_contest_pairs_author_id_users")),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_contest_pairs_contest_id_contests")),
        sa.ForeignKeyConstraint(["team_id"], ["contest_teams.id"], name=op.f("fk_contest_pairs_team_id_contest_teams")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_pairs")),
        sa.UniqueConstraint("team_id", "name", name=op.f("uq_contest_pairs_team_id_name")),
    )
    op.create_index(op.f("ix_contest_pairs_author_id"), "contest_pairs", ["author_id"], unique=False)
    op.create_index(op.f("ix_contest_pairs_contest_id"), "contest_pairs", ["contest_id"], unique=False)


def _create_contest_systems() -> None:
    op.create_table(
        "contest_systems",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("contest_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("alias", sa.Integer(), nullable=False),
        sa.Column("reference", sa.Boolean(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_contest_systems_contest_id_contests")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_contest_systems_created_by_users")),
        sa.ForeignKeyConstraint(
            ["model_version_id"], ["model_versions.id"], name=op.f("fk_contest_systems_model_version_id_model_versions")
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["contest_teams.id"], name=op.f("fk_contest_systems_team_id_contest_teams")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_systems")),
        sa.UniqueConstraint("contest_id", "alias", name=op.f("uq_contest_systems_contest_id_alias")),
        sa.UniqueConstraint("contest_id", "name", name=op.f("uq_contest_systems_contest_id_name")),
    )
    op.create_index(op.f("ix_contest_systems_created_by"), "contest_systems", ["created_by"], unique=False)
    op.create_index(op.f("ix_contest_systems_team_id"), "contest_systems", ["team_id"], unique=False)


def _create_contest_answers() -> None:
    op.create_table(
        "contest_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(length=8), nullable=False),
        sa.Column("blob", sa.String(length=80), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_contest_answers_created_by_users")),
        sa.ForeignKeyConstraint(
            ["system_id"], ["contest_systems.id"], name=op.f("fk_contest_answers_system_id_contest_systems")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_answers")),
    )
    op.create_index(op.f("ix_contest_answers_created_by"), "contest_answers", ["created_by"], unique=False)
    op.create_index("ix_contest_answers_system_id_part", "contest_answers", ["system_id", "part"], unique=False)


def _create_contest_disputes() -> None:
    op.create_table(
        "contest_disputes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["pair_id"], ["contest_pairs.id"], name=op.f("fk_contest_disputes_pair_id_contest_pairs")
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["contest_teams.id"], name=op.f("fk_contest_disputes_team_id_contest_teams")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_contest_disputes_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_disputes")),
    )
    op.create_index(op.f("ix_contest_disputes_pair_id"), "contest_disputes", ["pair_id"], unique=False)
    op.create_index(op.f("ix_contest_disputes_user_id"), "contest_disputes", ["user_id"], unique=False)


def _create_contest_judgements() -> None:
    op.create_table(
        "contest_judgements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("original_label", sa.JSON(), nullable=False),
        sa.Column("modified_label", sa.JSON(), nullable=False),
        sa.Column("minimal", sa.Boolean(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["pair_id"], ["contest_pairs.id"], name=op.f("fk_contest_judgements_pair_id_contest_pairs")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_contest_judgements_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_judgements")),
        sa.UniqueConstraint("pair_id", "user_id", name=op.f("uq_contest_judgements_pair_id_user_id")),
    )
    op.create_index(op.f("ix_contest_judgements_user_id"), "contest_judgements", ["user_id"], unique=False)


def _create_contest_rulings() -> None:
    op.create_table(
        "contest_rulings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("decision", sa.String(length=8), nullable=False),
        sa.Column("original_label", sa.JSON(), nullable=False),
        sa.Column("modified_label", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_contest_rulings_created_by_users")),
        sa.ForeignKeyConstraint(
            ["pair_id"], ["contest_pairs.id"], name=op.f("fk_contest_rulings_pair_id_contest_pairs")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_rulings")),
    )
    op.create_index(op.f("ix_contest_rulings_created_by"), "contest_rulings", ["created_by"], unique=False)
    op.create_index(op.f("ix_contest_rulings_pair_id"), "contest_rulings", ["pair_id"], unique=False)
