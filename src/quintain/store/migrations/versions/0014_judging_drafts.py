"""Answers that are saved before a page is handed in, reviews that are due, and who judged lately."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables and the index."""
    _create_judging_drafts()
    op.create_table(
        "due_reviews",
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_due_reviews_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("validation_id", "batch", name=op.f("pk_due_reviews")),
    )
    op.create_index("ix_judging_pages_started", "judging_pages", ["validation_id", "started_at"], unique=False)


def _create_judging_drafts() -> None:
    op.create_table(
        "judging_drafts",
        sa.Column("offer_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(length=80), nullable=True),
        sa.Column("skip", sa.Text(), nullable=True),
        sa.Column("flag", sa.Text(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["offer_id"], ["judging_offers.id"], name=op.f("fk_judging_drafts_offer_id_judging_offers")
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["judging_pages.id"], name=op.f("fk_judging_drafts_page_id_judging_pages")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judging_drafts_user_id_users")),
        sa.PrimaryKeyConstraint("offer_id", name=op.f("pk_judging_drafts")),
    )
    op.create_index(op.f("ix_judging_drafts_page_id"), "judging_drafts", ["page_id"], unique=False)
    op.create_index(op.f("ix_judging_drafts_user_id"), "judging_drafts", ["user_id"], unique=False)
