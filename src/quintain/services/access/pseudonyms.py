"""Other names for people in what leaves the platform: the same within one task, and no way back without our key."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable

from sqlalchemy.orm import Session

from quintain.store.database import lock, transaction
from quintain.store.tables import Secret

KEY = "pseudonyms"
LENGTH = 12


def pseudonyms(db: Session, user_ids: Iterable[int | None], scope: str) -> dict[int, str]:
    """Give each person the name they have in exports of *scope*, such as a task."""
    key = _key(db).encode()
    return {
        one: "w-" + hmac.new(key, f"{scope}:{one}".encode(), hashlib.sha256).hexdigest()[:LENGTH]
        for one in set(user_ids)
        if one is not None
    }


def _key(db: Session) -> str:
    found = db.get(Secret, KEY)
    if found is None:
        with transaction(db):
            lock(db, "secrets")
            found = db.get(Secret, KEY, populate_existing=True)
            if found is None:
                found = Secret(name=KEY, value=secrets.token_hex(32))
                db.add(found)
                db.flush()
    return found.value
