"""Keeping the lease of work alive while it is done."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from typing import TypeAlias

from sqlalchemy.orm import Session

from quintain.engine.loops import Each, Loop, LoopEnd
from quintain.store.base import now
from quintain.store.database import transaction

LEASE_SECONDS = 60.0
BEAT_SECONDS = 1.0

log = logging.getLogger("quintain.jobs")

Sessions: TypeAlias = Callable[[], AbstractContextManager[Session]]


@contextmanager
def lease_kept(
    sessions: Sessions,
    what: str,
    prolong: Callable[[Session, datetime], bool],
    *,
    lost: threading.Event,
    every: float = BEAT_SECONDS,
) -> Iterator[None]:
    """Keep the lease of *what* is done alive while the block runs, and set *lost* when it is not ours any more.

    *prolong* writes until when it holds, and how far the work is; False where somebody else has it.
    """
    ended = threading.Event()

    def beat(each: Each) -> None:
        with sessions() as db, transaction(db):
            ours = prolong(db, now() + timedelta(seconds=LEASE_SECONDS))
        if not ours:
            lost.set()
            raise LoopEnd

    # The database may be away for a moment; the lease lasts longer.
    thread = Loop(f"lease of {what}", beat, every=every, longest=every, logger=log).start(ended, after=every)
    try:
        yield
    finally:
        ended.set()
        thread.join()
