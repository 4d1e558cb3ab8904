"""Queries on what happened and what people were told."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from quintain.store.tables import AuditEntry, Notification

ON_JUDGES = ("judge.unqualify", "judge.requalify")  # what is done to judges, and names the validation


def audit_entries(db: Session, *, limit: int, before: int | None = None) -> list[AuditEntry]:
    """List the newest audit entries, or those before the entry with id *before*."""
    query = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)
    return list(db.scalars(query if before is None else query.where(AuditEntry.id < before)))


def newest_with(db: Session, action: str, mark: str | None = None) -> AuditEntry | None:
    """Return the newest entry of *action*; with *mark*, the newest whose details say that this is true."""
    query = select(AuditEntry).where(AuditEntry.action == action).order_by(AuditEntry.id.desc()).limit(1)
    return db.scalar(query if mark is None else query.where(AuditEntry.details[mark].as_boolean().is_(True)))


def entries_of_validation(db: Session, ref: str, *, limit: int) -> list[AuditEntry]:
    """List the newest audit entries on a validation, and on judges because of it.

    Each part has an index that ends with the number: together they would be looked for among all entries.
    """
    own = or_(AuditEntry.action.like("validation.%"), AuditEntry.action.like("gold.%"))
    because = AuditEntry.details["validation"].as_string() == ref
    parts = [(AuditEntry.subject == ref, own), *((AuditEntry.action == one, because) for one in ON_JUDGES)]
    newest = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)
    entries = [entry for part in parts for entry in db.scalars(newest.where(*part))]
    return sorted(entries, key=lambda entry: entry.id, reverse=True)[:limit]


def notifications(db: Session, user_id: int, *, unread_only: bool, limit: int) -> list[Notification]:
    """List a person's messages, newest first."""
    query = select(Notification).where(Notification.user_id == user_id).order_by(Notification.id.desc()).limit(limit)
    return list(db.scalars(query.where(Notification.read_at.is_(None)) if unread_only else query))


def was_told(db: Session, user_id: int, kind: str, url: str, *, unread: bool = False) -> bool:
    """Whether a person has had a message of this *kind* that leads to *url*; with *unread*, one not read yet."""
    same = (Notification.user_id == user_id) & (Notification.kind == kind) & (Notification.url == url)
    if unread:
        same = same & Notification.read_at.is_(None)
    return db.scalar(select(Notification.id).where(same).limit(1)) is not None


def unread_count(db: Session, user_id: int) -> int:
    """Count a person's messages that have not been read."""
    query = select(func.count()).where(Notification.user_id == user_id, Notification.read_at.is_(None))
    return db.scalar(query) or 0


def mark_read(db: Session, user_id: int, ids: list[int] | None, at: datetime) -> int:
    """Mark a person's messages as read, all of them where *ids* is None, and count those that were not yet."""
    change = update(Notification).where(Notification.user_id == user_id, Notification.read_at.is_(None))
    if ids is not None:
        change = change.where(Notification.id.in_(ids))
    return len(db.execute(change.values(read_at=at).returning(Notification.id)).all())
