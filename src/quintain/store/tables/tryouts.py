"""Trials: a submitted model answers a few examples before any run of it is queued."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, now


class Tryout(Base):
    """The trial of a version that could not be tried where it was submitted. *state* is queued, passed or refused.

    A worker holds it until *lease_until*; *generation* is the fencing token, as with cells. A version without a trial
    was tried before it was registered.
    """

    __tablename__ = "trials"

    version_id: Mapped[int] = mapped_column(ForeignKey("model_versions.id"), primary_key=True, autoincrement=False)
    state: Mapped[str] = mapped_column(String(12), default="queued", index=True)
    generation: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(120))
    lease_until: Mapped[datetime | None]
    reason: Mapped[str] = mapped_column(Text, default="")
    log: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime | None]
