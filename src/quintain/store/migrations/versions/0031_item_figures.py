"""What became of each judged item, as a table that lists page through; what figures of a validation rest on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; the rows follow when somebody looks, or a worker counts."""
    op.add_column("validations", sa.Column("revision", sa.Integer(), server_default="0", nullable=False))
    op.create_index("ix_judge_standings_newest", "judge_standings", ["validation_id", "id"])
    op.create_index("ix_attempts_round_newest", "attempts", ["round_id", "id"])
    op.create_table(
        "item_figures",
        sa.Column("item_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("contested", sa.Boolean(), nullable=False),
        sa.Column("label", sa.String(length=80), nullable=True),
        sa.Column("judgements", sa.Integer(), nullable=False),
        sa.Column("share", sa.Double(), nullable=True),
        sa.Column("sureness", sa.Double(), nullable=False),
        sa.Column("by_expert", sa.Boolean(), nullable=False),
        sa.Column("votes", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["validation_items.id"], name=op.f("fk_item_figures_item_id_validation_items")
        ),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_item_figures_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_item_figures")),
    )
    rest = ["item_id", "state", "label", "contested"]
    op.create_index(
        "ix_item_figures_state", "item_figures", ["validation_id", "state", "item_id", "label", "contested"]
    )
    op.create_index("ix_item_figures_share", "item_figures", ["validation_id", "share", *rest])
    op.create_index("ix_item_figures_judgements", "item_figures", ["validation_id", "judgements", *rest])
    op.create_index(
        "ix_item_figures_label", "item_figures", ["validation_id", "label", "item_id", "state", "contested"]
    )
    contested = sa.text("contested")
    op.create_index(
        "ix_item_figures_contested",
        "item_figures",
        ["validation_id", "sureness", "item_id"],
        sqlite_where=contested,
        postgresql_where=contested,
    )
