"""Data sets: a name, its immutable versions, and what was made from what."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, now


class Dataset(Base):
    """A data set of a task, by name.

    *inputs* is who may read its inputs, `open`, `request` or `never`; where nobody chose, versions with hidden labels
    are `never` and others `open`. With *traces* builders are told where their model failed on it, without values.
    """

    __tablename__ = "datasets"
    __table_args__ = (UniqueConstraint("task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(120))
    inputs: Mapped[str | None] = mapped_column(String(10))
    traces: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(default=now)


class InputRequest(Base):
    """Somebody asked to read the inputs of a data set: *state* is `waiting`, `granted`, `declined` or `revoked`."""

    __tablename__ = "input_requests"
    __table_args__ = (UniqueConstraint("dataset_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    dataset_id: Mapped[int] = mapped_column(ForeignKey("datasets.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    why: Mapped[str] = mapped_column(Text, default="")
    state: Mapped[str] = mapped_column(String(10), default="waiting")
    asked_at: Mapped[datetime] = mapped_column(default=now)
    decided_at: Mapped[datetime | None]


class DatasetVersion(Base):
    """An immutable list of examples. *hash* names its content, *blob* the Parquet file that holds it.

    Where answers are hidden, *hash* is made with *salt*, which never leaves the server.
    """

    __tablename__ = "dataset_versions"
    __table_args__ = (UniqueConstraint("dataset_id", "hash"), UniqueConstraint("dataset_id", "number"))

    id: Mapped[int] = mapped_column(primary_key=True)
    dataset_id: Mapped[int] = mapped_column(ForeignKey("datasets.id"), index=True)
    number: Mapped[int]
    hash: Mapped[str] = mapped_column(String(64), index=True)
    salt: Mapped[str | None] = mapped_column(String(64))
    blob: Mapped[str] = mapped_column(String(80))
    role: Mapped[str] = mapped_column(String(16))
    hidden: Mapped[bool] = mapped_column(default=False)
    rows: Mapped[int]
    language: Mapped[str] = mapped_column(String(16), default="en")
    description: Mapped[str] = mapped_column(Text, default="")
    meta: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class Lineage(Base):
    """One version was derived from another, by what and with which settings."""

    __tablename__ = "lineage"

    id: Mapped[int] = mapped_column(primary_key=True)
    child_id: Mapped[int] = mapped_column(ForeignKey("dataset_versions.id"), index=True)
    parent_id: Mapped[int] = mapped_column(ForeignKey("dataset_versions.id"), index=True)
    how: Mapped[str] = mapped_column(String(80))
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)
