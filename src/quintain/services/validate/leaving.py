"""What becomes of the items of an attempt that is retracted or withheld, and when that is taken back.

It counts from that moment on, not from when somebody next looks for new attempts: judges are not shown the text.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.services.validate.settle import ask_again
from quintain.services.validate.validations import find
from quintain.store.base import now
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate import validation as queries


def leave(db: Session, attempt_id: int) -> None:
    """Ask nobody about an attempt any more, gold copies included; for other services, in their transaction."""
    ids = [item.id for item in queries.items_of_attempt(db, attempt_id)]
    if ids:
        queries.retire_items(db, ids, now())
        slot_queries.drop(db, ids)
        db.expire_all()


def come_back(db: Session, attempt_id: int) -> None:
    """Ask for what is missing about an attempt that is withheld no more; its gold copy stays retired."""
    for item in queries.items_of_attempt(db, attempt_id):
        if item.gold is not None or item.retired_at is None or item.id in queries.gone_items(db, item.validation_id):
            continue
        item.retired_at = None
        db.flush()
        ask_again(db, find(db, "/".join(queries.place_of(db, item.validation_id))), [item])
    db.flush()
