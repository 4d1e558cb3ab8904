"""What becomes of the runs of a model that is withdrawn, or taken back; `services/events.py` says when."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.services.evaluate.cells.lifecycle import fill
from quintain.store.base import now
from quintain.store.queries.evaluate import cells as queries

WITHDRAWN = "the model was withdrawn"  # why runs of it were cancelled, which come back with it


def cancel_runs(db: Session, version_id: int) -> None:
    """Cancel what is queued or running of a model version; in the caller's transaction."""
    queries.cancel_all(db, version_id, WITHDRAWN, now())


def revive_runs(db: Session, version_id: int, task: str) -> None:
    """Queue what was cancelled then, and what came while the version was away; in the caller's transaction."""
    queries.revive_all(db, version_id, WITHDRAWN)
    fill(db, task)
