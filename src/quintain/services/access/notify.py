"""Messages to people: in the application and, for those who wish, by e-mail."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Unavailable
from quintain.core.people import Actor
from quintain.core.records import access as records
from quintain.core.texts import Text, packed, unpacked
from quintain.services.access.mail import Mail, send
from quintain.services.access.permissions import require_user
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import log
from quintain.store.tables import Notification

logger = logging.getLogger(__name__)
Say = Callable[[str, str], str]
TOO_OLD_TO_MAIL = timedelta(days=1)


def notify(db: Session, user_id: int, kind: str, text: Text, url: str = "", *, more: Text | None = None) -> None:
    """Leave a message for a person; *url* is where it leads, within the application. An e-mail also says *more*."""
    with transaction(db):
        db.add(_message(user_id, kind, text, url, more))


def notify_all(db: Session, user_ids: Iterable[int], kind: str, text: Text, url: str = "") -> None:
    """Leave the same message for several people, once for each."""
    with transaction(db):
        db.add_all(_message(one, kind, text, url) for one in sorted(set(user_ids)))


def notify_once(db: Session, user_id: int, kind: str, text: Text, url: str) -> None:
    """Leave a message unless the person has had one of this *kind* with this *url*: for what may be found out twice."""
    with transaction(db):
        if not log.was_told(db, user_id, kind, url):
            notify(db, user_id, kind, text, url)


def _message(user_id: int, kind: str, text: Text, url: str, more: Text | None = None) -> Notification:
    """Make a message that keeps what it is made of: it is put into words when somebody reads it."""
    kept = packed(more) if more is not None else None
    return Notification(user_id=user_id, kind=kind, text=str(text), said=packed(text), more=kept, url=url)


def _text_of(row: Notification) -> str:
    """Give the text of a message; what was kept before texts were kept in parts is English."""
    return unpacked(row.said) if row.said is not None else row.text


def list_notifications(
    db: Session, actor: Actor, *, unread_only: bool = False, limit: int = 50
) -> list[records.Notification]:
    """List the actor's messages, newest first."""
    found = log.notifications(db, require_user(actor), unread_only=unread_only, limit=limit)
    return [records.Notification(one.id, one.at, one.kind, _text_of(one), one.url, one.read_at) for one in found]


def unread_count(db: Session, actor: Actor) -> int:
    """Count the actor's messages that have not been read; nobody has none."""
    return 0 if actor.user_id is None else log.unread_count(db, actor.user_id)


def mark_read(db: Session, actor: Actor, ids: list[int] | None = None) -> int:
    """Mark the actor's messages as read, all of them where *ids* is None, and count those that were not yet."""
    user_id = require_user(actor)
    with transaction(db):
        return log.mark_read(db, user_id, ids, now())


def deliver_mail(
    db: Session, mail: Mail, base_url: str | None, *, say: Say = lambda _, text: text, limit: int = 100
) -> int:
    """Send the messages that people want by e-mail, and count them; without *base_url*, they lead nowhere.

    Each is in its reader's language: *say* puts a text into one.
    When the server takes no mail, the rest is tried again by the next call, for a day; an address that it refuses is
    not. Any number of processes may call this at the same time.
    """
    if not mail.enabled:
        return 0
    moment = now()
    wanted = log.wanted_by_mail(db, moment - TOO_OLD_TO_MAIL, limit)
    if not wanted:  # as nearly every minute: nobody is kept from writing
        return 0
    with transaction(db):
        claimed = log.claim_for_mail(db, wanted, moment)
    sent = 0
    for number, (message, address, language) in enumerate(claimed):
        link = f"\n\n{base_url.rstrip('/')}{message.url}" if base_url and message.url else ""
        text = say(language, _text_of(message))
        more = "\n\n" + say(language, unpacked(message.more)) if message.more is not None else ""
        try:
            send(mail, address, text.splitlines()[0][:120], text + more + link)
            sent += 1
        except BadInput as error:
            logger.warning("a message was not sent: %s", error)
        except Unavailable:
            with transaction(db):
                log.give_back_for_mail(db, [item.id for item, _, _ in claimed[number:]])
            raise
    return sent
