"""What is done outside of requests, and figures that follow from facts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from quintain.core.cells import CellState
from quintain.store.base import Base, now

_WAITS = text("state = 'queued'")


class Job(Base):
    """Something long that a worker does: of which kind, about what, how far it is, and what came of it.

    At most one of a kind and subject waits. *checkpoint* is what a worker that takes it over goes on from.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index("uq_jobs_waiting", "kind", "subject", unique=True, sqlite_where=_WAITS, postgresql_where=_WAITS),
        Index("ix_jobs_kind_subject", "kind", "subject", "id"),
        Index("ix_jobs_state", "state", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(60))
    subject: Mapped[str] = mapped_column(String(255))
    task: Mapped[str] = mapped_column(String(80), default="")
    params: Mapped[dict[str, Any]] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(String(10), default=CellState.QUEUED.value)
    asked_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    asked_at: Mapped[datetime] = mapped_column(default=now)
    not_before: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    worker: Mapped[str | None] = mapped_column(String(120))
    generation: Mapped[int] = mapped_column(default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    lease_until: Mapped[datetime | None]
    done: Mapped[int] = mapped_column(BigInteger, default=0)
    total: Mapped[int] = mapped_column(BigInteger, default=0)
    checkpoint: Mapped[dict[str, Any]] = mapped_column(default=dict)
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)
    reason: Mapped[str] = mapped_column(Text, default="")


class KeptFigure(Base):
    """A figure that follows from facts, with what it rests on; it can be thrown away and is computed again."""

    __tablename__ = "kept_figures"

    kind: Mapped[str] = mapped_column(String(60), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    basis: Mapped[str] = mapped_column(String(255))
    value: Mapped[dict[str, Any]]
    computed_at: Mapped[datetime] = mapped_column(default=now)
    seconds: Mapped[float] = mapped_column(default=0.0)


class KeptCount(Base):
    """How many facts of a kind there are, so that no list counts them: *scope* says whose, *name* which.

    *count* holds what was folded in; what is in `count_tails` comes on top.
    """

    __tablename__ = "kept_counts"

    scope: Mapped[str] = mapped_column(String(80), primary_key=True)
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    count: Mapped[int] = mapped_column(BigInteger, default=0)


class CountTail(Base):
    """A change of a count that is not yet folded into it: whoever adds facts adds rows here, and nobody waits."""

    __tablename__ = "count_tails"
    __table_args__ = (Index("ix_count_tails_count", "scope", "name", "change"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    scope: Mapped[str] = mapped_column(String(80))
    name: Mapped[str] = mapped_column(String(40))
    change: Mapped[int] = mapped_column(BigInteger)


class LoopRow(Base):
    """How something fares that goes on in a process; *seen_at* is when that process last said so."""

    __tablename__ = "loops"

    process: Mapped[str] = mapped_column(String(120), primary_key=True)
    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(default=now)
    state: Mapped[dict[str, Any]]
