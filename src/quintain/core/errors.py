"""Everything that Quintain raises on purpose.

    QuintainError            something a person can understand and mend
    ├── BadInput             what was given is wrong; carries one Fault per place
    ├── NotFound             no such task, data set, model, person …
    ├── NotSignedIn          nobody is known to be asking
    ├── Forbidden            this person may not do that
    ├── Conflict             it clashes with what is already there
    ├── TooMany              a limit on rate or quota was reached
    └── Unavailable          something outside is missing, full or down

The message says what is wrong and where; *remedy* says what to do about it. Where that is a command or one of its
options, *page* says the same for somebody who sits at a page.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

MAX_REASON = 4000


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, and where it is.

    >>> str(Fault("label 'postive' is not one of negative, positive", file="reviews.jsonl", row=41))
    "reviews.jsonl, row 41: label 'postive' is not one of negative, positive"
    """

    reason: str
    file: str | None = None
    row: int | None = None
    field: str | None = None
    line: int | None = None

    def __post_init__(self) -> None:
        """Keep a reason to a length that somebody may read: it may quote a cell of any size."""
        if len(self.reason) > MAX_REASON:
            object.__setattr__(self, "reason", f"{self.reason[:MAX_REASON]}…")

    def __str__(self) -> str:
        places = [
            self.file,
            f"line {self.line}" if self.line is not None else None,
            f"row {self.row}" if self.row is not None else None,
            f"field '{self.field}'" if self.field else None,
        ]
        place = ", ".join(part for part in places if part)
        return f"{place}: {self.reason}" if place else self.reason

    def as_dict(self) -> dict[str, str | int | None]:
        """Give the fault as plain data, for JSON; *line* is there for files that are read by line, not by row."""
        plain = {"file": self.file, "row": self.row, "field": self.field, "reason": self.reason}
        return plain if self.line is None else {**plain, "line": self.line}


class QuintainError(Exception):
    """Something went wrong that a person can understand and mend."""

    def __init__(self, message: str, *, remedy: str | None = None, page: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.page = page

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}" if self.remedy else self.message

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON, in the one shape that errors have."""
        return {"message": self.message, "remedy": self.remedy, "faults": []}


class BadInput(QuintainError):
    """What was given is wrong; *faults* names every place that was found."""

    def __init__(
        self,
        message: str = "",
        *,
        faults: Iterable[Fault] = (),
        total: int | None = None,
        remedy: str | None = None,
        page: str | None = None,
    ) -> None:
        self.faults = tuple(faults)
        self.total = len(self.faults) if total is None else total
        super().__init__(message or "\n".join(str(fault) for fault in self.faults), remedy=remedy, page=page)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, with every fault that was found."""
        return {**super().as_dict(), "faults": [fault.as_dict() for fault in self.faults]}


class NotFound(QuintainError):
    """There is no such thing."""


class NotSignedIn(QuintainError):
    """Nobody is known to be asking, or their token or session has expired."""


class Forbidden(QuintainError):
    """This person may not do that."""


class Conflict(QuintainError):
    """It clashes with what is already there."""


class TooMany(QuintainError):
    """A limit on rate or quota was reached; *retry_after* is in seconds."""

    def __init__(self, message: str, *, retry_after: int, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after = retry_after


class Unavailable(QuintainError):
    """Something outside is missing, full or down; *retry_after* seconds may mend it where it passes by itself."""

    def __init__(
        self, message: str, *, retry_after: int | None = None, remedy: str | None = None, page: str | None = None
    ) -> None:
        super().__init__(message, remedy=remedy, page=page)
        self.retry_after = retry_after
