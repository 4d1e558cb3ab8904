"""The workspace's keys.

A key is made when something is first to be signed, and kept in the database: every process signs with the same one, and
a backup holds it. Its public part is for everybody. A key that was replaced signs no more and stays published.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records import board as records
from quintain.data import signatures
from quintain.services.access import audit
from quintain.services.access.permissions import require_admin
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.access import signing as queries
from quintain.store.tables import SigningKey


def published_keys(db: Session) -> list[records.SigningKey]:
    """List the public parts of the workspace's keys, the one that signs now first."""
    return [_info(key) for key in queries.signing_keys(db)]


def replace_key(db: Session, actor: Actor) -> records.SigningKey:
    """Sign with a new key from now on; what the older ones signed stays as it is."""
    require_admin(actor)
    with transaction(db):
        lock(db, "signing keys")
        for key in queries.signing_keys(db):
            key.replaced_at = key.replaced_at or now()
        new_key = _make(db)
        audit.record(db, actor, "key.replace", new_key.key_id)
    return _info(new_key)


def sign(db: Session, content_hash: str) -> dict[str, str]:
    """Sign a hash with the workspace's key, which is made where there is none."""
    with transaction(db):
        lock(db, "signing keys")
        key = next((key for key in queries.signing_keys(db) if key.replaced_at is None), None) or _make(db)
    return signatures.sign(key.secret, content_hash)


def _make(db: Session) -> SigningKey:
    secret, public = signatures.make_key()
    key = SigningKey(key_id=signatures.key_id(public), public=public, secret=secret)
    db.add(key)
    db.flush()
    return key


def _info(key: SigningKey) -> records.SigningKey:
    return records.SigningKey(key.key_id, key.public, key.created_at, key.replaced_at)


def signed_file(shape: Mapping[str, Any], signature: Mapping[str, str]) -> bytes:
    """Write what was signed as a file."""
    whole = {**shape, "signature": dict(signature)}
    return json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False).encode()
