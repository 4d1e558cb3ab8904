"""Everything that Quintain raises on purpose.

    QuintainError            something a person can understand and mend
    ├── BadInput             what was given is wrong; carries one Fault per place
    │   └── Unreadable       what was sent cannot be read at all
    ├── NotFound             no such task, data set, model, person …
    ├── NotSignedIn          nobody is known to be asking
    ├── Forbidden            this person may not do that
    ├── Conflict             it clashes with what is already there
    ├── Stale                it was made from what somebody else has changed meanwhile; carries one Difference per field
    ├── TooMany              a limit on rate or quota was reached
    └── Unavailable          something outside is missing, full or down
        └── OutOfOrder       what the workspace itself stands on is; only its operators read where that is

The message says what is wrong and where; *remedy* says what to do about it. Where that is a command or one of its
options, *page* says the same for somebody who sits at a page. All three are templates over the same values, which are
given by name, so that pages can say them in another language (see `texts.py`):

    raise Conflict("{name} is the only admin.", name=user.name, remedy="Make somebody else an admin first.")

*code* tells programs what happened, whatever the words: that of the class, or a closer one where it matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quintain.core.texts import Text, as_text, joined

MAX_REASON = 4000


@dataclass(frozen=True, slots=True, init=False)
class Fault:
    """One thing that is wrong, and where it is; the reason is a template over *values*.

    >>> str(Fault("label '{label}' is not one of {known}", label="postive", known="a, b", file="reviews.jsonl", row=41))
    "reviews.jsonl, row 41: label 'postive' is not one of a, b"
    """

    reason: Text
    file: str | None
    row: int | None
    field: str | None
    line: int | None

    def __init__(
        self,
        reason: str,
        /,
        *,
        file: str | None = None,
        row: int | None = None,
        field: str | None = None,
        line: int | None = None,
        **values: object,
    ) -> None:
        text = as_text(reason, values)
        if len(text) > MAX_REASON:  # it may quote a cell of any size, and somebody is to read it
            text = Text("{start}…", start=text[:MAX_REASON])
        for name, value in (("reason", text), ("file", file), ("row", row), ("field", field), ("line", line)):
            object.__setattr__(self, name, value)

    def __str__(self) -> str:
        places = [
            self.file,
            f"line {self.line}" if self.line is not None else None,
            f"row {self.row}" if self.row is not None else None,
            f"field '{self.field}'" if self.field else None,
        ]
        location = ", ".join(part for part in places if part)
        return f"{location}: {self.reason}" if location else str(self.reason)

    def at(self, **places: Any) -> Fault:
        """Return the same fault with other *places*: its file, row, field or line."""
        here = {"file": self.file, "row": self.row, "field": self.field, "line": self.line}
        return Fault(self.reason, **{**here, **places})

    def as_dict(self) -> dict[str, str | int | None]:
        """Return the fault as plain data, for JSON; *line* is for files that are read by line, not by row."""
        plain = {"file": self.file, "row": self.row, "field": self.field, "reason": str(self.reason)}
        return plain if self.line is None else {**plain, "line": self.line}


class QuintainError(Exception):
    """Something went wrong that a person can understand and mend."""

    code: str = "error"

    def __init__(
        self,
        message: str,
        /,
        *,
        remedy: str | None = None,
        page: str | None = None,
        code: str | None = None,
        **values: object,
    ) -> None:
        self.message = as_text(message, values)
        self.remedy = as_text(remedy, values) if remedy else None
        self.page = as_text(page, values) if page else None
        self.code = code or type(self).code
        super().__init__(self.message)

    @property
    def text(self) -> Text:
        """What is wrong and what to do about it, as one text of ours."""
        if not self.remedy:
            return self.message
        stop = "" if self.message.endswith((".", "!", "?", ":", "…")) else "."  # a fault alone is no sentence
        return joined([self.message, self.remedy], f"{stop} ")

    @property
    def public_text(self) -> Text:
        """What anybody may read of it, also later, where it is kept: all, but for what is the operator's own."""
        return self.text

    def __str__(self) -> str:
        return str(self.text)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON, in the one shape that errors have."""
        remedy = str(self.remedy) if self.remedy else None
        return {"code": self.code, "message": str(self.message), "remedy": remedy, "faults": []}


class BadInput(QuintainError):
    """What was given is wrong; *faults* names every place that was found."""

    code = "bad_input"

    def __init__(
        self,
        message: str = "",
        /,
        *,
        faults: Iterable[Fault] = (),
        total: int | None = None,
        remedy: str | None = None,
        page: str | None = None,
        code: str | None = None,
        **values: object,
    ) -> None:
        self.faults = tuple(faults)
        self.total = len(self.faults) if total is None else total
        text = message or Text("{faults}", faults="\n".join(str(fault) for fault in self.faults))
        super().__init__(text, remedy=remedy, page=page, code=code, **values)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, with every fault that was found."""
        return {**super().as_dict(), "faults": [fault.as_dict() for fault in self.faults]}


