"""Lists that filter, sort and page by their address, so that they work without a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from quintain.web.paging import Paging

SIZE = 25


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list that is sorted by the column *sort*, *down* or up; *columns* are those one can sort by."""

    rows: Sequence[Any]
    paging: Paging
    columns: Mapping[str, Any]
    sort: str
    down: bool

    def link(self, column: str) -> str:
        """Give the address of the list sorted by *column*; of the other direction where it is sorted by it already."""
        down = not self.down if column == self.sort else False
        query = {key: value for key, value in self.paging.query.items() if value and key not in {"sort", "order"}}
        order = {"order": "down"} if down else {}
        return f"{self.paging.path}?{urlencode({**query, 'sort': column, **order})}"

    def aria(self, column: str) -> str:
        """Say how the list is sorted by *column*, in the words of `aria-sort`."""
        if column != self.sort:
            return "none"
        return "descending" if self.down else "ascending"


def arrange(
    rows: Sequence[Any], columns: Mapping[str, Callable[[Any], Any]], *, sort: str, order: str, default: str
) -> tuple[list[Any], str, bool]:
    """Sort *rows* by one of *columns*; rows without a value come last either way. Give the rows, the column, the way.

    >>> arrange([3, None, 1], {"size": lambda row: row}, sort="size", order="down", default="size")
    ([3, 1, None], 'size', True)
    """
    sort = sort if sort in columns else default
    value, down = columns[sort], order == "down"
    there = [row for row in rows if value(row) is not None]
    gone = [row for row in rows if value(row) is None]
    return [*sorted(there, key=value, reverse=down), *gone], sort, down


def make_listing(
    rows: Sequence[Any],
    columns: Mapping[str, Callable[[Any], Any]],
    *,
    path: str,
    query: Mapping[str, str],
    default: str,
    offset: int = 0,
    size: int = SIZE,
) -> Listing:
    """Sort *rows* as the *query* of the address wants it, and keep one page of them."""
    rows, sort, down = arrange(rows, columns, sort=query.get("sort", ""), order=query.get("order", ""), default=default)
    return page_of(rows, len(rows), columns, path=path, query=query, sort=sort, down=down, offset=offset, size=size)


def page_of(
    rows: Sequence[Any],
    total: int,
    columns: Mapping[str, Any],
    *,
    path: str,
    query: Mapping[str, str],
    sort: str,
    down: bool,
    offset: int,
    size: int = SIZE,
) -> Listing:
    """Keep one page of rows that are in order already; an offset beyond the end shows the last page."""
    offset = min(max(offset, 0), max(total - 1, 0) // size * size)
    shown = rows[offset : offset + size] if len(rows) == total else rows
    return Listing(shown, Paging(path, query, offset, len(shown), total, size), columns, sort, down)
