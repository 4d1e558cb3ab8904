"""Messages to people: in the application and, for those who wish, by e-mail."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records import access as records
from quintain.core.texts import Text, packed, unpacked
from quintain.services.access.permissions import require_user
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import log, mails
from quintain.store.tables import Notification

MAIL_FOR = timedelta(days=1)  # how long it is tried to send an e-mail


def notify(db: Session, user_id: int, kind: str, text: Text, url: str = "", *, more: Text | None = None) -> None:
    """Leave a message for a person; *url* is where it leads, within the application. An e-mail also says *more*."""
    _leave(db, [_message(user_id, kind, text, url, more)])


def notify_all(db: Session, user_ids: Iterable[int], kind: str, text: Text, url: str = "") -> None:
    """Leave the same message for several people, once for each."""
    _leave(db, [_message(reader, kind, text, url) for reader in sorted(set(user_ids))])


def notify_once(db: Session, user_id: int, kind: str, text: Text, url: str) -> None:
    """Leave a message unless the person has had one of this *kind* with this *url*: for what may be found out twice."""
    with transaction(db):
        if not log.was_told(db, user_id, kind, url):
            notify(db, user_id, kind, text, url)


def notify_unless_unread(db: Session, user_id: int, kind: str, text: Text, url: str) -> None:
    """Leave a message unless one of this *kind* with this *url* is still unread: for what comes again and again."""
    with transaction(db):
        if not log.was_told(db, user_id, kind, url, unread=True):
            notify(db, user_id, kind, text, url)


def _leave(db: Session, messages: list[Notification]) -> None:
    """Keep messages, and queue an e-mail for those who wish."""
    with transaction(db):
        db.add_all(messages)
        db.flush()
        moment = now()
        mails.queue_messages(db, [message.id for message in messages], moment, moment + MAIL_FOR)


def _message(user_id: int, kind: str, text: Text, url: str, more: Text | None = None) -> Notification:
    """Make a message that keeps what it is made of: it is put into words when somebody reads it."""
    packed_more = packed(more) if more is not None else None
    return Notification(user_id=user_id, kind=kind, text=str(text), said=packed(text), more=packed_more, url=url)


def text_of(row: Notification) -> str:
    """Return the text of a message; what was kept before texts were kept in parts is English."""
    return unpacked(row.said) if row.said is not None else row.text


def list_notifications(
    db: Session, actor: Actor, *, unread_only: bool = False, limit: int = 50
) -> list[records.Notification]:
    """List the actor's messages, newest first."""
    rows = log.notifications(db, require_user(actor), unread_only=unread_only, limit=limit)
    return [records.Notification(row.id, row.at, row.kind, text_of(row), row.url, row.read_at) for row in rows]


def unread_count(db: Session, actor: Actor) -> int:
    """Count the actor's messages that have not been read; nobody has none."""
    return 0 if actor.user_id is None else log.unread_count(db, actor.user_id)


def mark_read(db: Session, actor: Actor, ids: list[int] | None = None) -> int:
    """Mark the actor's messages as read, all of them where *ids* is None, and count those that were not yet."""
    user_id = require_user(actor)
    with transaction(db):
        return log.mark_read(db, user_id, ids, now())
