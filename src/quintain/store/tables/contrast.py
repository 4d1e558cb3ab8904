"""Contrast projects: test items that experts edit, their edits, and what others say of those."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.core.contrast import PivotState, ProjectState, VariantState
from quintain.store.base import Base, Fact, now


class ContrastProject(Base):
    """A project by name, over one version of a data set. *toml* is its newest file; the log has those before."""

    __tablename__ = "contrast_projects"
    __table_args__ = (UniqueConstraint("task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    dataset_version_id: Mapped[int] = mapped_column(ForeignKey("dataset_versions.id"))
    name: Mapped[str] = mapped_column(String(80))
    state: Mapped[str] = mapped_column(String(12), default=ProjectState.OPEN.value)
    toml: Mapped[str] = mapped_column(Text)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    closed_at: Mapped[datetime | None]


class ContrastPivot(Base):
    """An example to edit. A lease that lapsed is free; *generation* grows with each, and only its holder writes.

    *held_since* is when the holder last began an edit: what time an edit took is counted from there.
    """

    __tablename__ = "contrast_pivots"
    __table_args__ = (
        UniqueConstraint("project_id", "example"),
        Index("ix_contrast_pivots_project_state_draw", "project_id", "state", "draw"),
        Index("ix_contrast_pivots_project_holder", "project_id", "holder_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("contrast_projects.id"))
    example: Mapped[str] = mapped_column(String(64))
    inputs: Mapped[dict[str, Any]] = mapped_column(default=dict)
    answer: Mapped[Any] = mapped_column(JSON, nullable=True)
    tags: Mapped[list[str]] = mapped_column(default=list)
    draw: Mapped[int] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(12), default=PivotState.FREE.value)
    holder_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    held_since: Mapped[datetime | None]
    lease_until: Mapped[datetime | None]
    generation: Mapped[int] = mapped_column(default=0)


class ContrastVariant(Base):
    """An edited copy of a pivot, with its new answer and how large the edit is.

    *reason* says why it may be larger than the limit. *draft* names the rule, or the model, whose draft it began as.
    *settled* is the answer that an adjudicator gave instead of the author's. Who checks it now is its *holder*.
    """

    __tablename__ = "contrast_variants"
    __table_args__ = (
        Index("ix_contrast_variants_project_hash", "project_id", "hash"),
        Index("ix_contrast_variants_project_state", "project_id", "state", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("contrast_projects.id"))
    pivot_id: Mapped[int] = mapped_column(ForeignKey("contrast_pivots.id"), index=True)
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    hash: Mapped[str] = mapped_column(String(64))
    inputs: Mapped[dict[str, Any]] = mapped_column(default=dict)
    answer: Mapped[Any] = mapped_column(JSON, nullable=True)
    settled: Mapped[Any] = mapped_column(JSON, nullable=True)
    tags: Mapped[list[str]] = mapped_column(default=list)
    rationale: Mapped[str] = mapped_column(Text, default="")
    reason: Mapped[str] = mapped_column(Text, default="")
    keeps_label: Mapped[bool] = mapped_column(default=False)
    draft: Mapped[str] = mapped_column(String(200), default="")
    tokens: Mapped[int]
    characters: Mapped[int]
    seconds: Mapped[float | None]
    state: Mapped[str] = mapped_column(String(12), default=VariantState.WRITTEN.value)
    holder_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    held_since: Mapped[datetime | None]
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContrastCheck(Fact, Base):
    """What somebody who did not write a variant says of it; an adjudicator's word is the last one."""

    __tablename__ = "contrast_checks"
    __table_args__ = (UniqueConstraint("variant_id", "user_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    variant_id: Mapped[int] = mapped_column(ForeignKey("contrast_variants.id"), index=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    answer: Mapped[Any] = mapped_column(JSON, nullable=True)
    agrees: Mapped[bool]
    minimal: Mapped[bool]
    sound: Mapped[bool]
    note: Mapped[str] = mapped_column(Text, default="")
    seconds: Mapped[float | None]
    adjudicates: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=now)


class ContrastLook(Fact, Base):
    """Somebody looked at what a model says of a pivot, which then left the project."""

    __tablename__ = "contrast_looks"

    id: Mapped[int] = mapped_column(primary_key=True)
    pivot_id: Mapped[int] = mapped_column(ForeignKey("contrast_pivots.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    model_version_id: Mapped[int] = mapped_column(ForeignKey("model_versions.id"))
    answer: Mapped[Any] = mapped_column(JSON, nullable=True)
    created_at: Mapped[datetime] = mapped_column(default=now)
