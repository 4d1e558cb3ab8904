"""Who holds a pair of a contest to judge it, what pairs are listed by, and how much was said of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and the tables; what was said so far is counted, so that figures rest on it."""
    op.add_column("contests", sa.Column("facts", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("contest_judgements", sa.Column("late", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("contest_judgements", sa.Column("seconds", sa.Double(), nullable=True))
    _create_contest_leases()
    _create_contest_marks()
    _count_facts()


def _count_facts() -> None:
    contests = sa.table("contests", sa.column("id"), sa.column("facts"))
    pairs = sa.table("contest_pairs", sa.column("id"), sa.column("contest_id"))
    counts = [
        sa.select(sa.func.count())
        .select_from(facts.join(pairs, pairs.c.id == facts.c.pair_id))
        .where(pairs.c.contest_id == contests.c.id)
        .scalar_subquery()
        for name in ("contest_disputes", "contest_judgements", "contest_rulings")
        for facts in [sa.table(name, sa.column("pair_id"))]
    ]
    op.execute(contests.update().values(facts=counts[0] + counts[1] + counts[2]))


def _create_contest_leases() -> None:
    op.create_table(
        "contest_leases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("contest_id", sa.Integer(), nullable=False),
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("held_since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("skipped", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_contest_leases_contest_id_contests")),
        sa.ForeignKeyConstraint(
            ["pair_id"], ["contest_pairs.id"], name=op.f("fk_contest_leases_pair_id_contest_pairs")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_contest_leases_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contest_leases")),
        sa.UniqueConstraint("pair_id", "user_id", name=op.f("uq_contest_leases_pair_id_user_id")),
    )
    op.create_index("ix_contest_leases_contest_user", "contest_leases", ["contest_id", "user_id"])
    op.create_index(op.f("ix_contest_leases_user_id"), "contest_leases", ["user_id"])


def _create_contest_marks() -> None:
    op.create_table(
        "contest_marks",
        sa.Column("contest_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("mark", sa.String(length=100), nullable=False),
        sa.Column("pair_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["contest_id"], ["contests.id"], name=op.f("fk_contest_marks_contest_id_contests")),
        sa.ForeignKeyConstraint(["pair_id"], ["contest_pairs.id"], name=op.f("fk_contest_marks_pair_id_contest_pairs")),
        sa.PrimaryKeyConstraint("contest_id", "mark", "pair_id", name=op.f("pk_contest_marks")),
    )
