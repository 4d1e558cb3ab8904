"""Contests, their teams, pairs and rulings: as they were at revision 0041."""

from __future__ import annotations

import sqlalchemy as sa


def add_tables(tables: sa.MetaData) -> None:
    """Add the tables to *tables*, those that others point to first."""
    sa.Table(
        "contests",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("task_id", sa.ForeignKey("tasks.id"), nullable=False, index=True),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("pairs_version_id", sa.ForeignKey("dataset_versions.id")),
        sa.Column("frozen_at", sa.DateTime(timezone=True)),
        sa.Column("created_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("task_id", "name"),
    )
    sa.Table(
        "contest_teams",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("contest_id", sa.ForeignKey("contests.id"), nullable=False, index=True),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("role", sa.String(10), nullable=False),
        sa.Column("key", sa.String(40), nullable=False),
        sa.Column("created_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("contest_id", "name"),
    )
    sa.Table(
        "contest_versions",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("contest_id", sa.ForeignKey("contests.id"), nullable=False, index=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("toml", sa.Text, nullable=False),
        sa.Column("created_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("contest_id", "number"),
    )
    sa.Table(
        "contest_members",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("contest_id", sa.ForeignKey("contests.id"), nullable=False),
        sa.Column("team_id", sa.ForeignKey("contest_teams.id"), nullable=False, index=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("contest_id", "user_id"),
    )
    sa.Table(
        "contest_pairs",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("contest_id", sa.ForeignKey("contests.id"), nullable=False, index=True),
        sa.Column("team_id", sa.ForeignKey("contest_teams.id"), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("original_id", sa.String(64)),
        sa.Column("original", sa.JSON, nullable=False),
        sa.Column("modified", sa.JSON, nullable=False),
        sa.Column("original_hash", sa.String(64), nullable=False),
        sa.Column("modified_hash", sa.String(64), nullable=False),
        sa.Column("original_gold", sa.JSON, nullable=False),
        sa.Column("modified_gold", sa.JSON, nullable=False),
        sa.Column("rationale", sa.Text, nullable=False),
        sa.Column("strategy", sa.String(80), nullable=False),
        sa.Column("tags", sa.JSON, nullable=False),
        sa.Column("words", sa.Integer, nullable=False),
        sa.Column("author_id", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("team_id", "name"),
    )
    sa.Table(
        "contest_systems",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("contest_id", sa.ForeignKey("contests.id"), nullable=False),
        sa.Column("team_id", sa.ForeignKey("contest_teams.id"), index=True),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("alias", sa.Integer, nullable=False),
        sa.Column("reference", sa.Boolean, nullable=False),
        sa.Column("counts", sa.Boolean, nullable=False),
        sa.Column("model_version_id", sa.ForeignKey("model_versions.id")),
        sa.Column("created_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("contest_id", "alias"),
        sa.UniqueConstraint("contest_id", "name"),
    )
    sa.Table(
        "contest_answers",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("system_id", sa.ForeignKey("contest_systems.id"), nullable=False),
        sa.Column("part", sa.String(8), nullable=False),
        sa.Column("blob", sa.String(80), nullable=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("created_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Index("ix_contest_answers_system_id_part", "system_id", "part"),
    )
    sa.Table(
        "contest_disputes",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("pair_id", sa.ForeignKey("contest_pairs.id"), nullable=False, index=True),
        sa.Column("team_id", sa.ForeignKey("contest_teams.id")),
        sa.Column("user_id", sa.ForeignKey("users.id"), index=True),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    sa.Table(
        "contest_judgements",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("pair_id", sa.ForeignKey("contest_pairs.id"), nullable=False),
        sa.Column("user_id", sa.ForeignKey("users.id"), index=True),
        sa.Column("original_label", sa.JSON, nullable=False),
        sa.Column("modified_label", sa.JSON, nullable=False),
        sa.Column("minimal", sa.Boolean),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("pair_id", "user_id"),
    )
    sa.Table(
        "contest_rulings",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("pair_id", sa.ForeignKey("contest_pairs.id"), nullable=False, index=True),
        sa.Column("decision", sa.String(8), nullable=False),
        sa.Column("original_label", sa.JSON, nullable=False),
        sa.Column("modified_label", sa.JSON, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
