"""Queries on the keys that the workspace signs with."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from quintain.store.tables import (
    SigningKey,
)


def signing_keys(db: Session) -> Sequence[SigningKey]:
    """List the keys that the workspace signs and signed with, the newest first."""
    return db.scalars(select(SigningKey).order_by(SigningKey.id.desc())).all()
