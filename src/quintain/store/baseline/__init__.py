"""All tables as they were at revision 0041, from which the migrations go on.

Never changed: what differs today came by a migration. The code's own tables are in `store.tables`.
"""

from __future__ import annotations

from sqlalchemy import MetaData

from quintain.store.base import NAMING
from quintain.store.baseline import access, collect, contest, evaluate, pay, study, validate


def baseline() -> MetaData:
    """Return the tables with their keys and indices."""
    tables = MetaData(naming_convention=NAMING)
    for room in (access, evaluate, collect, validate, pay, study, contest):
        room.add_tables(tables)
    return tables