class Unreadable(BadInput):
    """What was sent is not in the form that it claims, or too deeply nested to be read."""


class NotFound(QuintainError):
    """There is no such thing."""

    code = "not_found"


class NotSignedIn(QuintainError):
    """Nobody is known to be asking, or their token or session has expired."""

    code = "not_signed_in"


class Forbidden(QuintainError):
    """This person may not do that."""

    code = "forbidden"


class Conflict(QuintainError):
    """It clashes with what is already there."""

    code = "conflict"


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that two people left differently: what is stored (*theirs*) and what was sent (*yours*).

    *option* is the one of the specification that the field is, where it is one. *mine* and *others* say who changed it;
    both, where that is not known.
    """

    field: str
    option: Any
    theirs: Any
    yours: Any
    mine: bool = True
    others: bool = True

    @property
    def fault(self) -> Fault:
        """The difference as a fault at its field."""
        theirs, yours = ("–" if one is None else str(one) for one in (self.theirs, self.yours))
        return Fault("is '{theirs}' by now; here it is '{yours}'", theirs=theirs, yours=yours, field=self.field)


class Stale(QuintainError):
    """An edit was made from what somebody else has changed since; nothing was changed.

    *revision* and *parts* are of what is stored now.
    """

    code = "stale"

    def __init__(
        self,
        differences: Iterable[Difference] = (),
        *,
        faults: Iterable[Fault] = (),
        revision: str = "",
        parts: Mapping[str, str] | None = None,
    ) -> None:
        self.differences, self.revision, self.parts = tuple(differences), revision, dict(parts or {})
        self.faults = tuple(faults) or tuple(difference.fault for difference in self.differences)
        self.total = len(self.faults)
        super().__init__("Somebody else has changed this meanwhile.", remedy="Look at both, and choose.")

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, with every field that differs."""
        return {**super().as_dict(), "faults": [fault.as_dict() for fault in self.faults]}


class TooMany(QuintainError):
    """A limit on rate or quota was reached; *retry_after* is in seconds."""

    code = "too_many"

    def __init__(
        self,
        message: str,
        /,
        *,
        retry_after: int,
        remedy: str | None = None,
        page: str | None = None,
        code: str | None = None,
        **values: object,
    ) -> None:
        super().__init__(message, remedy=remedy, page=page, code=code, **values)
        self.retry_after = retry_after


class Unavailable(QuintainError):
    """Something outside is missing, full or down; *retry_after* seconds may mend it where it passes by itself."""

    code = "unavailable"

    def __init__(
        self,
        message: str,
        /,
        *,
        retry_after: int | None = None,
        remedy: str | None = None,
        page: str | None = None,
        code: str | None = None,
        **values: object,
    ) -> None:
        super().__init__(message, remedy=remedy, page=page, code=code, **values)
        self.retry_after = retry_after


class OutOfOrder(Unavailable):
    """What the workspace stands on (its database, its files) is missing, full or down.

    The message names it and is for operators alone: it stands in commands and in the log. Whoever asks from outside is
    told no more than *outside*.
    """

    outside = Text("This cannot be done just now: something on the server is out of order.")
    outside_remedy = Text("Try again in a moment, or tell the operator, who finds the cause in the log.")

    @property
    def public_text(self) -> Text:
        """What anybody may read of it."""
        return joined([self.outside, self.outside_remedy])


def reason_of(error: Exception) -> str:
    """Return why something failed, as others may read it later: no statement of ours and none of our paths.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "/srv/quintain/blobs/ab"))
    'No such file or directory'
    """
    match error:
        case QuintainError():
            return str(error.public_text)
        case OSError():
            return error.strerror or type(error).__name__
        case _:
            return type(error).__name__
