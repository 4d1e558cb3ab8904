"""Models: a name, its versions, and their cards."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, now


class Model(Base):
    """A model of a task, by name. *visibility* is public, private or anonymous (shown, but not whose it is)."""

    __tablename__ = "models"
    __table_args__ = (UniqueConstraint("task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(120))
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    visibility: Mapped[str] = mapped_column(String(16), default="public")
    created_at: Mapped[datetime] = mapped_column(default=now)


class ModelVersion(Base):
    """One immutable state of a model: how to run it, its artefacts (a blob) and its card, named by their hash."""

    __tablename__ = "model_versions"
    __table_args__ = (UniqueConstraint("model_id", "hash"), UniqueConstraint("model_id", "number"))

    id: Mapped[int] = mapped_column(primary_key=True)
    model_id: Mapped[int] = mapped_column(ForeignKey("models.id"), index=True)
    number: Mapped[int]
    hash: Mapped[str] = mapped_column(String(64), index=True)
    adapter: Mapped[str] = mapped_column(String(40))
    blob: Mapped[str | None] = mapped_column(String(80))
    card: Mapped[str] = mapped_column(Text, default="")
    meta: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    withdrawn_at: Mapped[datetime | None]


class ModelCard(Base):
    """A later wording of a version's card. Append-only: the newest is shown, the first stays in the version."""

    __tablename__ = "model_cards"

    id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("model_versions.id"), index=True)
    text: Mapped[str] = mapped_column(Text)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
