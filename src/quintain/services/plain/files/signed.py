"""Who a signed file is by: its signature, checked against keys that are believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from quintain.data import signatures

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
        """Return plain data, for JSON."""
        return {"what": self.what, "state": self.state, "text": self.text}


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
    checks = []
    for source in sources:
        if public in source.keys:
            replaced = source.keys[public]
            since = f"; it was replaced on {replaced:%Y-%m-%d} and signs nothing newer" if replaced else ""
            checks.append(Check("key", "passed", f"key {key} is {source.words}{since}"))
        elif source.required:
            checks.append(Check("key", "failed", f"key {key} is not {source.words}: somebody else signed it"))
    return checks or [Check("key", "unknown", f"key {key} is not known here: anybody can make a key")]


def key_id_of(signature: Any) -> str | None:
    """Return the id of the key that a signature says it is by, computed from the key itself."""
    try:
        return signatures.key_id(signature["public_key"])
    except (TypeError, KeyError, ValueError):
        return None
