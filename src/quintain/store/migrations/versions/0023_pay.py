"""The ledger: what was earned so far is booked, and there are payouts, policies and places for panels."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first, and book what was earned before."""
    _create_ledger_accounts()
    _create_ledger_transactions()
    _create_panel_events()
    _create_panel_places()
    _create_ledger_entries()
    _create_panel_stays()
    _create_pay_policies()
    _create_payouts()
    _create_ledger_tails()
    _create_payout_calls()
    _create_pay_questions()
    _create_earning_standings()
    _book()


# The newest decision on an earning, and what that makes of it.
DECIDED = """
    SELECT e.*, d.id AS decision_id, d.created_at AS decided_at,
        CASE WHEN d.id IS NULL THEN 'pending' WHEN d.approved THEN 'approved' ELSE 'declined' END AS status,
        'worker:' || e.user_id AS worker,
        CASE WHEN e.round_id IS NULL THEN 'task:' || e.task_id ELSE 'round:' || e.round_id END AS payer,
        {day} AS day
    FROM earnings e
    LEFT JOIN earning_decisions d
        ON d.id = (SELECT MAX(n.id) FROM earning_decisions n WHERE n.earning_id = e.id)
"""
DAY = {"sqlite": "substr(e.created_at, 1, 10)", "postgresql": "to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"}
# Each pair of moves: what is booked under which key, from whom, to whom.
PAIRS = (
    ("earning:", "id", "payer", "kind || '.pending'", "worker", "kind || '.pending'", "1 = 1"),
    ("earning:", "id", "'task:' || task_id", "'day.' || day", "worker", "'task.' || task_id", "1 = 1"),
    ("decision:", "decision_id", "worker", "kind || '.pending'", "worker", "kind || '.' || status", "decided"),
    ("decision:", "decision_id", "payer", "kind || '.' || status", "payer", "kind || '.pending'", "decided"),
    ("decision:", "decision_id", "worker", "'task.' || task_id", "'task:' || task_id", "'day.' || day", "declined"),
)
WHERE = {"1 = 1": "1 = 1", "decided": "status <> 'pending'", "declined": "status = 'declined'"}


def _book() -> None:
    """Book every earning, and its newest decision; the balances come out of the same figures."""
    op.execute(f"CREATE TEMPORARY TABLE pay_decided AS {DECIDED.format(day=DAY[op.get_bind().dialect.name])}")
    sides = []
    for prefix, number, giver, giver_name, taker, taker_name, when in PAIRS:
        for holder, name, sign in ((giver, giver_name, "-"), (taker, taker_name, "")):
            sides.append(
                f"SELECT '{prefix}' || {number} AS key, {holder} AS holder, {name} AS name, currency,"  # noqa: S608
                f" {sign}amount AS amount FROM pay_decided WHERE {WHERE[when]}"
            )
    op.execute(f"CREATE TEMPORARY TABLE pay_moves AS {' UNION ALL '.join(sides)}")
    for statement in (
        "INSERT INTO ledger_transactions (key, kind, created_at)"
        " SELECT 'earning:' || id, 'earned', created_at FROM pay_decided ORDER BY id",
        "INSERT INTO ledger_transactions (key, kind, created_at)"
        " SELECT 'decision:' || decision_id, status, decided_at FROM pay_decided"
        " WHERE decision_id IS NOT NULL ORDER BY decision_id",
        "INSERT INTO ledger_accounts (holder, name, currency, balance)"
        " SELECT holder, name, currency, SUM(amount) FROM pay_moves GROUP BY holder, name, currency",
        "INSERT INTO ledger_entries (transaction_id, account_id, amount)"
        " SELECT t.id, a.id, m.amount FROM pay_moves m JOIN ledger_transactions t ON t.key = m.key"
        " JOIN ledger_accounts a ON a.holder = m.holder AND a.name = m.name AND a.currency = m.currency ORDER BY t.id",
        "INSERT INTO earning_standings (earning_id, user_id, task_id, round_id, status, decision_id)"
        " SELECT id, user_id, task_id, round_id, status, decision_id FROM pay_decided",
        "DROP TABLE pay_moves",
        "DROP TABLE pay_decided",
    ):
        op.execute(statement)


def _create_ledger_accounts() -> None:
    op.create_table(
        "ledger_accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("holder", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("balance", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_accounts")),
        sa.UniqueConstraint("holder", "name", "currency", name=op.f("uq_ledger_accounts_holder_name_currency")),
    )


def _create_ledger_transactions() -> None:
    op.create_table(
        "ledger_transactions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=120), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_transactions")),
        sa.UniqueConstraint("key", name=op.f("uq_ledger_transactions_key")),
    )


