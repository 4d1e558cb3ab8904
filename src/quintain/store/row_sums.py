"""A checksum of rows that does not depend on their order: each kind of database sorts texts in a way of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quintain.store.archive import JSON_NULL

RANGE = 1 << 256


class RowSum:
    """Counts rows and adds their hashes up, one after another."""

    def __init__(self) -> None:
        self.rows = 0
        self._sum = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Count in a row, as plain data."""
        self.rows += 1
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(_canonical(row)).digest())) % RANGE

    def passing(self, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield *rows* on, each counted in."""
        for row in rows:
            self.add(row)
            yield row

    @property
    def digest(self) -> str:
        """The checksum of all rows so far, in hexadecimal digits."""
        return f"{self._sum:064x}"


def _canonical(row: Mapping[str, Any]) -> bytes:
    """Write a row in the same way for either kind of database: SQLite makes 1.0 the number 1, and columns may move."""
    nulls = sorted(name for name, value in row.items() if value is JSON_NULL)
    plain = {name: None if value is JSON_NULL else _number(value) for name, value in row.items()}
    return json.dumps([plain, nulls], sort_keys=True, separators=(",", ":")).encode()


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
