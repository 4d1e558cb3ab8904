"""What runs of models on paid servers have cost."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from quintain.store.base import Base, now


class Charge(Base):
    """The cost of one run of a cell, by lease. Until it is *settled*, the *amount* is what the run may spend at most.

    *secret* names the operator's key that paid. What was asked outside of a run, by people or to try a model, belongs
    to no cell, and a model that is tried before it is registered has no version.
    """

    __tablename__ = "charges"
    __table_args__ = (UniqueConstraint("cell_id", "generation"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    model_version_id: Mapped[int | None] = mapped_column(ForeignKey("model_versions.id"), index=True)
    cell_id: Mapped[int | None] = mapped_column(ForeignKey("cells.id"))
    generation: Mapped[int]
    secret: Mapped[str | None] = mapped_column(String(200), index=True)
    amount: Mapped[float]
    settled: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=now)
