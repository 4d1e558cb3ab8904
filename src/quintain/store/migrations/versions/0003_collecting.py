"""Rounds, prompts, attempts, quizzes and earnings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_secrets()
    _create_panel_people()
    _create_qualifications()
    _create_quizzes()
    _create_rounds()
    _create_worker_facts()
    _create_corpus_uses()
    _create_earnings()
    _create_panel_visits()
    _create_prompts()
    _create_quiz_versions()
    _create_round_assignments()
    _create_round_choices()
    _create_round_versions()
    _create_earning_decisions()
    _create_quiz_tries()
    _create_round_targets()
    _create_writing_sessions()
    _create_attempts()
    _create_drafts()
    _create_attempt_bands()
    _create_attempt_flags()
    _create_attempt_notes()
    _create_flag_decisions()


def _create_panel_people() -> None:
    op.create_table(
        "panel_people",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("outside_id", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_panel_people_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_panel_people")),
        sa.UniqueConstraint("provider", "outside_id", name=op.f("uq_panel_people_provider_outside_id")),
    )
    op.create_index(op.f("ix_panel_people_user_id"), "panel_people", ["user_id"], unique=False)


def _create_qualifications() -> None:
    op.create_table(
        "qualifications",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("held", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["users.id"], name=op.f("fk_qualifications_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_qualifications_task_id_tasks")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_qualifications_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_qualifications")),
    )
    op.create_index("ix_qualifications_task_user", "qualifications", ["task_id", "user_id"], unique=False)
    op.create_index(op.f("ix_qualifications_user_id"), "qualifications", ["user_id"], unique=False)


def _create_quizzes() -> None:
    op.create_table(
        "quizzes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_quizzes_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quizzes")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_quizzes_task_id_name")),
    )
    op.create_index(op.f("ix_quizzes_task_id"), "quizzes", ["task_id"], unique=False)


def _create_rounds() -> None:
    op.create_table(
        "rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("entry_key", sa.String(length=40), nullable=False),
        sa.Column("cloned_from", sa.Integer(), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["cloned_from"], ["rounds.id"], name=op.f("fk_rounds_cloned_from_rounds")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_rounds_created_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_rounds_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
        sa.UniqueConstraint("entry_key", name=op.f("uq_rounds_entry_key")),
        sa.UniqueConstraint("task_id", "number", name=op.f("uq_rounds_task_id_number")),
    )
    op.create_index(op.f("ix_rounds_task_id"), "rounds", ["task_id"], unique=False)


def _create_worker_facts() -> None:
    op.create_table(
        "worker_facts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.String(length=200), nullable=False),
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_worker_facts_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker_facts")),
    )
    op.create_index(op.f("ix_worker_facts_user_id"), "worker_facts", ["user_id"], unique=False)


def _create_corpus_uses() -> None:
    op.create_table(
        "corpus_uses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("corpus", sa.String(length=200), nullable=False),
        sa.Column("part", sa.String(length=120), nullable=False),
        sa.Column("row", sa.String(length=120), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_corpus_uses_round_id_rounds")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_corpus_uses_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_corpus_uses")),
    )
    op.create_index(op.f("ix_corpus_uses_round_id"), "corpus_uses", ["round_id"], unique=False)
    op.create_index("ix_corpus_uses_task_hash", "corpus_uses", ["task_id", "hash"], unique=False)


def _create_earnings() -> None:
    op.create_table(
        "earnings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=True),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("work", sa.String(length=80), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("what", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_earnings_round_id_rounds")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_earnings_task_id_tasks")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_earnings_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_earnings")),
        sa.UniqueConstraint("work", name=op.f("uq_earnings_work")),
    )
    op.create_index(op.f("ix_earnings_round_id"), "earnings", ["round_id"], unique=False)
    op.create_index(op.f("ix_earnings_task_id"), "earnings", ["task_id"], unique=False)
    op.create_index(op.f("ix_earnings_user_id"), "earnings", ["user_id"], unique=False)


def _create_panel_visits() -> None:
    op.create_table(
        "panel_visits",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(length=20), nullable=False),
        sa.Column("study", sa.String(length=200), nullable=False),
        sa.Column("outside_session", sa.String(length=200), nullable=False),
        sa.Column("submit_to", sa.String(length=500), nullable=False),
        sa.Column("arrived_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_panel_visits_round_id_rounds")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_panel_visits_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_panel_visits")),
        sa.UniqueConstraint(
            "round_id",
            "user_id",
            "study",
            "outside_session",
            name=op.f("uq_panel_visits_round_id_user_id_study_outside_session"),
        ),
    )
    op.create_index(op.f("ix_panel_visits_user_id"), "panel_visits", ["user_id"], unique=False)


def _create_prompts() -> None:
    op.create_table(
        "prompts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("answer", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("corpus", sa.String(length=200), nullable=False),
        sa.Column("part", sa.String(length=120), nullable=False),
        sa.Column("row", sa.String(length=120), nullable=False),
        sa.Column("draw", sa.BigInteger(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("holder_id", sa.Integer(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["holder_id"], ["users.id"], name=op.f("fk_prompts_holder_id_users")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_prompts_round_id_rounds")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_prompts")),
        sa.UniqueConstraint("round_id", "hash", name=op.f("uq_prompts_round_id_hash")),
    )
    op.create_index("ix_prompts_draw", "prompts", ["round_id", "uses", "draw"], unique=False)
    op.create_index("ix_prompts_hash", "prompts", ["hash"], unique=False)
    op.create_index(op.f("ix_prompts_holder_id"), "prompts", ["holder_id"], unique=False)


def _create_quiz_versions() -> None:
    op.create_table(
        "quiz_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("quiz_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("definition", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_quiz_versions_created_by_users")),
        sa.ForeignKeyConstraint(["quiz_id"], ["quizzes.id"], name=op.f("fk_quiz_versions_quiz_id_quizzes")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quiz_versions")),
        sa.UniqueConstraint("quiz_id", "number", name=op.f("uq_quiz_versions_quiz_id_number")),
    )
    op.create_index(op.f("ix_quiz_versions_quiz_id"), "quiz_versions", ["quiz_id"], unique=False)


def _create_round_assignments() -> None:
    op.create_table(
        "round_assignments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("condition", sa.String(length=40), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_round_assignments_round_id_rounds")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_round_assignments_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round_assignments")),
        sa.UniqueConstraint("round_id", "user_id", name=op.f("uq_round_assignments_round_id_user_id")),
    )
    op.create_index(op.f("ix_round_assignments_user_id"), "round_assignments", ["user_id"], unique=False)


def _create_round_choices() -> None:
    op.create_table(
        "round_choices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_round_choices_round_id_rounds")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_round_choices_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round_choices")),
    )
    op.create_index("ix_round_choices_round_user", "round_choices", ["round_id", "user_id"], unique=False)
    op.create_index(op.f("ix_round_choices_user_id"), "round_choices", ["user_id"], unique=False)


def _create_round_versions() -> None:
    op.create_table(
        "round_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_round_versions_created_by_users")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_round_versions_round_id_rounds")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round_versions")),
        sa.UniqueConstraint("round_id", "number", name=op.f("uq_round_versions_round_id_number")),
    )
    op.create_index(op.f("ix_round_versions_round_id"), "round_versions", ["round_id"], unique=False)


def _create_earning_decisions() -> None:
    op.create_table(
        "earning_decisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("earning_id", sa.Integer(), nullable=False),
        sa.Column("approved", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["by"], ["users.id"], name=op.f("fk_earning_decisions_by_users")),
        sa.ForeignKeyConstraint(["earning_id"], ["earnings.id"], name=op.f("fk_earning_decisions_earning_id_earnings")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_earning_decisions")),
    )
    op.create_index(op.f("ix_earning_decisions_by"), "earning_decisions", ["by"], unique=False)
    op.create_index(op.f("ix_earning_decisions_earning_id"), "earning_decisions", ["earning_id"], unique=False)


def _create_quiz_tries() -> None:
    op.create_table(
        "quiz_tries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("quiz_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("right", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["quiz_id"], ["quizzes.id"], name=op.f("fk_quiz_tries_quiz_id_quizzes")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_quiz_tries_user_id_users")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["quiz_versions.id"], name=op.f("fk_quiz_tries_version_id_quiz_versions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quiz_tries")),
    )
    op.create_index("ix_quiz_tries_quiz_user", "quiz_tries", ["quiz_id", "user_id"], unique=False)
    op.create_index(op.f("ix_quiz_tries_user_id"), "quiz_tries", ["user_id"], unique=False)


def _create_round_targets() -> None:
    op.create_table(
        "round_targets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["model_version_id"], ["model_versions.id"], name=op.f("fk_round_targets_model_version_id_model_versions")
        ),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_round_targets_round_id_rounds")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_round_targets")),
        sa.UniqueConstraint(
            "round_id", "day", "model_version_id", name=op.f("uq_round_targets_round_id_day_model_version_id")
        ),
    )
    op.create_index(op.f("ix_round_targets_round_id"), "round_targets", ["round_id"], unique=False)


def _create_writing_sessions() -> None:
    op.create_table(
        "writing_sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=40), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("condition", sa.String(length=40), nullable=False),
        sa.Column("prompt_id", sa.Integer(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("models", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("target", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("allowed", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(length=12), nullable=False),
        sa.ForeignKeyConstraint(["prompt_id"], ["prompts.id"], name=op.f("fk_writing_sessions_prompt_id_prompts")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_writing_sessions_round_id_rounds")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_writing_sessions_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_writing_sessions")),
        sa.UniqueConstraint("key", name=op.f("uq_writing_sessions_key")),
    )
    op.create_index(op.f("ix_writing_sessions_prompt_id"), "writing_sessions", ["prompt_id"], unique=False)
    op.create_index("ix_writing_sessions_round_user", "writing_sessions", ["round_id", "user_id"], unique=False)
    op.create_index(op.f("ix_writing_sessions_started_at"), "writing_sessions", ["started_at"], unique=False)
    op.create_index(op.f("ix_writing_sessions_user_id"), "writing_sessions", ["user_id"], unique=False)


def _create_attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=True),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("prompt_id", sa.Integer(), nullable=True),
        sa.Column("origin", sa.String(length=12), nullable=False),
        sa.Column("condition", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=80), nullable=True),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("text_key", sa.String(length=64), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("target", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("aim", sa.String(length=80), nullable=False),
        sa.Column("predictions", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("fooled", sa.Boolean(), nullable=True),
        sa.Column("edit_distance", sa.Integer(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("source", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["prompt_id"], ["prompts.id"], name=op.f("fk_attempts_prompt_id_prompts")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_attempts_round_id_rounds")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["writing_sessions.id"], name=op.f("fk_attempts_session_id_writing_sessions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_attempts_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
        sa.UniqueConstraint("session_id", "number", name=op.f("uq_attempts_session_id_number")),
        sa.UniqueConstraint("session_id", "token", name=op.f("uq_attempts_session_id_token")),
    )
    op.create_index(op.f("ix_attempts_hash"), "attempts", ["hash"], unique=False)
    op.create_index(op.f("ix_attempts_prompt_id"), "attempts", ["prompt_id"], unique=False)
    op.create_index("ix_attempts_round_created", "attempts", ["round_id", "created_at"], unique=False)
    op.create_index(op.f("ix_attempts_text_key"), "attempts", ["text_key"], unique=False)
    op.create_index(op.f("ix_attempts_user_id"), "attempts", ["user_id"], unique=False)


def _create_drafts() -> None:
    op.create_table(
        "drafts",
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("inputs", sa.JSON(), nullable=False),
        sa.Column("target", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"], ["writing_sessions.id"], name=op.f("fk_drafts_session_id_writing_sessions")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_drafts_user_id_users")),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_drafts")),
    )
    op.create_index(op.f("ix_drafts_user_id"), "drafts", ["user_id"], unique=False)


def _create_attempt_bands() -> None:
    op.create_table(
        "attempt_bands",
        sa.Column("band", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("attempt_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name=op.f("fk_attempt_bands_attempt_id_attempts")),
        sa.PrimaryKeyConstraint("band", "attempt_id", name=op.f("pk_attempt_bands")),
    )


def _create_attempt_flags() -> None:
    op.create_table(
        "attempt_flags",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name=op.f("fk_attempt_flags_attempt_id_attempts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_attempt_flags_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt_flags")),
    )
    op.create_index(op.f("ix_attempt_flags_attempt_id"), "attempt_flags", ["attempt_id"], unique=False)
    op.create_index(op.f("ix_attempt_flags_user_id"), "attempt_flags", ["user_id"], unique=False)


def _create_attempt_notes() -> None:
    op.create_table(
        "attempt_notes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("attempt_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("yes", sa.Boolean(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.id"], name=op.f("fk_attempt_notes_attempt_id_attempts")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_attempt_notes_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt_notes")),
    )
    op.create_index("ix_attempt_notes_attempt_kind", "attempt_notes", ["attempt_id", "kind"], unique=False)
    op.create_index(op.f("ix_attempt_notes_user_id"), "attempt_notes", ["user_id"], unique=False)


def _create_flag_decisions() -> None:
    op.create_table(
        "flag_decisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("flag_id", sa.Integer(), nullable=False),
        sa.Column("withhold", sa.Boolean(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["flag_id"], ["attempt_flags.id"], name=op.f("fk_flag_decisions_flag_id_attempt_flags")
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_flag_decisions_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flag_decisions")),
    )
    op.create_index(op.f("ix_flag_decisions_flag_id"), "flag_decisions", ["flag_id"], unique=False)
    op.create_index(op.f("ix_flag_decisions_user_id"), "flag_decisions", ["user_id"], unique=False)


def _create_secrets() -> None:
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.String(length=80), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secrets")),
    )
