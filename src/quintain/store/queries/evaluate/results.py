"""The cache of computed figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from quintain.store.base import now
from quintain.store.tables import ResultCache


def cached(db: Session, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return what is cached under *keys*; those without anything are left out."""
    values: dict[str, dict[str, Any]] = {}
    for start in range(0, len(keys), 500):
        query = select(ResultCache.key, ResultCache.value).where(ResultCache.key.in_(keys[start : start + 500]))
        values |= {key: value for key, value in db.execute(query)}  # noqa: C416 - rows unpack to typed pairs
    return values


def replace(db: Session, values: Mapping[str, Mapping[str, Any]]) -> None:
    """Cache *values* in place of what is there: it was found wrong."""
    add = postgresql.insert if db.get_bind().dialect.name == "postgresql" else sqlite.insert
    for key, value in values.items():
        changed = {"value": dict(value), "created_at": now()}
        row = add(ResultCache).values(key=key, **changed)
        db.execute(row.on_conflict_do_update(index_elements=[ResultCache.key], set_=changed))


def forget_before(db: Session, moment: datetime) -> int:
    """Throw away what was cached before a moment; give how much that was."""
    old = delete(ResultCache).where(ResultCache.created_at < moment)
    return int(db.execute(old.execution_options(synchronize_session=False)).rowcount)  # type: ignore[attr-defined]


def keep(db: Session, values: Mapping[str, Mapping[str, Any]]) -> None:
    """Cache *values*; two who computed the same at once do not mind each other."""
    if not values:
        return
    rows = [{"key": key, "value": dict(value), "created_at": now()} for key, value in values.items()]
    dialect = postgresql if db.get_bind().dialect.name == "postgresql" else sqlite
    db.execute(dialect.insert(ResultCache).on_conflict_do_nothing(), rows)
