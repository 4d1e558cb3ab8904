"""What somebody has begun to write and may go on with."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.services.access.permissions import require_user
from quintain.services.collect.rounds.manage import RoundInfo
from quintain.store.queries.collect import rounds as queries


def session_under_way(db: Session, actor: Actor, info: RoundInfo) -> str | None:
    """Return the key of the session that *actor* has begun in a round and not ended; None where there is none."""
    row = queries.open_session(db, info.id, require_user(actor))
    return row.key if row is not None else None