def _create_panel_events() -> None:
    op.create_table(
        "panel_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("event_key", sa.String(length=80), nullable=False),
        sa.Column("kind", sa.String(length=60), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_panel_events")),
        sa.UniqueConstraint("event_key", name=op.f("uq_panel_events_event_key")),
    )


def _create_panel_places() -> None:
    op.create_table(
        "panel_places",
        sa.Column("place", sa.String(length=80), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_panel_places")),
        sa.UniqueConstraint("key", name=op.f("uq_panel_places_key")),
    )


def _create_ledger_entries() -> None:
    op.create_table(
        "ledger_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("transaction_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["ledger_accounts.id"], name=op.f("fk_ledger_entries_account_id_ledger_accounts")
        ),
        sa.ForeignKeyConstraint(
            ["transaction_id"],
            ["ledger_transactions.id"],
            name=op.f("fk_ledger_entries_transaction_id_ledger_transactions"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_entries")),
    )
    op.create_index("ix_ledger_entries_account", "ledger_entries", ["account_id", "id"], unique=False)
    op.create_index(op.f("ix_ledger_entries_transaction_id"), "ledger_entries", ["transaction_id"], unique=False)


def _create_panel_stays() -> None:
    op.create_table(
        "panel_stays",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(length=80), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("study", sa.String(length=200), nullable=False),
        sa.Column("outside_session", sa.String(length=200), nullable=False),
        sa.Column("submit_to", sa.String(length=500), nullable=False),
        sa.Column("arrived_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_panel_stays_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_panel_stays")),
        sa.UniqueConstraint(
            "place",
            "user_id",
            "study",
            "outside_session",
            name=op.f("uq_panel_stays_place_user_id_study_outside_session"),
        ),
    )
    op.create_index(op.f("ix_panel_stays_user_id"), "panel_stays", ["user_id"], unique=False)


def _create_pay_policies() -> None:
    op.create_table(
        "pay_policies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("definition", sa.JSON(), nullable=False),
        sa.Column("by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["users.id"], name=op.f("fk_pay_policies_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_pay_policies_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pay_policies")),
    )
    op.create_index(op.f("ix_pay_policies_by"), "pay_policies", ["by"], unique=False)
    op.create_index(op.f("ix_pay_policies_task_id"), "pay_policies", ["task_id"], unique=False)


def _create_payouts() -> None:
    op.create_table(
        "payouts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("step", sa.String(length=12), nullable=False),
        sa.Column("study", sa.String(length=200), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("outside_id", sa.String(length=200), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_payouts_created_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_payouts_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payouts")),
        sa.UniqueConstraint("key", name=op.f("uq_payouts_key")),
    )
    op.create_index(op.f("ix_payouts_created_by"), "payouts", ["created_by"], unique=False)
    op.create_index(op.f("ix_payouts_state"), "payouts", ["state"], unique=False)
    op.create_index(op.f("ix_payouts_task_id"), "payouts", ["task_id"], unique=False)


def _create_ledger_tails() -> None:
    op.create_table(
        "ledger_tails",
        sa.Column("entry_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["ledger_accounts.id"], name=op.f("fk_ledger_tails_account_id_ledger_accounts")
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["ledger_entries.id"], name=op.f("fk_ledger_tails_entry_id_ledger_entries")
        ),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_ledger_tails")),
    )
    op.create_index(op.f("ix_ledger_tails_account_id"), "ledger_tails", ["account_id"], unique=False)


def _create_payout_calls() -> None:
    op.create_table(
        "payout_calls",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("payout_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("outcome", sa.String(length=12), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["payout_id"], ["payouts.id"], name=op.f("fk_payout_calls_payout_id_payouts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payout_calls")),
    )
    op.create_index(op.f("ix_payout_calls_payout_id"), "payout_calls", ["payout_id"], unique=False)


def _create_pay_questions() -> None:
    op.create_table(
        "pay_questions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("earning_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("answered_by", sa.Integer(), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["answered_by"], ["users.id"], name=op.f("fk_pay_questions_answered_by_users")),
        sa.ForeignKeyConstraint(["earning_id"], ["earnings.id"], name=op.f("fk_pay_questions_earning_id_earnings")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_pay_questions_task_id_tasks")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_pay_questions_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pay_questions")),
    )
    op.create_index(op.f("ix_pay_questions_answered_by"), "pay_questions", ["answered_by"], unique=False)
    op.create_index(op.f("ix_pay_questions_earning_id"), "pay_questions", ["earning_id"], unique=False)
    op.create_index(op.f("ix_pay_questions_task_id"), "pay_questions", ["task_id"], unique=False)
    op.create_index(op.f("ix_pay_questions_user_id"), "pay_questions", ["user_id"], unique=False)


def _create_earning_standings() -> None:
    op.create_table(
        "earning_standings",
        sa.Column("earning_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("decision_id", sa.Integer(), nullable=True),
        sa.Column("payout_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["decision_id"], ["earning_decisions.id"], name=op.f("fk_earning_standings_decision_id_earning_decisions")
        ),
        sa.ForeignKeyConstraint(["earning_id"], ["earnings.id"], name=op.f("fk_earning_standings_earning_id_earnings")),
        sa.ForeignKeyConstraint(["payout_id"], ["payouts.id"], name=op.f("fk_earning_standings_payout_id_payouts")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_earning_standings_round_id_rounds")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_earning_standings_task_id_tasks")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_earning_standings_user_id_users")),
        sa.PrimaryKeyConstraint("earning_id", name=op.f("pk_earning_standings")),
    )
    op.create_index(op.f("ix_earning_standings_payout_id"), "earning_standings", ["payout_id"], unique=False)
    op.create_index(
        "ix_earning_standings_round", "earning_standings", ["round_id", "status", "earning_id"], unique=False
    )
    op.create_index("ix_earning_standings_task", "earning_standings", ["task_id", "status", "earning_id"], unique=False)
    op.create_index("ix_earning_standings_user", "earning_standings", ["user_id", "status", "earning_id"], unique=False)
