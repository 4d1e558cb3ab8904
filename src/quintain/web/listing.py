"""Lists that filter, sort and page by their address, so that they work without a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends

from quintain.web.paging import Paging

SIZE = 25


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What the address of a list asks for: a text *q*, which rows to *show*, the order, and the first row."""

    q: str = ""
    show: str = ""
    label: str = ""
    sort: str = ""
    order: str = ""
    offset: int = 0

    def query(self) -> dict[str, str]:
        """Return it as it stands in addresses, without the place."""
        return {"q": self.q.strip(), "show": self.show, "label": self.label, "sort": self.sort, "order": self.order}

    def has(self, text: str) -> bool:
        """Whether *text* contains what is looked for, whatever its case."""
        return self.q.strip().lower() in text.lower()


Asking = Annotated[ListQuery, Depends()]


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a list that is sorted by the column *sort*, *down* or up."""

    rows: Sequence[Any]
    paging: Paging
    sort: str
    down: bool

    def link(self, column: str) -> str:
        """Return the address of the list sorted by *column*; the other way round where it is sorted by it."""
        down = not self.down if column == self.sort else False
        query = {key: value for key, value in self.paging.query.items() if value and key not in {"sort", "order"}}
        order = {"order": "down"} if down else {}
        return f"{self.paging.path}?{urlencode({**query, 'sort': column, **order})}"

    def aria(self, column: str) -> str:
        """Return how the list is sorted by *column*, in the words of `aria-sort`."""
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
    with_value = [row for row in rows if value(row) is not None]
    gone = [row for row in rows if value(row) is None]
    return [*sorted(with_value, key=value, reverse=down), *gone], sort, down


def make_listing(
    rows: Sequence[Any],
    columns: Mapping[str, Callable[[Any], Any]],
    asked: ListQuery,
    *,
    path: str,
    default: str,
    size: int = SIZE,
) -> Listing:
    """Sort *rows* as the address asks, and keep one page of them."""
    rows, sort, down = arrange(rows, columns, sort=asked.sort, order=asked.order, default=default)
    first = _first(asked.offset, len(rows), size)
    return page_of(rows[first : first + size], len(rows), asked, path=path, sort=sort, down=down, size=size)


def page_of(
    rows: Sequence[Any], total: int, asked: ListQuery, *, path: str, sort: str, down: bool, size: int = SIZE
) -> Listing:
    """Show *rows*, one page of *total* that are in order already."""
    first = _first(asked.offset, total, size)
    return Listing(rows, Paging(path, asked.query(), first, len(rows), total, size), sort, down)


def _first(offset: int, total: int, size: int) -> int:
    """Return the first row of a page; beyond the end it is that of the last page."""
    return min(max(offset, 0), max(total - 1, 0) // size * size)
