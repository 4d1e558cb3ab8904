"""Accounts, tasks, the audit log, and what workers of the server do: as they were at revision 0041."""

from __future__ import annotations

import sqlalchemy as sa

from quintain.store.baseline.partial import partial_index


def add_tables(tables: sa.MetaData) -> None:
    """Add the tables to *tables*, those that others point to first."""
    sa.Table(
        "count_tails",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("scope", sa.String(80), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("change", sa.BigInteger, nullable=False),
        sa.Index("ix_count_tails_count", "scope", "name", "change"),
    )
    sa.Table(
        "kept_counts",
        tables,
        sa.Column("scope", sa.String(80), primary_key=True),
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("count", sa.BigInteger, nullable=False),
    )
    sa.Table(
        "kept_figures",
        tables,
        sa.Column("kind", sa.String(60), primary_key=True),
        sa.Column("subject", sa.String(255), primary_key=True),
        sa.Column("basis", sa.String(255), nullable=False),
        sa.Column("value", sa.JSON, nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Double, nullable=False),
    )
    sa.Table(
        "signing_keys",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("key_id", sa.String(32), nullable=False, unique=True),
        sa.Column("public", sa.String(64), nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("replaced_at", sa.DateTime(timezone=True)),
    )
    sa.Table(
        "tasks",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(80), nullable=False, unique=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("archived_at", sa.DateTime(timezone=True)),
    )
    sa.Table(
        "throttles",
        tables,
        sa.Column("key", sa.String(200), primary_key=True),
        sa.Column("window", sa.BigInteger, primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
    )
    sa.Table(
        "users",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(80), nullable=False, unique=True),
        sa.Column("display_name", sa.String(120), nullable=False),
        sa.Column("email", sa.String(254), unique=True),
        sa.Column("password_hash", sa.String(255)),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("email_notifications", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True)),
    )
    sa.Table(
        "api_tokens",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("hint", sa.String(12), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True)),
        sa.Column("used_at", sa.DateTime(timezone=True)),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
    )
    sa.Table(
        "audit",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, index=True),
        sa.Column("actor_id", sa.ForeignKey("users.id"), index=True),
        sa.Column("actor", sa.String(80), nullable=False),
        sa.Column("action", sa.String(80), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("details", sa.JSON, nullable=False),
        sa.Index("ix_audit_action_id", "action", "id"),
        sa.Index("ix_audit_subject_id", "subject", "id"),
    )
    sa.Table(
        "jobs",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("kind", sa.String(60), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("task", sa.String(80), nullable=False),
        sa.Column("params", sa.JSON, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("asked_by", sa.ForeignKey("users.id"), index=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True)),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("worker", sa.String(120)),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True)),
        sa.Column("done", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("checkpoint", sa.JSON, nullable=False),
        sa.Column("result", sa.JSON, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Index("ix_jobs_kind_subject", "kind", "subject", "id"),
        sa.Index("ix_jobs_state", "state", "id"),
        partial_index("uq_jobs_waiting", "kind", "subject", where="state = 'queued'", unique=True),
    )
    sa.Table(
        "notifications",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("url", sa.String(300), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True)),
        sa.Column("emailed_at", sa.DateTime(timezone=True)),
        sa.Column("said", sa.JSON),
        sa.Column("more", sa.JSON),
        partial_index("ix_notifications_mail", "at", "id", where="emailed_at IS NULL"),
    )
    sa.Table(
        "one_time_links",
        tables,
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("purpose", sa.String(20), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True)),
    )
    sa.Table(
        "role_grants",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("task_id", sa.ForeignKey("tasks.id")),
        sa.Column("granted_by", sa.ForeignKey("users.id")),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True)),
        sa.Index("ix_role_grants_role", "role", "task_id", "user_id"),
    )
    sa.Table(
        "task_versions",
        tables,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("task_id", sa.ForeignKey("tasks.id"), nullable=False, index=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("toml", sa.Text, nullable=False),
        sa.Column("created_by", sa.ForeignKey("users.id")),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("task_id", "number"),
    )
    sa.Table(
        "web_sessions",
        tables,
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("csrf", sa.String(64), nullable=False),
        sa.Column("user_agent", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    )
