"""What happened, and what people were told about it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now

_WAITS = text("state = 'waiting'")


class AuditEntry(Fact, Base):
    """Who did what to which thing, and when. Append-only."""

    __tablename__ = "audit"
    __table_args__ = (Index("ix_audit_action_id", "action", "id"), Index("ix_audit_subject_id", "subject", "id"))

    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now, index=True)
    actor_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    actor: Mapped[str] = mapped_column(String(80))
    action: Mapped[str] = mapped_column(String(80))
    subject: Mapped[str] = mapped_column(String(200), default="")
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)


class Notification(Base):
    """A message to one person, shown in the application and, if they wish, sent by e-mail.

    *said* is what *text* was made of, so that everybody reads it in their language; *more* goes by e-mail only.
    """

    __tablename__ = "notifications"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    at: Mapped[datetime] = mapped_column(default=now)
    kind: Mapped[str] = mapped_column(String(40))
    text: Mapped[str] = mapped_column(Text)
    said: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True), nullable=True)
    more: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True), nullable=True)
    url: Mapped[str] = mapped_column(String(300), default="")
    read_at: Mapped[datetime | None]
    emailed_at: Mapped[datetime | None]


class OutgoingMail(Base):
    """An e-mail that is to be sent to a person, that was, or that could not be; it is written when it is sent.

    *purpose* is `message`, which tells of a notification, `password`, which brings a link, or `door`, a code.
    *generation* says who holds the lease of one that is being sent; *reason* is why the last try failed, as template
    and values, and *final* that the next one is the last.
    """

    __tablename__ = "outgoing_mails"
    __table_args__ = (
        Index("ix_outgoing_mails_waiting", "attempts", "id", sqlite_where=_WAITS, postgresql_where=_WAITS),
        Index("ix_outgoing_mails_state", "state", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    notification_id: Mapped[int | None] = mapped_column(ForeignKey("notifications.id"), unique=True)
    purpose: Mapped[str] = mapped_column(String(20))
    state: Mapped[str] = mapped_column(String(10))
    asked_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime] = mapped_column(default=now)
    generation: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[datetime | None]
    reason: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True), nullable=True)
    final: Mapped[bool] = mapped_column(default=False)
    ended_at: Mapped[datetime | None]
