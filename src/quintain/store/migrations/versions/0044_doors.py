"""Browsers by which people come from panels, requests at doors, owners' words, and who is confirmed.

People who came before keep being paid as they were: they are marked as confirmed before there was such a thing.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quintain.store.base import UtcTime

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, and add what is known of people."""
    _add_columns()
    op.create_table(
        "panel_devices",
        sa.Column("device", sa.String(64), nullable=False),
        _user("panel_devices", "user_id", nullable=False),
        sa.Column("proven", sa.Boolean(), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("device", "user_id", name=op.f("pk_panel_devices")),
    )
    op.create_index(op.f("ix_panel_devices_user_id"), "panel_devices", ["user_id"])
    op.create_table(
        "panel_words",
        _task("panel_words"),
        _user("panel_words", "user_id", nullable=False),
        _user("panel_words", "by", nullable=True),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.PrimaryKeyConstraint("task_id", "user_id", name=op.f("pk_panel_words")),
    )
    op.create_index(op.f("ix_panel_words_user_id"), "panel_words", ["user_id"])
    op.create_index(op.f("ix_panel_words_by"), "panel_words", ["by"])
    op.create_table(
        "panel_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        _task("panel_requests"),
        _user("panel_requests", "user_id", nullable=False),
        sa.Column("device", sa.String(64), nullable=False),
        sa.Column("way", sa.String(8), nullable=False),
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("created_at", UtcTime(), nullable=False),
        sa.Column("expires_at", UtcTime(), nullable=False),
        _user("panel_requests", "decided_by", nullable=True),
        sa.Column("decided_at", UtcTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_panel_requests")),
    )
    op.create_index("ix_panel_requests_task_state", "panel_requests", ["task_id", "state"])
    op.create_index(op.f("ix_panel_requests_user_id"), "panel_requests", ["user_id"])
    op.create_index(op.f("ix_panel_requests_decided_by"), "panel_requests", ["decided_by"])


def _add_columns() -> None:
    op.add_column("panel_people", sa.Column("source", sa.String(32), nullable=False, server_default=""))
    op.add_column("panel_people", sa.Column("confirmed_at", UtcTime(), nullable=True))
    op.add_column("panel_people", sa.Column("confirmed_by", sa.String(8), nullable=False, server_default=""))
    op.create_index(op.f("ix_panel_people_source"), "panel_people", ["source"])
    op.execute("UPDATE panel_people SET confirmed_at = created_at, confirmed_by = 'before'")


def _user(table: str, name: str, *, nullable: bool) -> sa.Column[int]:
    key = sa.ForeignKey("users.id", name=op.f(f"fk_{table}_{name}_users"))
    return sa.Column(name, sa.Integer(), key, autoincrement=False, nullable=nullable)


def _task(table: str) -> sa.Column[int]:
    key = sa.ForeignKey("tasks.id", name=op.f(f"fk_{table}_task_id_tasks"))
    return sa.Column("task_id", sa.Integer(), key, autoincrement=False, nullable=False)
