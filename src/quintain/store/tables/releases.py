"""Releases: the data set versions that were made of a validation's items, and what their datasheets say."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, Fact, now


class ReleaseRow(Fact, Base):
    """One release of a validation: by which specification, and the report that proves its properties."""

    __tablename__ = "releases"
    __table_args__ = (UniqueConstraint("validation_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"))
    number: Mapped[int]
    spec: Mapped[dict[str, Any]]
    report: Mapped[dict[str, Any]]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ReleaseVersion(Fact, Base):
    """A data set version that a release is made of; the same version may be in several releases."""

    __tablename__ = "release_versions"
    __table_args__ = (UniqueConstraint("release_id", "split"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    release_id: Mapped[int] = mapped_column(ForeignKey("releases.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("dataset_versions.id"), index=True)
    split: Mapped[str] = mapped_column(String(12))


class DatasheetAnswers(Fact, Base):
    """What a task's owner answered to the open questions of its datasheets. The newest counts."""

    __tablename__ = "datasheet_answers"

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    answers: Mapped[dict[str, Any]] = mapped_column(default=dict)
    by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
