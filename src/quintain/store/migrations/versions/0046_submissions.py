"""What a panel said last of each submission, which process sends a payout, and attempts that wait for their writers."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

ATTEMPTS = sa.table(
    "attempts", sa.column("id", sa.Integer), sa.column("session_id", sa.Integer), sa.column("fooled", sa.Boolean)
)
SESSIONS = sa.table(
    "writing_sessions",
    sa.column("id", sa.Integer),
    sa.column("user_id", sa.Integer),
    sa.column("ended_at", sa.DateTime(timezone=True)),
)
NOTES = sa.table(
    "attempt_notes",
    sa.column("attempt_id", sa.Integer),
    sa.column("user_id", sa.Integer),
    sa.column("kind", sa.String),
    sa.column("yes", sa.Boolean),
    sa.column("text", sa.Text),
    sa.column("tags", sa.JSON),
    sa.column("created_at", sa.DateTime(timezone=True)),
)


def upgrade() -> None:
    """Add the columns, of which nothing is known yet, and note which attempts wait."""
    for table in ("panel_visits", "panel_stays"):
        op.add_column(table, sa.Column("standing", sa.String(12), nullable=False, server_default=""))
    op.add_column("payouts", sa.Column("holder", sa.String(120), nullable=False, server_default=""))
    leave_unsaid(op.get_bind())


def leave_unsaid(connection: sa.Connection) -> None:
    """Let attempts of sessions that last count as not confirmed until their writers have answered.

    A session that lasts although its model was fooled waits for just that.
    """
    answered = sa.select(NOTES.c.attempt_id).where(
        NOTES.c.attempt_id == ATTEMPTS.c.id, NOTES.c.kind.in_(("confirmed", "retracted"))
    )
    query = (
        sa.select(ATTEMPTS.c.id, SESSIONS.c.user_id)
        .join(SESSIONS, SESSIONS.c.id == ATTEMPTS.c.session_id)
        .where(SESSIONS.c.ended_at.is_(None), ATTEMPTS.c.fooled.is_(True), ~answered.exists())
    )
    about = {"kind": "confirmed", "yes": False, "text": "not answered", "tags": [], "created_at": datetime.now(UTC)}
    rows = [{"attempt_id": attempt, "user_id": user, **about} for attempt, user in connection.execute(query)]
    if rows:
        connection.execute(sa.insert(NOTES), rows)
