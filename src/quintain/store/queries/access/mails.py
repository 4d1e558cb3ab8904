"""Queries on e-mails that are to be sent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, delete, func, insert, literal, or_, select, update
from sqlalchemy.orm import Session

from quintain.core.records.access import MailPurpose, MailState
from quintain.store.tables import Notification, OutgoingMail, User

CHUNK = 500  # messages that are queued together
_WAITS = OutgoingMail.state == MailState.WAITING.value


class ClaimedMail(NamedTuple):
    """An e-mail that is ours to send, whose it is, and what it tells."""

    mail: OutgoingMail
    user: User
    notification: Notification | None


def queue_messages(db: Session, notification_ids: Sequence[int], at: datetime, expires_at: datetime) -> None:
    """Queue an e-mail for each of these messages whose reader wants messages by e-mail."""
    values = {
        "purpose": literal(MailPurpose.MESSAGE.value),
        "state": literal(MailState.WAITING.value),
        "asked_at": literal(at, OutgoingMail.asked_at.type),
        "next_at": literal(at, OutgoingMail.next_at.type),
        "expires_at": literal(expires_at, OutgoingMail.expires_at.type),
    }
    for start in range(0, len(notification_ids), CHUNK):
        readers = (
            select(Notification.user_id, Notification.id, *values.values())
            .join(User, User.id == Notification.user_id)
            .where(Notification.id.in_(notification_ids[start : start + CHUNK]), User.email_notifications)
            .where(User.email.is_not(None), User.deleted_at.is_(None))
        )
        db.execute(insert(OutgoingMail).from_select(["user_id", "notification_id", *values], readers))


def waits_for(db: Session, user_id: int, purpose: MailPurpose) -> bool:
    """Whether an e-mail for this *purpose* waits to be sent to a person."""
    query = select(OutgoingMail.id).where(
        OutgoingMail.user_id == user_id, OutgoingMail.purpose == purpose.value, _WAITS
    )
    return db.scalar(query.limit(1)) is not None


def claim(db: Session, at: datetime, until: datetime) -> ClaimedMail | None:
    """Take the next e-mail to send, those first that were tried least; it is ours *until* then. In a transaction."""
    free = or_(OutgoingMail.lease_until.is_(None), OutgoingMail.lease_until < at)
    query = select(OutgoingMail).where(_WAITS, OutgoingMail.next_at <= at, free)
    query = query.order_by(OutgoingMail.attempts, OutgoingMail.id).limit(1).with_for_update(skip_locked=True)
    mail = db.scalar(query.execution_options(populate_existing=True))
    if mail is None:
        return None
    mail.lease_until, mail.generation, mail.attempts = until, mail.generation + 1, mail.attempts + 1
    db.flush()
    notification = db.get(Notification, mail.notification_id) if mail.notification_id is not None else None
    return ClaimedMail(mail, db.get_one(User, mail.user_id, populate_existing=True), notification)


def update_held(db: Session, mail_id: int, generation: int, **values: Any) -> bool:
    """Change an e-mail that is still ours, and give it back; False where it is somebody else's."""
    held = (OutgoingMail.id == mail_id) & (OutgoingMail.generation == generation) & _WAITS
    change = update(OutgoingMail).where(held).values(lease_until=None, **values).returning(OutgoingMail.id)
    return db.scalar(change.execution_options(synchronize_session=False)) is not None


def mark_sent(db: Session, notification_id: int, at: datetime) -> None:
    """Write down that a message has gone by e-mail."""
    db.execute(update(Notification).where(Notification.id == notification_id).values(emailed_at=at))


def expire(db: Session, at: datetime, reason: dict[str, Any]) -> int:
    """Let those fail that have waited too long, and count them."""
    free = or_(OutgoingMail.lease_until.is_(None), OutgoingMail.lease_until < at)
    change = update(OutgoingMail).where(_WAITS, OutgoingMail.expires_at <= at, free)
    values: dict[str, Any] = {"state": MailState.FAILED.value, "ended_at": at}
    values["reason"] = func.coalesce(OutgoingMail.reason, literal(reason, OutgoingMail.reason.type))
    return len(db.execute(change.values(**values).returning(OutgoingMail.id)).all())


def any_due(db: Session, at: datetime) -> bool:
    """Whether something is to be sent, or has waited too long."""
    due = or_(OutgoingMail.next_at <= at, OutgoingMail.expires_at <= at)
    return db.scalar(select(OutgoingMail.id).where(_WAITS, due).limit(1)) is not None


def put_back(db: Session, ids: Collection[int] | None, at: datetime, expires_at: datetime) -> list[int]:
    """Queue those of *ids* (None: all) anew that failed or wait, as if they had never been tried; give which."""
    chosen = OutgoingMail.state.in_([MailState.WAITING.value, MailState.FAILED.value])
    values = {
        "state": MailState.WAITING.value,
        "attempts": 0,
        "next_at": at,
        "expires_at": expires_at,
        "ended_at": None,
    }
    change = update(OutgoingMail).where(chosen, *_among(ids)).values(**values).returning(OutgoingMail.id)
    return list(db.scalars(change.execution_options(synchronize_session=False)))


def give_up(db: Session, ids: Collection[int] | None, at: datetime) -> list[int]:
    """Put those of *ids* (None: all that failed) that were not sent aside for good; return which."""
    states = [MailState.FAILED.value, *([] if ids is None else [MailState.WAITING.value])]
    change = update(OutgoingMail).where(OutgoingMail.state.in_(states), *_among(ids))
    change = change.values(state=MailState.DROPPED.value, ended_at=at).returning(OutgoingMail.id)
    return list(db.scalars(change.execution_options(synchronize_session=False)))


def _among(ids: Collection[int] | None) -> list[ColumnElement[bool]]:
    return [] if ids is None else [OutgoingMail.id.in_(ids)]


def listed(db: Session, state: MailState | None, limit: int, offset: int) -> list[tuple[OutgoingMail, User]]:
    """List e-mails with whom they are for, the oldest first: those in *state*, or all that wait or failed."""
    query = select(OutgoingMail, User).join(User, User.id == OutgoingMail.user_id).where(_in(state))
    query = query.order_by(OutgoingMail.id).limit(limit).offset(offset)
    rows = db.execute(query.execution_options(populate_existing=True))
    return [(row[0], row[1]) for row in rows]


def count(db: Session, state: MailState | None) -> int:
    """Count those that `listed` would list."""
    return db.scalar(select(func.count()).select_from(OutgoingMail).where(_in(state))) or 0


def _in(state: MailState | None) -> ColumnElement[bool]:
    if state is None:
        return OutgoingMail.state.in_([MailState.WAITING.value, MailState.FAILED.value])
    return OutgoingMail.state == state.value


def oldest_waiting(db: Session) -> datetime | None:
    """Return since when the e-mail waits that has waited longest; None where none waits."""
    return db.scalar(select(func.min(OutgoingMail.asked_at)).where(_WAITS))


def forget(db: Session, sent_before: datetime, failed_before: datetime) -> None:
    """Remove e-mails that are over: those that were sent or given up, and later those that failed."""
    over = OutgoingMail.state.in_([MailState.SENT.value, MailState.DROPPED.value])
    failed = OutgoingMail.state == MailState.FAILED.value
    old = or_(
        and_(over, OutgoingMail.ended_at < sent_before),
        and_(failed, OutgoingMail.ended_at < failed_before),
        and_(_WAITS, OutgoingMail.expires_at < failed_before),  # of a house that sends none
    )
    db.execute(delete(OutgoingMail).where(old))
