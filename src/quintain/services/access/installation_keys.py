"""Keys of this installation, each made when it is first needed and kept in the database."""

from __future__ import annotations

import secrets

from sqlalchemy.orm import Session

from quintain.store.database import lock, transaction
from quintain.store.tables import Secret


def installation_key(db: Session, name: str) -> bytes:
    """Return the secret key called *name*; who asks first makes it."""
    row = db.get(Secret, name)
    if row is None:
        with transaction(db):
            lock(db, "secrets")
            row = db.get(Secret, name, populate_existing=True)
            if row is None:
                row = Secret(name=name, value=secrets.token_hex(32))
                db.add(row)
                db.flush()
    return row.value.encode()
