"""Domains of e-mail addresses in one form; of several accounts with one mailbox, one keeps it."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from quintain.core.mail_addresses import is_address, normal_address
from quintain.core.texts import Text, packed
from quintain.store.base import UtcTime

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring every address into its one form; set aside those of no mailbox or of another account, and tell."""
    connection = op.get_bind()
    users = connection.execute(sa.text("SELECT id, email FROM users WHERE email IS NOT NULL ORDER BY id")).all()
    holders = {user.email for user in users if normal_address(user.email) == user.email and is_address(user.email)}
    for user in users:
        email = normal_address(user.email)
        if not is_address(email):
            message = Text(
                "No mail can be sent to the address '{email}', so it was taken out of your account. Give another one "
                "there if you want messages by e-mail.",
                email=user.email,
            )
            _set_aside(user.id, message)
        elif email != user.email and email in holders:
            message = Text(
                "The address '{email}' is that of another account, written another way, so it was taken out of yours. "
                "Give another one there if you want messages by e-mail.",
                email=user.email,
            )
            _set_aside(user.id, message)
        elif email != user.email:
            _change(user.id, email)
            holders.add(email)


def _change(user_id: int, email: str | None) -> None:
    op.get_bind().execute(sa.text("UPDATE users SET email = :email WHERE id = :id").bindparams(id=user_id, email=email))


def _set_aside(user_id: int, message: Text) -> None:
    _change(user_id, None)
    off = sa.text("UPDATE users SET email_notifications = :off WHERE id = :id")
    op.get_bind().execute(off.bindparams(id=user_id, off=False))
    notifications = sa.table(
        "notifications",
        *(sa.column(name) for name in ("user_id", "kind", "text", "url")),
        sa.column("at", UtcTime(timezone=True)),
        sa.column("said", sa.JSON()),
    )
    row = {"user_id": user_id, "at": datetime.now(UTC), "kind": "account.email", "url": "/account"}
    op.bulk_insert(notifications, [{**row, "text": str(message), "said": packed(message)}])
