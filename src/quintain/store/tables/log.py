"""What happened, and what people were told about it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now

NOT_SENT = text("emailed_at IS NULL")


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
    __table_args__ = (Index("ix_notifications_mail", "at", "id", sqlite_where=NOT_SENT, postgresql_where=NOT_SENT),)

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
