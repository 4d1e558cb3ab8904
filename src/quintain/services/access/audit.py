"""Who did what, and when: the log that every change is written to, in the same transaction as the change."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.access import AuditLine
from quintain.services.access.permissions import require_admin
from quintain.store.queries.access import log
from quintain.store.tables import AuditEntry


def record(db: Session, actor: Actor, action: str, subject: str = "", **details: Any) -> None:
    """Write down that *actor* did *action* to *subject*. Secrets do not belong into *details*."""
    db.add(AuditEntry(actor_id=actor.user_id, actor=actor.name, action=action, subject=subject[:200], details=details))


def entries(db: Session, actor: Actor, *, limit: int = 100, before: int | None = None) -> list[AuditLine]:
    """List what happened, newest first; *before* is the id of the last entry of the page before."""
    require_admin(actor)
    rows = log.audit_entries(db, limit=limit, before=before)
    return [AuditLine(row.id, row.at, row.actor, row.action, row.subject, row.details) for row in rows]
