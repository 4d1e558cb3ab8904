"""Whether a model version has passed its trial, as a condition of queries."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.orm import Session

from quintain.store.tables import ModelVersion, Tryout

QUEUED, PASSED, REFUSED = "queued", "passed", "refused"


def untried() -> ColumnElement[bool]:
    """Return a condition on a model version: its trial has not been passed."""
    return exists().where(Tryout.version_id == ModelVersion.id, Tryout.state != PASSED)


def refused() -> ColumnElement[bool]:
    """Return a condition on a model version: it was refused after its trial."""
    return exists().where(Tryout.version_id == ModelVersion.id, Tryout.state == REFUSED)


def is_refused(db: Session, version_id: int) -> bool:
    """Whether a model version was refused after its trial."""
    return db.scalar(select(Tryout.state).where(Tryout.version_id == version_id)) == REFUSED


def tryouts(db: Session, version_ids: Sequence[int]) -> dict[int, Tryout]:
    """Return the trials of those of the versions that have one."""
    return {one.version_id: one for one in db.scalars(select(Tryout).where(Tryout.version_id.in_(version_ids)))}
