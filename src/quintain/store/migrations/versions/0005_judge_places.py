"""Where judges are in the order of open slots, and indexes for what came back and what is new."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

CAME_BACK = sa.text("state = 'open' AND generation > 0")


def upgrade() -> None:
    """Create the table and the indexes."""
    _create_judge_places()
    op.create_index("ix_validation_items_newest", "validation_items", ["validation_id", "id"], unique=False)
    op.create_index(
        "ix_validation_slots_came_back",
        "validation_slots",
        ["validation_id", "batch", "rank", "draw"],
        unique=False,
        postgresql_where=CAME_BACK,
        sqlite_where=CAME_BACK,
    )


def _create_judge_places() -> None:
    op.create_table(
        "judge_places",
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("draw", sa.BigInteger(), nullable=False),
        sa.Column("newest", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judge_places_user_id_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_judge_places_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("validation_id", "user_id", name=op.f("pk_judge_places")),
    )
    op.create_index(op.f("ix_judge_places_user_id"), "judge_places", ["user_id"], unique=False)
