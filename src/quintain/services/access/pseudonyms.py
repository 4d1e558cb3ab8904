"""Other names for people in what leaves the platform: the same within one task, and no way back without our key."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from sqlalchemy.orm import Session

from quintain.services.access.installation_keys import installation_key

KEY = "pseudonyms"
LENGTH = 12


def pseudonyms(db: Session, user_ids: Iterable[int | None], scope: str) -> dict[int, str]:
    """Return the name that each person has in exports of *scope*, such as a task."""
    key = installation_key(db, KEY)
    return {
        one: "w-" + hmac.new(key, f"{scope}:{one}".encode(), hashlib.sha256).hexdigest()[:LENGTH]
        for one in set(user_ids)
        if one is not None
    }
