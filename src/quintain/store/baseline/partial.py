"""Indices of some of the rows, written alike for both kinds of database."""

from __future__ import annotations

from sqlalchemy import Index, text


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """Return an index of the rows for which *where* holds, to be named among the parts of a table."""
    return Index(name, *columns, unique=unique, postgresql_where=text(where), sqlite_where=text(where))
