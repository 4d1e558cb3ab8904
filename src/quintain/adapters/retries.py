"""Which failures of a call pass by themselves, and how long to wait before the next attempt."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

TRANSIENT = frozenset({408, 409, 425, 429})  # beside every status from 500
MAX_WAIT = 60.0


def is_transient(status: int) -> bool:
    """Whether the same request may succeed a little later.

    >>> [is_transient(status) for status in (200, 400, 404, 409, 429, 500, 529)]
    [False, False, False, True, True, True, True]
    """
    return status in TRANSIENT or status >= 500


def wait_seconds(attempt: int, headers: Mapping[str, str], moment: datetime | None = None) -> float:
    """Return how long to wait after failed *attempt*, from 0: as the server asks, else twice as long each time.

    The server may ask in milliseconds (`retry-after-ms`), in seconds or by a date; no wait is longer than MAX_WAIT, and
    a date in the past means now. A date is compared with the server's own clock, where it tells it.

    >>> wait_seconds(0, {"retry-after": "2"}), wait_seconds(3, {"retry-after-ms": "250"})
    (2.0, 0.25)
    """
    asked = _asked_for(headers, moment)
    if asked is not None:
        return min(max(asked, 0.0), MAX_WAIT)
    return float(min(0.5 * 2**attempt, MAX_WAIT) * (0.75 + random.random() / 2))  # noqa: S311 - to spread, not to hide


def _asked_for(headers: Mapping[str, str], moment: datetime | None) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after", "")
    seconds = _number(after)
    if seconds is not None:
        return seconds
    due = _date(after)
    if due is None:
        return None
    return (due - (_date(headers.get("date", "")) or moment or datetime.now(UTC))).total_seconds()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
