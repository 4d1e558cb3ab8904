"""Saving answers as they are given: on a page that is held, before it is handed in. They count for nothing until then.

A draft is fenced like a judgement: once a slot of the page is somebody else's, nothing more is saved. That goes by the
page, not by the item, because gold items have no slots, and nobody may tell them from the others.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict
from quintain.core.people import Actor
from quintain.core.texts import Word
from quintain.services.validate.judging.claim_page import held_page, validation_of_page
from quintain.services.validate.judging.submit_page import Answer, content_fault
from quintain.store.base import now
from quintain.store.database import repeated, transaction
from quintain.store.queries.validate import drafts as queries
from quintain.store.queries.validate import page_submissions
from quintain.store.queries.validate.drafts import AnswerDraft
from quintain.store.write_queue import sqlite_write_queue


@repeated
def save_answer(
    db: Session, actor: Actor, token: str, answer: Answer, *, number: int | None = None, moment: datetime | None = None
) -> int:
    """Keep *answer* until the page is handed in, in place of what was saved before; an empty one takes that back.

    Of two changes the one with the higher *number* stays, whichever comes first; without one it is the last that
    comes. The same again changes nothing. Give the number of what is saved now.
    """
    moment = moment or now()
    with sqlite_write_queue(db), transaction(db):
        page = held_page(db, actor, token, locked=True)
        if page.ended_at is not None:
            raise Conflict(
                "This page was {outcome}.",
                outcome=Word(str(page.outcome)),
                remedy="Ask for a new one.",
                code="page_over",
            )
        row = next((offer for offer in page_submissions.offers(db, page.id) if offer.id == answer.item), None)
        if row is None:
            raise BadInput("Item {item} is not on this page.", item=answer.item, remedy="Name one that is.")
        if row.label is not None or row.skipped:
            raise Conflict("Item {item} is handed in.", item=answer.item, remedy="A judgement cannot be changed.")
        if queries.is_taken_over(db, page.id):
            raise Conflict(
                "The time for this page is over, and others have its items now.",
                remedy="Hand in what you answered: it is kept and paid.",
                code="page_over",
            )
        fault = content_fault(validation_of_page(db, page), row, answer)
        if fault is not None:
            raise BadInput(faults=[fault])
        known = queries.of_page(db, page.id).get(answer.item)
        latest = known.number if known else 0
        draft = AnswerDraft(
            answer.label, answer.skip, answer.flag, answer.seconds, latest + 1 if number is None else number
        )
        queries.save(db, page.id, page.user_id, answer.item, draft, moment)
        return max(draft.number, latest)
