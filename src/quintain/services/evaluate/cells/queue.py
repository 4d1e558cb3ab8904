"""How the queue of runs goes, for whoever looks after the house."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.queue import RunQueue, WaitingRuns
from quintain.services.access.permissions import require_admin
from quintain.services.evaluate.cells.progress import describe
from quintain.store.base import now
from quintain.store.queries.evaluate import queue, runs

SHOWN = 20
RECENT = timedelta(days=1)


def run_queue(db: Session, actor: Actor) -> RunQueue:
    """Return who works at what, what is stuck, and what waits for what; admins only."""
    require_admin(actor)
    moment = now()
    running, stuck = queue.running(db, moment, SHOWN), queue.stuck(db, moment, SHOWN)
    waiting = [WaitingRuns(*one) for one in queue.waiting(db)]
    ready = stuck or any(not one.waits_for for one in waiting)
    return RunQueue(
        states=runs.count_by_state(db),
        running=[describe(row) for row in running],
        stuck=[describe(row) for row in stuck],
        waiting=waiting,
        queued_since=queue.oldest_queued(db),
        failed=queue.failed_since(db, moment - RECENT),
        idle=bool(ready) and not running,
    )
