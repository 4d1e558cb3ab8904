"""Trainings: recipes that workers train."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, now


class TrainingRow(Base):
    """A recipe on its way to models. *state* is queued, running, done, failed or cancelled.

    A worker holds it until *lease_until*; *generation* is the fencing token, as with cells.
    """

    __tablename__ = "trainings"

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(120))
    recipe: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(12), default="queued", index=True)
    progress: Mapped[float] = mapped_column(default=0.0)
    generation: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(120))
    lease_until: Mapped[datetime | None]
    reason: Mapped[str] = mapped_column(Text, default="")
    result: Mapped[dict[str, Any] | None]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
