"""E-mails as rows of their own, how loops fare, and addresses to which nothing can be written set aside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTPUTF8

import sqlalchemy as sa
from alembic import op

from quintain.core.texts import Text, packed
from quintain.store.base import UtcTime

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

DAY = timedelta(days=1)
WAITS = sa.text("state = 'waiting'")


def upgrade() -> None:
    """Create the tables, queue what is still to be mailed, and set addresses aside that nobody can write to."""
    _create_mails()
    op.create_table(
        "loops",
        sa.Column("process", sa.String(length=120), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("process", "name", name=op.f("pk_loops")),
    )
    _set_aside()
    _queue_unsent()
    op.drop_index("ix_notifications_mail", "notifications")


def _create_mails() -> None:
    op.create_table(
        "outgoing_mails",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("notification_id", sa.Integer(), nullable=True),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("final", sa.Boolean(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_outgoing_mails_user_id_users")),
        sa.ForeignKeyConstraint(
            ["notification_id"], ["notifications.id"], name=op.f("fk_outgoing_mails_notification_id_notifications")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outgoing_mails")),
        sa.UniqueConstraint("notification_id", name=op.f("uq_outgoing_mails_notification_id")),
    )
    op.create_index(op.f("ix_outgoing_mails_user_id"), "outgoing_mails", ["user_id"])
    op.create_index("ix_outgoing_mails_state", "outgoing_mails", ["state", "id"])
    op.create_index(
        "ix_outgoing_mails_waiting", "outgoing_mails", ["attempts", "id"], postgresql_where=WAITS, sqlite_where=WAITS
    )


def _set_aside() -> None:
    """Take addresses out of accounts to which the mail library cannot write; tell the person and the admins."""
    connection, moment = op.get_bind(), datetime.now(UTC)
    users = connection.execute(sa.text("SELECT id, name, email FROM users WHERE email IS NOT NULL")).all()
    broken = [user for user in users if not _can_be_written(user.email)]
    if not broken:
        return
    admins = connection.scalars(
        sa.text(
            "SELECT DISTINCT g.user_id FROM role_grants g JOIN users u ON u.id = g.user_id"
            " WHERE g.role = 'admin' AND g.revoked_at IS NULL AND u.deleted_at IS NULL"
        )
    ).all()
    for user in broken:
        change = sa.text("UPDATE users SET email = NULL, email_notifications = :off WHERE id = :id")
        connection.execute(change.bindparams(id=user.id, off=False))
        message = Text(
            "No mail can be sent to the address '{email}', so it was taken out of your account. Give another one there "
            "if you want messages by e-mail.",
            email=user.email,
        )
        _tell(user.id, moment, message)
        message = Text(
            "No mail can be sent to the address '{email}' of {name}, so it was taken out of the account.",
            email=user.email,
            name=user.name,
        )
        for admin in admins:
            if admin != user.id:
                _tell(admin, moment, message)


def _tell(user_id: int, moment: datetime, message: Text) -> None:
    notifications = sa.table(
        "notifications",
        *(sa.column(name) for name in ("user_id", "kind", "text", "url")),
        sa.column("at", UtcTime(timezone=True)),
        sa.column("said", sa.JSON()),
    )
    op.bulk_insert(
        notifications,
        [
            {
                "user_id": user_id,
                "at": moment,
                "kind": "account.email",
                "text": str(message),
                "said": packed(message),
                "url": "/account",
            }
        ],
    )


def _can_be_written(address: str) -> bool:
    message = EmailMessage(policy=SMTPUTF8)
    try:
        message["To"] = address
        message.as_bytes()
        (written,) = message["To"].addresses
    except Exception:  # the library's parser falls over what it does not know, each time with another error
        return False
    return bool(written.addr_spec == address)


def _queue_unsent() -> None:
    """Queue the messages of the last day that people wanted by e-mail and that were not sent."""
    moment = datetime.now(UTC)
    times = [sa.bindparam(name, type_=UtcTime(timezone=True)) for name in ("now", "until", "since")]
    op.execute(
        sa.text(
            "INSERT INTO outgoing_mails"
            " (user_id, notification_id, purpose, state, asked_at, expires_at, attempts, next_at, generation, final)"
            " SELECT n.user_id, n.id, 'message', 'waiting', n.at, :until, 0, :now, 0, :no"
            " FROM notifications n JOIN users u ON u.id = n.user_id"
            " WHERE n.emailed_at IS NULL AND n.at >= :since AND u.email IS NOT NULL AND u.deleted_at IS NULL"
            " AND u.email_notifications AND n.kind <> 'account.email'"
        )
        .bindparams(*times)
        .bindparams(no=False, now=moment, until=moment + DAY, since=moment - DAY)
    )
