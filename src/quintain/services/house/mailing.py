"""The e-mails that wait: sending them one by one, and looking after those that cannot be sent.

Each is claimed by a lease, sent, and marked as sent afterwards. One that is refused is that message's failure: it keeps
the reason, waits longer after each try, and fails for good after the last; others go first meanwhile. Only a server
that takes nothing at all holds up everything, and that is for the loop that calls us to wait out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.people import Actor
from quintain.core.records.access import MailPurpose, MailQueue, MailState, QueuedMail
from quintain.core.texts import Text, packed, unpacked
from quintain.services.access import audit
from quintain.services.access.links import mail_link
from quintain.services.access.mail import Mail, MessageRefused, ServerDown, send
from quintain.services.access.notify import MAIL_FOR, text_of
from quintain.services.access.permissions import require_admin
from quintain.services.collect.panels.entry_codes import mailed_code
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.access import mails as queries
from quintain.store.queries.access.mails import ClaimedMail
from quintain.store.tables import OutgoingMail, User

LEASE = timedelta(minutes=5)
TRIES = 6  # of what may go another time
FINAL_TRIES = 2  # of what the server says it will never take
FIRST_PAUSE = timedelta(minutes=1)  # grows fourfold with each try
FINAL_PAUSE = timedelta(hours=1)
KEPT_SENT = timedelta(days=7)
KEPT_FAILED = timedelta(days=30)
SUBJECT_CHARACTERS = 120
TOO_LATE = Text("It could not be sent for a day.")

Say = Callable[[str, str], str]
log = logging.getLogger("quintain.mail")


def deliver(db: Session, mail: Mail, base_url: str | None, *, say: Say = lambda _, text: text, limit: int = 100) -> int:
    """Send the e-mails that wait, at most so many, and count them; without *base_url*, they lead nowhere.

    Each is in its reader's language: *say* puts a text into one. Raise ServerDown where the server takes no mail; what
    waits goes on waiting, for a day. Any number of processes may call this at the same time.
    """
    if not mail.enabled or not queries.any_due(db, now()):  # as nearly always: nobody is kept from writing
        return 0
    with transaction(db):
        queries.expire(db, now(), packed(TOO_LATE))
    sent = 0
    for _ in range(limit):
        with transaction(db):
            claimed = queries.claim(db, now(), now() + LEASE)
        if claimed is None:
            break
        sent += _send(db, mail, base_url, claimed, say)
    return sent


def _send(db: Session, mail: Mail, base_url: str | None, claimed: ClaimedMail, say: Say) -> bool:
    """Send one e-mail and write down what came of it."""
    row, user = claimed.mail, claimed.user
    if not _is_still_wanted(claimed):
        return _end(db, row, state=MailState.DROPPED.value, ended_at=now()) and False
    try:
        subject, text = _words(db, claimed, base_url, say)
        db.rollback()  # sending takes a while: hold no connection meanwhile
        send(mail, user.email or "", subject[:SUBJECT_CHARACTERS], text)
    except MessageRefused as error:
        _failed(db, row, error.text, final=error.final)
    except ServerDown as error:
        if error.begun:  # perhaps because of this very message: others go before it
            _failed(db, row, error.text, final=False)
        else:
            _end(db, row, attempts=row.attempts - 1)
        raise
    except Exception as error:  # whatever it is, it is this message's: the next one is another matter
        log.exception("e-mail %d could not be sent", row.id)
        db.rollback()
        _failed(db, row, Text("{error}", error=f"{type(error).__name__}: {error}"[:300]), final=True)
    else:
        return _sent(db, claimed)
    return False


def _is_still_wanted(claimed: ClaimedMail) -> bool:
    """Whether the person still wants it: they may have changed their mind, or be gone."""
    user = claimed.user
    if user.deleted_at is not None or user.email is None:
        return False
    return claimed.mail.purpose != MailPurpose.MESSAGE.value or user.email_notifications


def _words(db: Session, claimed: ClaimedMail, base_url: str | None, say: Say) -> tuple[str, str]:
    """Return the subject and the text of an e-mail."""
    base, language = (base_url or "").rstrip("/"), _language_of(claimed.user)
    if claimed.mail.purpose == MailPurpose.PASSWORD.value:
        return _password_words(db, claimed.user, base, say)
    if claimed.mail.purpose == MailPurpose.DOOR.value:
        return _code_words(db, claimed.user, say)
    message = claimed.notification
    if message is None:
        raise NotFound("The message is gone.")
    text = say(language, text_of(message))
    more = "\n\n" + say(language, unpacked(message.more)) if message.more is not None else ""
    link = f"\n\n{base}{message.url}" if base and message.url else ""
    return (text.splitlines() or [""])[0], text + more + link


def _language_of(user: User) -> str:
    """Return the language in which to write to somebody: the one they chose, or that of the pages they read."""
    return user.language or user.seen_language


def _password_words(db: Session, user: User, base: str, say: Say) -> tuple[str, str]:
    language = _language_of(user)
    asked = Text("Somebody, probably you, asked for a new password for the account '{name}'.", name=user.name)
    link = mail_link(db, user)
    choose = Text("Choose one here, within a day:\n{link}", link=link.url(base))
    otherwise = Text("If it was not you, there is nothing to do: the old password still works.")
    text = "\n\n".join(say(language, part) for part in (asked, choose, otherwise))
    return say(language, Text("Choose a new password")), text


def _code_words(db: Session, user: User, say: Say) -> tuple[str, str]:
    language = _language_of(user)
    asked = Text("Somebody, probably you, wants to go on as '{name}' with another browser.", name=user.name)
    typed = Text("Type this code there, within an hour: {code}", code=mailed_code(db, user))
    otherwise = Text("If it was not you, there is nothing to do.")
    text = "\n\n".join(say(language, part) for part in (asked, typed, otherwise))
    return say(language, Text("Your code")), text


def _sent(db: Session, claimed: ClaimedMail) -> bool:
    row = claimed.mail
    with transaction(db):
        queries.update_held(db, row.id, row.generation, state=MailState.SENT.value, reason=None, ended_at=now())
        if row.notification_id is not None:
            queries.mark_sent(db, row.notification_id, now())
    return True


def _failed(db: Session, row: OutgoingMail, reason: Text, *, final: bool) -> None:
    """Write down that a try failed, and when the next one is; none after the last."""
    log.warning("e-mail %d to user %d: try %d failed: %s", row.id, row.user_id, row.attempts, reason)
    tries = FINAL_TRIES if final else TRIES
    if row.attempts >= tries:
        _end(db, row, state=MailState.FAILED.value, reason=packed(reason), final=final, ended_at=now())
        return
    pause = FINAL_PAUSE if final else FIRST_PAUSE * 4 ** (row.attempts - 1)
    _end(db, row, reason=packed(reason), final=final, next_at=now() + pause)


def _end(db: Session, row: OutgoingMail, **values: object) -> bool:
    with transaction(db):
        return queries.update_held(db, row.id, row.generation, **values)


def mail_queue(
    db: Session, actor: Actor, mail: Mail, *, state: MailState | None = None, limit: int = 100, offset: int = 0
) -> MailQueue:
    """List the e-mails that wait or failed, or those in *state*, the oldest first, and count them (admins)."""
    require_admin(actor)
    waiting, failed = (queries.count(db, one) for one in (MailState.WAITING, MailState.FAILED))
    total = waiting + failed if state is None else queries.count(db, state)
    rows = queries.listed(db, state, limit, offset)
    return MailQueue(
        enabled=mail.enabled,
        waiting=waiting,
        failed=failed,
        oldest=queries.oldest_waiting(db),
        mails=[_listed(row, user) for row, user in rows],
        total=total,
    )


def _listed(row: OutgoingMail, user: User) -> QueuedMail:
    waits = row.state == MailState.WAITING.value
    return QueuedMail(
        id=row.id,
        person=user.name,
        address=user.email,
        purpose=row.purpose,
        state=row.state,
        asked_at=row.asked_at,
        attempts=row.attempts,
        next_at=row.next_at if waits else None,
        last=waits and row.attempts == (FINAL_TRIES if row.final else TRIES) - 1,
        reason=unpacked(row.reason) if row.reason is not None else "",
    )


def try_again(db: Session, actor: Actor, ids: Sequence[int] | None = None) -> int:
    """Try e-mails again, as if for the first time: those with these *ids*, or all that wait or failed (admins)."""
    require_admin(actor)
    with transaction(db):
        moment = now()
        moved = queries.put_back(db, ids, moment, moment + MAIL_FOR)
        _require(ids, moved)
        audit.record(db, actor, "mail.retry", "mail", count=len(moved))
    return len(moved)


def give_up(db: Session, actor: Actor, ids: Sequence[int] | None = None) -> int:
    """Put e-mails aside for good: those with these *ids*, or all that failed; they are not sent any more (admins)."""
    require_admin(actor)
    with transaction(db):
        given_up = queries.give_up(db, ids, now())
        _require(ids, given_up)
        audit.record(db, actor, "mail.give_up", "mail", count=len(given_up))
    return len(given_up)


def _require(ids: Sequence[int] | None, changed: Sequence[int]) -> None:
    missing = sorted(set(ids or ()) - set(changed))
    if missing:
        raise NotFound(
            "There is no e-mail {id} that waits or failed.", id=missing[0], remedy="It may have been sent meanwhile."
        )


def forget_old(db: Session) -> None:
    """Remove e-mails that were sent or given up a week ago, or failed a month ago."""
    with transaction(db):
        queries.forget(db, now() - KEPT_SENT, now() - KEPT_FAILED)
