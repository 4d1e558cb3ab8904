"""Who made a file: Ed25519 signatures over the hash of its content.

A signed file is JSON with `hash`, the SHA-256 of the canonical JSON of all else, and `signature`: the id of the key,
its public part, and the signature of the hash. Keys travel as base64; a key's id is the beginning of its own SHA-256.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey

from quintain.core.errors import BadInput
from quintain.core.hashing import canonical_json

ALGORITHM = "Ed25519"
_ABOUT = b"quintain board snapshot\n"  # so that a signature of ours never means anything else
_NOT_CONTENT = {"hash", "signature"}


def digest(shape: Mapping[str, Any]) -> str:
    """Return the hash of a file's content: of all but its hash and its signature."""
    return hashlib.sha256(canonical_json({k: v for k, v in shape.items() if k not in _NOT_CONTENT})).hexdigest()


def make_key() -> tuple[str, str]:
    """Make a key: the secret part, and the public one."""
    key = SigningKey.generate()
    return _text(bytes(key)), _text(bytes(key.verify_key))


def key_id(public: str) -> str:
    """Return the id of a public key."""
    return hashlib.sha256(_bytes(public)).hexdigest()[:16]


def sign(secret: str, content_hash: str) -> dict[str, str]:
    """Sign a hash; give what a file carries as its `signature`."""
    key = SigningKey(_bytes(secret))
    public = _text(bytes(key.verify_key))
    value = _text(key.sign(_ABOUT + content_hash.encode()).signature)
    return {"algorithm": ALGORITHM, "key_id": key_id(public), "public_key": public, "value": value}


def is_signed(content_hash: str, value: str, public: str) -> bool:
    """Whether *value* is the signature of this hash by the key whose public part is *public*."""
    try:
        VerifyKey(_bytes(public)).verify(_ABOUT + content_hash.encode(), _bytes(value))
    except (CryptoError, ValueError, TypeError):
        return False
    return True


def read_public(text: str) -> str:
    """Read a public key as somebody gives it; raise BadInput where it is none."""
    try:
        data = _bytes(text.strip())
    except ValueError:
        data = b""
    if len(data) != 32:
        raise BadInput(
            "'{text}' is not a public key.",
            text=text.strip()[:60],
            remedy="Give the 44 characters of base64 that the server shows at /api/v1/keys.",
        )
    return _text(data)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
