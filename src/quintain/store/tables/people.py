"""Accounts, what they may do, and how they show who they are."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, now


class User(Base):
    """A person. A deleted one keeps its row, without name, address and password, so that counts stay right."""

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    display_name: Mapped[str] = mapped_column(String(120), default="")
    email: Mapped[str | None] = mapped_column(String(254), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(255))
    language: Mapped[str] = mapped_column(String(16), default="en")  # chosen; empty where the browser decides
    seen_language: Mapped[str] = mapped_column(String(16), default="", server_default="")  # of pages
    email_notifications: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=now)
    deleted_at: Mapped[datetime | None]


class RoleGrant(Base):
    """A role given to a person, everywhere or on one task. Taking it back is a date, not a deletion."""

    __tablename__ = "role_grants"
    __table_args__ = (Index("ix_role_grants_role", "role", "task_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    role: Mapped[str] = mapped_column(String(20))
    task_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id"))
    granted_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    granted_at: Mapped[datetime] = mapped_column(default=now)
    revoked_at: Mapped[datetime | None]


class WebSession(Base):
    """A signed-in browser. Only the hash of the cookie is kept.

    *scopes* are what the session is good for, empty for everything. One that a panel's link began is good for work on
    one task.
    """

    __tablename__ = "web_sessions"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    csrf: Mapped[str] = mapped_column(String(64))
    user_agent: Mapped[str] = mapped_column(String(200), default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    seen_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    scopes: Mapped[str] = mapped_column(String(80), default="", server_default="")
    task_id: Mapped[int | None] = mapped_column(ForeignKey("tasks.id"))


class ApiToken(Base):
    """A token for programs: shown once, kept as a hash. *unscoped* marks those from before tokens had scopes."""

    __tablename__ = "api_tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(80))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    hint: Mapped[str] = mapped_column(String(12))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    scopes: Mapped[str] = mapped_column(String(80), default="read", server_default="read")
    unscoped: Mapped[bool] = mapped_column(default=False, server_default=false())


class OneTimeLink(Base):
    """A link that works once: the first admin's, an invitation, a forgotten password."""

    __tablename__ = "one_time_links"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    purpose: Mapped[str] = mapped_column(String(20))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Throttle(Base):
    """How often something happened, per key and window of time; *window* is the second at which it began."""

    __tablename__ = "throttles"

    key: Mapped[str] = mapped_column(String(200), primary_key=True)
    window: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    count: Mapped[int] = mapped_column(default=0)
