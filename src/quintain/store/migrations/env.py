"""What Alembic runs for every migration: our tables, on the connection that `store.migrate` hands over."""

from __future__ import annotations

from typing import Literal

from alembic import context

import quintain.store.tables  # noqa: F401 - importing the tables completes the metadata
from quintain.store.base import Base, UtcTime

connection = context.config.attributes["connection"]


def render(kind: str, item: object, _: object) -> str | Literal[False]:
    """Write our time type as what it is in the database, so that a migration never depends on later code."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcTime) else False


context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    render_as_batch=True,  # SQLite cannot alter a column in place
    render_item=render,
)
context.run_migrations()
