"""Who comes by a panel's link: the browsers that they came by, and what an owner said about them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, now


class PanelDevice(Base):
    """A browser by which somebody came from a panel; only the hash of its cookie is kept.

    *proven* says that they showed there who they are, by more than the panel's id.
    """

    __tablename__ = "panel_devices"

    device: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, autoincrement=False, index=True)
    proven: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=now)


class PanelWord(Base):
    """An owner's word that somebody from a panel is a person of their own: they are paid for a task."""

    __tablename__ = "panel_words"

    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), primary_key=True, autoincrement=False, index=True)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class PanelRequest(Base):
    """Somebody at a door says to be a person who has come before: an owner lets them in, or a code does.

    *device* is the browser that asks, or empty for a code that an owner made; *state* is open, allowed, refused or
    used.
    """

    __tablename__ = "panel_requests"
    __table_args__ = (Index("ix_panel_requests_task_state", "task_id", "state"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    device: Mapped[str] = mapped_column(String(64), default="")
    way: Mapped[str] = mapped_column(String(8))
    code_hash: Mapped[str] = mapped_column(String(64), default="")
    state: Mapped[str] = mapped_column(String(8), default="open")
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    decided_at: Mapped[datetime | None]
