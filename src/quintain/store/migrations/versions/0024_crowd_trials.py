"""Trials of protocols: arms, members, and the record of what happened."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables, those that others point to first."""
    _create_crowd_trials()
    _create_crowd_arms()
    _create_crowd_answers()
    _create_crowd_events()
    _create_crowd_letters()
    _create_crowd_members()
    _create_crowd_rounds()


def _create_crowd_trials() -> None:
    op.create_table(
        "crowd_trials",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("data", sa.String(length=64), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_crowd_trials_created_by_users")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_crowd_trials_task_id_tasks")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crowd_trials")),
        sa.UniqueConstraint("task_id", "name", name=op.f("uq_crowd_trials_task_id_name")),
    )
    op.create_index(op.f("ix_crowd_trials_task_id"), "crowd_trials", ["task_id"], unique=False)


def _create_crowd_arms() -> None:
    op.create_table(
        "crowd_arms",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["crowd_trials.id"], name=op.f("fk_crowd_arms_trial_id_crowd_trials")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crowd_arms")),
        sa.UniqueConstraint("trial_id", "name", name=op.f("uq_crowd_arms_trial_id_name")),
    )
    op.create_index(op.f("ix_crowd_arms_trial_id"), "crowd_arms", ["trial_id"], unique=False)


def _create_crowd_answers() -> None:
    op.create_table(
        "crowd_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("quiz", sa.String(length=40), nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(length=12), nullable=False),
        sa.Column("right", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["arm_id"], ["crowd_arms.id"], name=op.f("fk_crowd_answers_arm_id_crowd_arms")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_crowd_answers_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crowd_answers")),
        sa.UniqueConstraint(
            "arm_id", "user_id", "quiz", "step", name=op.f("uq_crowd_answers_arm_id_user_id_quiz_step")
        ),
    )
    op.create_index(op.f("ix_crowd_answers_user_id"), "crowd_answers", ["user_id"], unique=False)


def _create_crowd_events() -> None:
    op.create_table(
        "crowd_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("token", sa.String(length=24), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["arm_id"], ["crowd_arms.id"], name=op.f("fk_crowd_events_arm_id_crowd_arms")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_crowd_events_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crowd_events")),
        sa.UniqueConstraint("arm_id", "number", name=op.f("uq_crowd_events_arm_id_number")),
    )
    op.create_index(op.f("ix_crowd_events_user_id"), "crowd_events", ["user_id"], unique=False)


def _create_crowd_letters() -> None:
    op.create_table(
        "crowd_letters",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("appeal", sa.Boolean(), nullable=False),
        sa.Column("replied_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["arm_id"], ["crowd_arms.id"], name=op.f("fk_crowd_letters_arm_id_crowd_arms")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_crowd_letters_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crowd_letters")),
        sa.UniqueConstraint("arm_id", "stage", "user_id", name=op.f("uq_crowd_letters_arm_id_stage_user_id")),
    )
    op.create_index(op.f("ix_crowd_letters_user_id"), "crowd_letters", ["user_id"], unique=False)


def _create_crowd_members() -> None:
    op.create_table(
        "crowd_members",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("drawn", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["arm_id"], ["crowd_arms.id"], name=op.f("fk_crowd_members_arm_id_crowd_arms")),
        sa.ForeignKeyConstraint(["trial_id"], ["crowd_trials.id"], name=op.f("fk_crowd_members_trial_id_crowd_trials")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_crowd_members_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crowd_members")),
        sa.UniqueConstraint("trial_id", "user_id", name=op.f("uq_crowd_members_trial_id_user_id")),
    )
    op.create_index(op.f("ix_crowd_members_arm_id"), "crowd_members", ["arm_id"], unique=False)
    op.create_index(op.f("ix_crowd_members_user_id"), "crowd_members", ["user_id"], unique=False)


def _create_crowd_rounds() -> None:
    op.create_table(
        "crowd_rounds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("arm_id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(length=40), nullable=False),
        sa.Column("round_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["arm_id"], ["crowd_arms.id"], name=op.f("fk_crowd_rounds_arm_id_crowd_arms")),
        sa.ForeignKeyConstraint(["round_id"], ["rounds.id"], name=op.f("fk_crowd_rounds_round_id_rounds")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_crowd_rounds")),
        sa.UniqueConstraint("arm_id", "stage", name=op.f("uq_crowd_rounds_arm_id_stage")),
        sa.UniqueConstraint("round_id", name=op.f("uq_crowd_rounds_round_id")),
    )
