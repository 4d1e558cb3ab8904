"""The hash of an anonymous model as others see it.

Equal content has equal hashes, so that a public twin would tell whose an anonymous model is. Until it is opened, its
hash is salted for all but those who may change it; what is kept under the hash inside stays where it is.
"""

from __future__ import annotations

import hashlib
import hmac

from sqlalchemy.orm import Session

from quintain.services.access.installation_keys import installation_key

KEY = "anonymous models"


def salted_hash(db: Session, version_id: int, content_hash: str) -> str:
    """Return the hash that stands for a version: always the same, and another for each version of the same content."""
    key = installation_key(db, KEY)
    return hmac.new(key, f"{version_id}/{content_hash}".encode(), hashlib.sha256).hexdigest()
