"""The e-mails that wait or could not be sent, and what goes on beside requests, for programs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from quintain.core.records.access import MailCount, MailQueue, MailState
from quintain.core.records.jobs import LoopReports
from quintain.services.house import mailing
from quintain.services.jobs import loops
from quintain.web.api.call import Calling
from quintain.web.api.params import Limit, Offset
from quintain.web.api.shapes import MailRequest

State = Annotated[MailState | None, Query(description="Only those in this state; else all that wait or failed.")]


def list_mails(call: Calling, state: State = None, limit: Limit = 50, offset: Offset = 0) -> MailQueue:
    """List the e-mails that wait or failed, with why (admins)."""
    mail = call.workspace.mail
    return mailing.mail_queue(call.db, call.actor, mail, state=state, limit=limit, offset=offset)


def retry_mails(call: Calling, chosen: MailRequest) -> MailCount:
    """Try e-mails again at once, as if for the first time (admins)."""
    return MailCount(mailing.try_again(call.db, call.actor, chosen.ids))


def give_up_mails(call: Calling, chosen: MailRequest) -> MailCount:
    """Put e-mails that wait or failed aside for good; without ids, all that failed (admins)."""
    return MailCount(mailing.give_up(call.db, call.actor, chosen.ids))


def list_loops(call: Calling) -> LoopReports:
    """List how everything fares that goes on beside requests: mail, reviews, workers and the like (admins)."""
    return loops.list_loops(call.db, call.actor, own=call.workspace.loops.states())
