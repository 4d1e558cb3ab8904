"""All tables as they were at revision 0041, from which the migrations go on.

Never changed: what differs today came by a migration. The code's own tables are in `store.tables`.
"""

from __future__ import annotations

from sqlalchemy import Connection, Index, MetaData

from quintain.store.base import NAMING
from quintain.store.baseline import access, collect, contest, evaluate, pay, study, validate


def baseline() -> MetaData:
    """Return the tables with their keys and indices."""
    tables = MetaData(naming_convention=NAMING)
    for room in (access, evaluate, collect, validate, pay, study, contest):
        room.add_tables(tables)
    return tables


def create_tables(connection: Connection) -> None:
    """Create them in an empty database, each table's indices in one order.

    Where two indices fit a statement alike, SQLite takes the one that was made last: the narrower one is.
    """
    tables = baseline()
    indices = [index for table in tables.sorted_tables for index in sorted(table.indexes, key=_narrower_last)]
    for table in tables.sorted_tables:
        table.indexes.clear()
    tables.create_all(connection)
    for index in indices:
        index.create(connection)


def _narrower_last(index: Index) -> tuple[int, str]:
    where = index.dialect_options["sqlite"]["where"]
    return (0 if where is None else 1 + str(where).count(" AND ")), str(index.name)
