"""The workspace's keys, and who a signature is by.

A key is made when something is first to be signed, and kept in the database: every process signs with the same one, and
a backup holds it. Its public part is for everybody. A key that was replaced signs no more and stays published.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records import board as records
from quintain.data import signatures
from quintain.services.access import audit
from quintain.services.access.permissions import require_admin
from quintain.store.base import now
from quintain.store.blobs import Blobs
from quintain.store.database import lock, transaction
from quintain.store.queries.board import boards as queries
from quintain.store.tables import SigningKey

State = Literal["passed", "failed", "unknown"]


@dataclass(frozen=True, slots=True)
class KeySource:
    """Keys that are believed, each with when it was replaced, and why. *required*: any other key is a fault."""

    words: str
    keys: Mapping[str, datetime | None]
    required: bool


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked: it passed, it failed, or it could not be told."""

    what: str
    state: State
    text: str

    def as_dict(self) -> dict[str, str]:
        """Give it as plain data, for JSON."""
        return {"what": self.what, "state": self.state, "text": self.text}


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
        made = _make(db)
        audit.record(db, actor, "key.replace", made.key_id)
    return _info(made)


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


def sign_kept(db: Session, blobs: Blobs) -> int:
    """Sign the snapshots from before there were keys, and give their number.

    Those that hold the bare hash of a data set with hidden answers get the salted one in its place, and with it a hash
    of their own: from the old ones the answers of a small set could be computed.
    """
    renewed = 0
    hidden = queries.hidden_hashes(db)
    for kept in queries.unsigned_snapshots(db):
        shape = json.loads(blobs.path(kept.blob).read_bytes())
        for dataset in shape["board"]["datasets"]:
            dataset["hash"] = hidden.get(dataset["ref"], dataset["hash"])
        names = shape["inputs"]["datasets"]
        shape["inputs"]["datasets"] = {ref: hidden.get(ref, name) for ref, name in names.items()}
        shape["hash"] = signatures.digest(shape)
        signature = sign(db, shape["hash"])
        blob = blobs.put(signed_file(shape, signature))
        with transaction(db):
            kept.hash, kept.blob, kept.key_id = shape["hash"], blob, signature["key_id"]
        renewed += 1
    return renewed


def check_signature(content_hash: str, signature: object, sources: Sequence[KeySource]) -> list[Check]:
    """Check a file's *signature* of its hash, and that its key is one of those in *sources*."""
    required = [source for source in sources if source.required]
    if signature is None:
        if required:
            return [Check("signature", "failed", "it is not signed")]
        return [Check("signature", "unknown", "it is not signed, so nothing says who made it")]
    named = signature if isinstance(signature, Mapping) else {}
    public, value = (str(named.get(name) or "") for name in ("public_key", "value"))
    if named.get("algorithm") != signatures.ALGORITHM or not signatures.is_signed(content_hash, value, public):
        return [Check("signature", "failed", "its signature does not fit its content: it was changed, or is forged")]
    key = signatures.key_id(public)
    return [Check("signature", "passed", f"it is signed with key {key}"), *_whose(key, public, sources)]


def _whose(key: str, public: str, sources: Sequence[KeySource]) -> list[Check]:
    found = []
    for source in sources:
        if public in source.keys:
            replaced = source.keys[public]
            since = f"; it was replaced on {replaced:%Y-%m-%d} and signs nothing newer" if replaced else ""
            found.append(Check("key", "passed", f"key {key} is {source.words}{since}"))
        elif source.required:
            found.append(Check("key", "failed", f"key {key} is not {source.words}: somebody else signed it"))
    return found or [Check("key", "unknown", f"key {key} is not known here: anybody can make a key")]


def key_id_of(signature: Any) -> str | None:
    """Give the id of the key that a signature says it is by, computed from the key itself."""
    try:
        return signatures.key_id(signature["public_key"])
    except (TypeError, KeyError, ValueError):
        return None
