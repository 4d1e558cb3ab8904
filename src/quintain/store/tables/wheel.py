"""How models stand against people on the tests of released rounds."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now


class RoundStandingRow(Base):
    """A model version against people on the test of a release.

    *predictions* are those that the *figures* rest on; other ones make them anew. *low* is the lower bound of the
    difference between model and people, to look for those that may do as well. *signalled_at* is when the owners
    were told that the model does as well as people.
    """

    __tablename__ = "round_standings"
    __table_args__ = (UniqueConstraint("release_id", "model_version_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    release_id: Mapped[int] = mapped_column(ForeignKey("releases.id"))
    model_version_id: Mapped[int] = mapped_column(ForeignKey("model_versions.id"), index=True)
    predictions: Mapped[str] = mapped_column(String(80))
    items: Mapped[int]
    figures: Mapped[dict[str, Any]]
    low: Mapped[float | None]
    computed_at: Mapped[datetime] = mapped_column(default=now)
    signalled_at: Mapped[datetime | None]


class ParityMargin(Fact, Base):
    """How much lower than that of people a model's score may be in a task; the newest counts."""

    __tablename__ = "parity_margins"

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    margin: Mapped[float]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
