"""Pages of a list: which rows are shown, and where the next ones are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Paging:
    """Rows *offset* to *offset* + *count* of *total*; *path* and *query* make the addresses of the others."""

    path: str
    query: Mapping[str, str]
    offset: int
    count: int
    total: int
    size: int

    @property
    def first(self) -> int:
        """The number of the first row shown, from 1; 0 where there is none."""
        return self.offset + 1 if self.count else 0

    @property
    def last(self) -> int:
        """The number of the last row shown."""
        return self.offset + self.count

    @property
    def here(self) -> str:
        """The address of this page."""
        return self._at(self.offset)

    @property
    def previous(self) -> str | None:
        """The address of the page before."""
        return self._at(max(0, self.offset - self.size)) if self.offset > 0 else None

    @property
    def next(self) -> str | None:
        """The address of the page after."""
        return self._at(self.offset + self.size) if self.last < self.total else None

    def _at(self, offset: int) -> str:
        values = {key: value for key, value in self.query.items() if value}
        return f"{self.path}?{urlencode({**values, 'offset': str(offset)})}"
