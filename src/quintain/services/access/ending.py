"""Ending all access to an account: whoever came by a cookie, a token or a link of somebody's is out at once."""

from __future__ import annotations

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.access import EndedAccess
from quintain.services.access import audit
from quintain.services.access.actors import find_user
from quintain.services.access.permissions import require_admin
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import people


def end_access(db: Session, actor: Actor, name: str) -> EndedAccess:
    """End every session of *name*, revoke all API tokens and make open links void; for admins.

    The password and the roles stay: with them the person may sign in again.
    """
    require_admin(actor)
    with transaction(db):
        user = find_user(db, name)
        ended = EndedAccess(user.name, people.end_sessions(db, user.id), people.revoke_tokens(db, user.id, now()))
        people.end_links(db, user.id, now())
        audit.record(db, actor, "user.end_access", f"user:{user.id}", sessions=ended.sessions, tokens=ended.tokens)
        return ended
