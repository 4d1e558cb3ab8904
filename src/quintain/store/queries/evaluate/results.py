"""The cache of computed figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.base import now
from quintain.store.tables import ResultCache


def cached(db: Session, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Give what is cached under *keys*."""
    found: dict[str, dict[str, Any]] = {}
    for start in range(0, len(keys), 500):
        query = select(ResultCache.key, ResultCache.value).where(ResultCache.key.in_(keys[start : start + 500]))
        found |= {key: value for key, value in db.execute(query)}  # noqa: C416 - rows unpack to typed pairs
    return found


def keep(db: Session, values: Mapping[str, Mapping[str, Any]]) -> None:
    """Cache *values*; two who computed the same at once do not mind each other."""
    if not values:
        return
    rows = [{"key": key, "value": dict(value), "created_at": now()} for key, value in values.items()]
    dialect = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    db.execute(dialect.insert(ResultCache).on_conflict_do_nothing(), rows)
