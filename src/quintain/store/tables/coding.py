"""Hand coding: samples that are drawn once, the places in which people code them, and what they said."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.core.coding import CodingState
from quintain.store.base import Base, Fact, now

PLAIN = JSON(none_as_null=True)


class CodingRow(Base):
    """A coding by name. *figures* are what the codes so far come to, computed as they arrive; see *figured*."""

    __tablename__ = "codings"
    __table_args__ = (UniqueConstraint("task_id", "name"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("tasks.id"), index=True)
    name: Mapped[str] = mapped_column(String(60))
    state: Mapped[str] = mapped_column(String(12), default=CodingState.OPEN.value)
    toml: Mapped[str] = mapped_column(Text)
    figures: Mapped[dict[str, Any] | None] = mapped_column(PLAIN, nullable=True)
    figured: Mapped[int] = mapped_column(default=0)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    closed_at: Mapped[datetime | None]


class CodingItem(Base):
    """An item of the sample, in the mixed order in which all are coded. *arm* is for nobody before the end.

    *text* is a justification, where those are coded; *alike* are the texts that are nearly the same. *attempt_id* and
    *alike_attempts* say what somebody wrote: once that is taken back or withheld, the item is out of the sample.
    """

    __tablename__ = "coding_items"
    __table_args__ = (
        UniqueConstraint("coding_id", "arm", "key"),
        Index("ix_coding_items_coding_draw", "coding_id", "draw"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    coding_id: Mapped[int] = mapped_column(ForeignKey("codings.id"))
    key: Mapped[str] = mapped_column(String(80))
    arm: Mapped[str] = mapped_column(String(200))
    inputs: Mapped[dict[str, Any]] = mapped_column(default=dict)
    answer: Mapped[Any] = mapped_column(PLAIN, nullable=True)
    text: Mapped[str] = mapped_column(Text, default="")
    alike: Mapped[list[str]] = mapped_column(default=list)
    author_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    attempt_id: Mapped[int | None] = mapped_column(ForeignKey("attempts.id"))
    alike_attempts: Mapped[list[int | None]] = mapped_column(JSON, default=list)
    draw: Mapped[int]


class CodingPlace(Base):
    """A place for one person's word on one item: free, in somebody's hands until *lease_until*, or done.

    Places are filled in the order of *turn*: every item once, then every item for the second time. A place that is
    done belongs to its holder for good.
    """

    __tablename__ = "coding_places"
    __table_args__ = (
        UniqueConstraint("item_id", "turn"),
        Index("ix_coding_places_coding_done_turn", "coding_id", "done", "turn"),
        Index("ix_coding_places_coding_holder", "coding_id", "holder_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    coding_id: Mapped[int] = mapped_column(ForeignKey("codings.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("coding_items.id"))
    turn: Mapped[int]
    done: Mapped[bool] = mapped_column(default=False)
    holder_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    held_since: Mapped[datetime | None]
    lease_until: Mapped[datetime | None]


class CodingCode(Fact, Base):
    """What the holder of a place said of its item; who changes their mind says it anew, and the newest counts."""

    __tablename__ = "coding_codes"

    id: Mapped[int] = mapped_column(primary_key=True)
    place_id: Mapped[int] = mapped_column(ForeignKey("coding_places.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    categories: Mapped[list[str]] = mapped_column(default=list)
    note: Mapped[str] = mapped_column(Text, default="")
    seconds: Mapped[float | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
