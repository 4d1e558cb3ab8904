"""Cells, the units of evaluation, and what is kept of each run."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from quintain.core.cells import CellState
from quintain.store.base import Base, now


class Cell(Base):
    """Model version × data set version × variant: computed once, its predictions kept.

    *generation* is the fencing token: it grows with every lease, and only the holder of the newest one may write.
    *waits_for* names what a queued cell waits for beside its turn: `sandbox`, or nothing.
    Where *machine* is set, only workers on machines of that class take the cell.
    """

    __tablename__ = "cells"
    __table_args__ = (
        UniqueConstraint("model_version_id", "dataset_version_id", "variant"),
        Index("ix_cells_state_lease_until", "state", "lease_until"),
        Index("ix_cells_dataset_state", "dataset_version_id", "state", "model_version_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    model_version_id: Mapped[int] = mapped_column(ForeignKey("model_versions.id"), index=True)
    dataset_version_id: Mapped[int] = mapped_column(ForeignKey("dataset_versions.id"))
    variant: Mapped[str] = mapped_column(String(80))
    state: Mapped[str] = mapped_column(String(12), default=CellState.QUEUED.value)
    generation: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(120))
    machine: Mapped[str | None] = mapped_column(String(120))
    lease_until: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    lost: Mapped[int] = mapped_column(default=0, server_default="0")  # leases that lapsed without a word
    done: Mapped[int] = mapped_column(default=0)
    total: Mapped[int] = mapped_column(default=0)
    reason: Mapped[str] = mapped_column(Text, default="")
    waits_for: Mapped[str] = mapped_column(String(20), default="", server_default="")
    predictions: Mapped[str | None] = mapped_column(String(80))
    measurements: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]


class CellEvent(Base):
    """What happened to a cell, in order: leases, failures with their logs, the end. Append-only."""

    __tablename__ = "cell_events"

    id: Mapped[int] = mapped_column(primary_key=True)
    cell_id: Mapped[int] = mapped_column(ForeignKey("cells.id"), index=True)
    at: Mapped[datetime] = mapped_column(default=now)
    kind: Mapped[str] = mapped_column(String(20))
    text: Mapped[str] = mapped_column(Text, default="")


class Variant(Base):
    """A data set version as changed by one perturbation: only the rows that it changes, made once for all models.

    *secret* says that its seed is the workspace's own; variants of earlier releases have the public one.
    """

    __tablename__ = "variants"
    __table_args__ = (UniqueConstraint("dataset_version_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    dataset_version_id: Mapped[int] = mapped_column(ForeignKey("dataset_versions.id"), index=True)
    name: Mapped[str] = mapped_column(String(80))
    hash: Mapped[str] = mapped_column(String(64))
    blob: Mapped[str] = mapped_column(String(80))
    rows: Mapped[int]
    secret: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[datetime] = mapped_column(default=now)


class Upload(Base):
    """A model's archive on its way in; it can be taken up again where it broke off."""

    __tablename__ = "uploads"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    size: Mapped[int]
    sha256: Mapped[str] = mapped_column(String(64))
    received: Mapped[int] = mapped_column(default=0)
    blob: Mapped[str | None] = mapped_column(String(80))
    created_at: Mapped[datetime] = mapped_column(default=now)


class ResultCache(Base):
    """Figures computed from predictions. The key hashes all that goes in, so a row is never stale, only unused."""

    __tablename__ = "result_cache"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[dict[str, Any]] = mapped_column(default=dict)
    created_at: Mapped[datetime] = mapped_column(default=now)
