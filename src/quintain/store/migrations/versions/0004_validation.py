"""Validation: items, slots, pages, judgements, and what is known of the judges."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_validations()
    _create_judge_standings()
    _create_judging_pages()
    _create_validation_policies()
    _create_validation_reviews()
    _create_judge_estimates()
    _create_validation_items()
    _create_adjudications()
    _create_validation_slots()
    _create_judging_offers()
    _create_judgements()
    _create_judging_notes()


def _create_validations() -> None:
    op.create_table(
        "validations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("taken_to", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_validations_created_by_users")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_validations_round_id_rounds")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_validations_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validations")),
        sa.UniqueConstraint("round_id", name=op.f("uq_validations_round_id")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_validations_task_id_name")),
    )
    op.create_index(op.f("ix_validations_task_id"), "validations", ["task_id"], unique=False)


def _create_judge_standings() -> None:
    op.create_table(
        "judge_standings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("qualified", sa.Boolean(), nullable=False),
        sa.Column("rule", sa.String(length=40), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("aside_through", sa.Integer(), nullable=False),
        sa.Column("by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["users.id"], name=op.f("fk_judge_standings_by_users")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judge_standings_user_id_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_judge_standings_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judge_standings")),
    )
    op.create_index(op.f("ix_judge_standings_by"), "judge_standings", ["by"], unique=False)
    op.create_index(op.f("ix_judge_standings_user_id"), "judge_standings", ["user_id"], unique=False)
    op.create_index("ix_judge_standings_validation_user", "judge_standings", ["validation_id", "user_id"], unique=False)


def _create_judging_pages() -> None:
    op.create_table(
        "judging_pages",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(length=12), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judging_pages_user_id_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_judging_pages_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judging_pages")),
        sa.UniqueConstraint("key", name=op.f("uq_judging_pages_key")),
    )
    op.create_index(op.f("ix_judging_pages_user_id"), "judging_pages", ["user_id"], unique=False)
    op.create_index("ix_judging_pages_validation_user", "judging_pages", ["validation_id", "user_id"], unique=False)


def _create_validation_policies() -> None:
    op.create_table(
        "validation_policies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_validation_policies_created_by_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_validation_policies_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validation_policies")),
        sa.UniqueConstraint("validation_id", "number", name=op.f("uq_validation_policies_validation_id_number")),
    )


def _create_validation_reviews() -> None:
    op.create_table(
        "validation_reviews",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("judgements", sa.Integer(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=False),
        sa.Column("by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["users.id"], name=op.f("fk_validation_reviews_by_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_validation_reviews_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validation_reviews")),
    )
    op.create_index(op.f("ix_validation_reviews_by"), "validation_reviews", ["by"], unique=False)
    op.create_index(op.f("ix_validation_reviews_validation_id"), "validation_reviews", ["validation_id"], unique=False)


def _create_judge_estimates() -> None:
    op.create_table(
        "judge_estimates",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("review_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("judgements", sa.Integer(), nullable=False),
        sa.Column("compared", sa.Integer(), nullable=False),
        sa.Column("agreed", sa.Integer(), nullable=False),
        sa.Column("gold_seen", sa.Integer(), nullable=False),
        sa.Column("gold_right", sa.Integer(), nullable=False),
        sa.Column("right", sa.Double(), nullable=False),
        sa.Column("wrong", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["review_id"], ["validation_reviews.id"], name=op.f("fk_judge_estimates_review_id_validation_reviews")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judge_estimates_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judge_estimates")),
        sa.UniqueConstraint("review_id", "user_id", name=op.f("uq_judge_estimates_review_id_user_id")),
    )
    op.create_index(op.f("ix_judge_estimates_user_id"), "judge_estimates", ["user_id"], unique=False)


def _create_validation_items() -> None:
    op.create_table(
        "validation_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=True),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("answer", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("aim", sa.String(length=80), nullable=False),
        sa.Column("predictions", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("gold", sa.String(length=80), nullable=True),
        sa.Column("gold_note", sa.Text(), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name=op.f("fk_validation_items_attempt_id_attempts")),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_validation_items_author_id_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_validation_items_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validation_items")),
        sa.UniqueConstraint("validation_id", "hash", name=op.f("uq_validation_items_validation_id_hash")),
    )
    op.create_index(op.f("ix_validation_items_attempt_id"), "validation_items", ["attempt_id"], unique=False)
    op.create_index(op.f("ix_validation_items_author_id"), "validation_items", ["author_id"], unique=False)
    op.create_index(
        "ix_validation_items_gold",
        "validation_items",
        ["validation_id"],
        unique=False,
        postgresql_where=sa.text("gold IS NOT NULL"),
        sqlite_where=sa.text("gold IS NOT NULL"),
    )


def _create_adjudications() -> None:
    op.create_table(
        "adjudications",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("label", sa.String(length=80), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["validation_items.id"], name=op.f("fk_adjudications_item_id_validation_items")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_adjudications_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_adjudications")),
    )
    op.create_index(op.f("ix_adjudications_item_id"), "adjudications", ["item_id"], unique=False)
    op.create_index(op.f("ix_adjudications_user_id"), "adjudications", ["user_id"], unique=False)


def _create_validation_slots() -> None:
    op.create_table(
        "validation_slots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("k", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("draw", sa.BigInteger(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("judgement_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["item_id"], ["validation_items.id"], name=op.f("fk_validation_slots_item_id_validation_items")
        ),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_validation_slots_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_validation_slots")),
        sa.UniqueConstraint("item_id", "k", name=op.f("uq_validation_slots_item_id_k")),
    )
    op.create_index(
        "ix_validation_slots_lease",
        "validation_slots",
        ["validation_id", "lease_until"],
        unique=False,
        postgresql_where=sa.text("state = 'leased'"),
        sqlite_where=sa.text("state = 'leased'"),
    )
    op.create_index(
        "ix_validation_slots_open",
        "validation_slots",
        ["validation_id", "batch", "rank", "draw"],
        unique=False,
        postgresql_where=sa.text("state = 'open'"),
        sqlite_where=sa.text("state = 'open'"),
    )


def _create_judging_offers() -> None:
    op.create_table(
        "judging_offers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("page_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("slot_id", sa.Integer(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["validation_items.id"], name=op.f("fk_judging_offers_item_id_validation_items")
        ),
        sa.ForeignKeyConstraint(
            ["page_id"], ["judging_pages.id"], name=op.f("fk_judging_offers_page_id_judging_pages")
        ),
        sa.ForeignKeyConstraint(
            ["slot_id"], ["validation_slots.id"], name=op.f("fk_judging_offers_slot_id_validation_slots")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judging_offers_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judging_offers")),
        sa.UniqueConstraint("page_id", "position", name=op.f("uq_judging_offers_page_id_position")),
        sa.UniqueConstraint("user_id", "item_id", name=op.f("uq_judging_offers_user_id_item_id")),
    )
    op.create_index(
        "ix_judging_offers_gold",
        "judging_offers",
        ["item_id"],
        unique=False,
        postgresql_where=sa.text("slot_id IS NULL"),
        sqlite_where=sa.text("slot_id IS NULL"),
    )


def _create_judgements() -> None:
    op.create_table(
        "judgements",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("offer_id", sa.Integer(), nullable=True),
        sa.Column("label", sa.String(length=80), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["validation_items.id"], name=op.f("fk_judgements_item_id_validation_items")
        ),
        sa.ForeignKeyConstraint(
            ["offer_id"], ["judging_offers.id"], name=op.f("fk_judgements_offer_id_judging_offers")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judgements_user_id_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_judgements_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgements")),
        sa.UniqueConstraint("item_id", "user_id", name=op.f("uq_judgements_item_id_user_id")),
        sa.UniqueConstraint("offer_id", name=op.f("uq_judgements_offer_id")),
    )
    op.create_index(op.f("ix_judgements_user_id"), "judgements", ["user_id"], unique=False)
    op.create_index("ix_judgements_validation", "judgements", ["validation_id", "id"], unique=False)


def _create_judging_notes() -> None:
    op.create_table(
        "judging_notes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("validation_id", sa.Integer(), nullable=False),
        sa.Column("offer_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_id"], ["validation_items.id"], name=op.f("fk_judging_notes_item_id_validation_items")
        ),
        sa.ForeignKeyConstraint(
            ["offer_id"], ["judging_offers.id"], name=op.f("fk_judging_notes_offer_id_judging_offers")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_judging_notes_user_id_users")),
        sa.ForeignKeyConstraint(
            ["validation_id"], ["validations.id"], name=op.f("fk_judging_notes_validation_id_validations")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judging_notes")),
        sa.UniqueConstraint("offer_id", "kind", name=op.f("uq_judging_notes_offer_id_kind")),
    )
    op.create_index(op.f("ix_judging_notes_item_id"), "judging_notes", ["item_id"], unique=False)
    op.create_index(op.f("ix_judging_notes_user_id"), "judging_notes", ["user_id"], unique=False)
    op.create_index(op.f("ix_judging_notes_validation_id"), "judging_notes", ["validation_id"], unique=False)
