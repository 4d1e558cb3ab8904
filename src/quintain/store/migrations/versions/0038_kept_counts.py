"""Counts that are kept as facts arrive, where flags stand, what is owed to whom; indices that lists page by."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

COUNTS = (
    "SELECT 'round:' || round_id, 'attempts', count(*) FROM attempts GROUP BY round_id",
    "SELECT 'round:' || round_id, 'earnings.' || status, count(*) FROM earning_standings"
    " WHERE round_id IS NOT NULL GROUP BY round_id, status",
    "SELECT 'task:' || task_id, 'earnings.' || status, count(*) FROM earning_standings GROUP BY task_id, status",
    "SELECT 'round:' || round_id, 'flags.open', count(*) FROM flag_standings"
    " WHERE decision_id IS NULL GROUP BY round_id",
    "SELECT 'round:' || round_id, 'flags.decided', count(*) FROM flag_standings"
    " WHERE decision_id IS NOT NULL GROUP BY round_id",
    "SELECT 'round:' || round_id, 'prompts', count(*) FROM prompts GROUP BY round_id",
    "SELECT 'round:' || round_id, 'prompts.used', count(*) FROM prompts WHERE uses > 0 GROUP BY round_id",
    "SELECT 'round:' || round_id, 'prompts.repeated', count(*) FROM prompts WHERE uses > 1 GROUP BY round_id",
    "SELECT 'validation:' || validation_id, 'contested', count(*) FROM item_figures"
    " WHERE contested GROUP BY validation_id",
)


def upgrade() -> None:
    """Create tables and indices, and count what there is."""
    _create_counts()
    _create_owed_pay()
    _create_flag_standings()
    _create_indices()
    op.execute("""
        INSERT INTO flag_standings (flag_id, round_id, decision_id)
        SELECT f.id, a.round_id, (SELECT max(d.id) FROM flag_decisions d WHERE d.flag_id = f.id)
        FROM attempt_flags f JOIN attempts a ON a.id = f.attempt_id""")
    op.execute("""
        INSERT INTO owed_pay (task_id, user_id, currency, amount)
        SELECT s.task_id, s.user_id, e.currency, sum(e.amount)
        FROM earning_standings s JOIN earnings e ON e.id = s.earning_id
        WHERE s.status = 'approved' AND s.payout_id IS NULL GROUP BY s.task_id, s.user_id, e.currency""")
    for counted in COUNTS:
        op.execute(f"INSERT INTO kept_counts (scope, name, count) {counted}")


def _create_counts() -> None:
    op.create_table(
        "count_tails",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("scope", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_count_tails")),
    )
    op.create_index("ix_count_tails_count", "count_tails", ["scope", "name", "change"])
    op.create_table(
        "kept_counts",
        sa.Column("scope", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "name", name=op.f("pk_kept_counts")),
    )


def _create_owed_pay() -> None:
    op.create_table(
        "owed_pay",
        sa.Column("task_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_owed_pay_task_id_tasks")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_owed_pay_user_id_users")),
        sa.PrimaryKeyConstraint("task_id", "user_id", "currency", name=op.f("pk_owed_pay")),
    )


def _create_flag_standings() -> None:
    decisions, flags = "fk_flag_standings_decision_id_flag_decisions", "fk_flag_standings_flag_id_attempt_flags"
    op.create_table(
        "flag_standings",
        sa.Column("flag_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("decision_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["decision_id"], ["flag_decisions.id"], name=op.f(decisions)),
        sa.ForeignKeyConstraint(["flag_id"], ["attempt_flags.id"], name=op.f(flags)),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_flag_standings_round_id_rounds")),
        sa.PrimaryKeyConstraint("flag_id", name=op.f("pk_flag_standings")),
    )
    waits = sa.text("decision_id IS NULL")
    op.create_index("ix_flag_standings_round", "flag_standings", ["round_id", "flag_id"])
    op.create_index(
        "ix_flag_standings_open",
        "flag_standings",
        ["round_id", "flag_id"],
        sqlite_where=waits,
        postgresql_where=waits,
    )


def _create_indices() -> None:
    op.create_index("ix_earning_standings_round_number", "earning_standings", ["round_id", "earning_id"])
    op.create_index("ix_earning_standings_task_number", "earning_standings", ["task_id", "earning_id"])
    op.create_index("ix_item_figures_number", "item_figures", ["validation_id", "item_id", "state"])
    op.create_index("ix_prompts_leased", "prompts", ["round_id", "lease_until", "uses"])
    op.create_index("ix_role_grants_role", "role_grants", ["role", "task_id", "user_id"])
    judged = sa.text("gold IS NULL")
    op.create_index(
        "ix_validation_items_judged",
        "validation_items",
        ["validation_id"],
        sqlite_where=judged,
        postgresql_where=judged,
    )
