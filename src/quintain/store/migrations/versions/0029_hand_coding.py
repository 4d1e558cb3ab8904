"""Hand coding: samples, places to code them in, and what people said."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_codings()
    _create_coding_items()
    _create_coding_places()
    _create_coding_codes()


def _create_codings() -> None:
    op.create_table(
        "codings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("figures", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("figured", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_codings_created_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_codings_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_codings")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_codings_task_id_name")),
    )
    op.create_index(op.f("ix_codings_task_id"), "codings", ["task_id"], unique=False)


def _create_coding_items() -> None:
    op.create_table(
        "coding_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("coding_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("arm", sa.String(length=200), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("answer", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("alike", sa.JSON(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("draw", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_coding_items_author_id_users")),
        sa.ForeignKeyConstraint(["coding_id"], ["codings.id"], name=op.f("fk_coding_items_coding_id_codings")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_coding_items")),
        sa.UniqueConstraint("coding_id", "arm", "key", name=op.f("uq_coding_items_coding_id_arm_key")),
    )
    op.create_index(op.f("ix_coding_items_author_id"), "coding_items", ["author_id"], unique=False)
    op.create_index("ix_coding_items_coding_draw", "coding_items", ["coding_id", "draw"], unique=False)


def _create_coding_places() -> None:
    op.create_table(
        "coding_places",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("coding_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("holder_id", sa.Integer(), nullable=True),
        sa.Column("held_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["coding_id"], ["codings.id"], name=op.f("fk_coding_places_coding_id_codings")),
        sa.ForeignKeyConstraint(["holder_id"], ["users.id"], name=op.f("fk_coding_places_holder_id_users")),
        sa.ForeignKeyConstraint(["item_id"], ["coding_items.id"], name=op.f("fk_coding_places_item_id_coding_items")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_coding_places")),
        sa.UniqueConstraint("item_id", "turn", name=op.f("uq_coding_places_item_id_turn")),
    )
    op.create_index("ix_coding_places_coding_done_turn", "coding_places", ["coding_id", "done", "turn"], unique=False)
    op.create_index("ix_coding_places_coding_holder", "coding_places", ["coding_id", "holder_id"], unique=False)
    op.create_index(op.f("ix_coding_places_holder_id"), "coding_places", ["holder_id"], unique=False)


def _create_coding_codes() -> None:
    op.create_table(
        "coding_codes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("place_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("categories", sa.JSON(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["place_id"], ["coding_places.id"], name=op.f("fk_coding_codes_place_id_coding_places")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_coding_codes_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_coding_codes")),
    )
    op.create_index(op.f("ix_coding_codes_place_id"), "coding_codes", ["place_id"], unique=False)
    op.create_index(op.f("ix_coding_codes_user_id"), "coding_codes", ["user_id"], unique=False)
