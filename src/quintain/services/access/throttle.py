"""Limits on how often something may happen, shared by all processes that use the database."""

from __future__ import annotations

import math
import time

from sqlalchemy.orm import Session

from quintain.core.errors import TooMany
from quintain.core.texts import Text
from quintain.store.database import transaction
from quintain.store.queries.access import people


def hit(db: Session, key: str, limit: int, seconds: int) -> None:
    """Count one more *key*, and raise TooMany when there were more than *limit* in the last *seconds*.

    Two windows are kept; the older one counts by the share of it that is still within reach. So nobody gets twice
    the limit by waiting for a new window to begin.
    """
    moment = time.time()
    window = int(moment // seconds) * seconds
    with transaction(db):
        current, previous = people.count_hit(db, _counter_key(key, seconds), window, window - seconds)
    passed = (moment - window) / seconds
    if current + previous * (1 - passed) > limit:
        wait = max(1, math.ceil(seconds - (moment - window)))
        raise TooMany(
            "That was more than {limit} times in {seconds}.",
            limit=limit,
            seconds=_span(seconds),
            wait=_span(wait),
            retry_after=wait,
            remedy="Wait {wait} and try again.",
            code="rate_limited",
        )


def forgive(db: Session, key: str, seconds: int) -> None:
    """Take one *key* back that was counted a moment ago and, as it turned out, does no harm."""
    with transaction(db):
        people.forgive_hit(db, _counter_key(key, seconds), int(time.time() // seconds) * seconds)


def _counter_key(key: str, seconds: int) -> str:
    return f"{key[:180]}:{seconds}"


def _span(seconds: int) -> Text:
    if seconds >= 120:
        return Text("{n} minutes", n=math.ceil(seconds / 60))
    return Text("a minute") if seconds == 60 else Text.plural("{n} second", "{n} seconds", n=seconds)
