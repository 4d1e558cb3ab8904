"""Indices of some of the rows, written alike for both kinds of database."""

from __future__ import annotations

from sqlalchemy import TextClause, text


def partial(condition: str) -> dict[str, TextClause]:
    """Return the options of an index that has only the rows for which *condition* holds."""
    return {"postgresql_where": text(condition), "sqlite_where": text(condition)}
