"""Names made from content: the same content has the same id everywhere, for ever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

ID_LENGTH = 32


def canonical_json(value: Any) -> bytes:
    """Write *value* as JSON in the one form that is hashed: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def content_id(value: bytes | Mapping[str, Any] | list[Any] | str) -> str:
    """Return the id of *value*: the first half of its SHA-256 in hexadecimal.

    >>> content_id({"b": 1, "a": 2}) == content_id({"a": 2, "b": 1})
    True
    """
    data = value if isinstance(value, bytes) else canonical_json(value)
    return hashlib.sha256(data).hexdigest()[:ID_LENGTH]
