"""Pages of items to judge: claim one, keep it alive, give it back.

A page is held by its key. The leases behind it carry generations that never leave the server: the key is the fencing
token of the client, and gold items look like all others.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, Forbidden, NotFound, Unavailable
from quintain.core.people import Actor, RoleName
from quintain.core.records import judging as records
from quintain.core.records.judging import JudgingPage, Lease, SavedAnswer
from quintain.core.rounds import Money
from quintain.core.task import Label
from quintain.core.texts import Text, Word
from quintain.services.access.permissions import require_role, require_user
from quintain.services.pay import caps
from quintain.services.validate.console.intake import AT_A_CLAIM, take_attempts
from quintain.services.validate.console.manage import find_validation, require_open, validation_by_id
from quintain.services.validate.judging import remaining_items, shared_source
from quintain.services.validate.labels import choices, shows_answer
from quintain.services.validate.quality.review import catch_up
from quintain.services.validate.types import QUALIFICATION, ValidationInfo
from quintain.services.work import qualify
from quintain.store.base import now
from quintain.store.database import repeated, transaction
from quintain.store.queries.validate import claims, drafts, page_claims, page_submissions, places
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate.claims import HeldPageRow, Outlook
from quintain.store.queries.validate.drafts import AnswerDraft
from quintain.store.queries.validate.page_claims import PageRequest, ShownItem
from quintain.store.queries.validate.page_submissions import PageRow
from quintain.store.queries.validate.places import Window
from quintain.store.write_queue import sqlite_write_queue

TRIES = 4  # a person who asks twice at once gets one page, whichever comes first
MOST_RETURNED = 5  # so many more pages than one has judged can be given back
ENDED_BY_JUDGE = ("returned", "submitted")
MOST_LEASES = 24  # six hours at the lease that is set where nothing else is


@dataclass(frozen=True, slots=True)
class ClaimedItem:
    """An item on a page. *id* is what an answer names; *answer* is shown where judges say whether it is right.

    *draft* is what was saved and not handed in yet.
    """

    id: int
    position: int
    inputs: dict[str, Any]
    labels: tuple[Label, ...]
    answer: Any = None
    label: str | None = None
    skipped: bool = False
    draft: AnswerDraft | None = None

    @property
    def done(self) -> bool:
        """Whether it was labelled or skipped."""
        return self.skipped or self.label is not None


@dataclass(frozen=True, slots=True)
class ClaimedPage:
    """A page that somebody holds until *lease_until*; *reward* is what all of it pays, *outcome* how it ended."""

    token: str
    ref: str
    items: tuple[ClaimedItem, ...]
    lease_until: datetime
    reward: Money
    outcome: str = ""

    @property
    def ended(self) -> bool:
        """Whether the page was handed in or given back; one that lapsed can still be handed in."""
        return self.outcome in ENDED_BY_JUDGE


def page_record(page: ClaimedPage) -> JudgingPage:
    """Return a page as programs see it."""
    items = [
        records.PageItem(
            id=item.id,
            position=item.position,
            inputs=item.inputs,
            answer=item.answer,
            labels=[label.name for label in item.labels],
            label=item.label,
            skipped=item.skipped,
            saved=SavedAnswer(**item.draft._asdict()) if item.draft else None,
        )
        for item in page.items
    ]
    return JudgingPage(page.token, page.ref, page.lease_until, page.reward, items)


def require_judge(db: Session, actor: Actor, validation: ValidationInfo) -> int:
    """Return the actor's id; refuse those without a role, with an ended qualification or without the entry quiz."""
    user_id = require_user(actor)
    require_role(actor, RoleName.WORKER, RoleName.EXPERT, RoleName.OWNER, task=validation.task.name)
    # Unqualifying ends the task's qualification, and sets aside what was judged in one validation. Given back in
    # another one, the qualification alone does not make work count that is set aside here.
    known = claims.qualified(db, validation.task_id, user_id, QUALIFICATION)
    held, reason = known or (False, "")
    if known is not None and not held:
        raise Forbidden(
            "Your qualification to judge for '{name}' has ended: {reason}.",
            name=validation.task.name,
            reason=reason or Text("no reason was given"),
            remedy="What you did stays in the record and stays paid. The owner can qualify you again.",
            code="not_qualified",
        )
    if held and claims.set_aside(db, validation.id, user_id):
        raise Forbidden(
            "Your judgements for {ref} are set aside.",
            ref=validation.ref,
            remedy="The owner can qualify you again on the page of its judges.",
            code="not_qualified",
        )
    if validation.policy.quiz is not None and not held:
        qualify.require_eligible(
            db, user_id, [{"rule": "quiz", "name": validation.policy.quiz.name}], task=validation.task.name
        )
    return user_id


@repeated
def claim_page(db: Session, actor: Actor, ref: str, *, moment: datetime | None = None) -> ClaimedPage | None:
    """Return a page of items for the actor to judge, the one they hold if there is one; None where nothing is left.

    They are items that the actor did not write and was never shown, those with the fewest judgements first.
    """
    validation = find_validation(db, ref)
    require_open(validation)
    user_id = require_judge(db, actor, validation)
    moment = moment or now()
    others = shared_source.people_of_same_source(db, actor, validation.task_id)
    page = _claim(db, validation, user_id, moment, others)
    if page is None and validation.round_id is not None and _more(db, validation):
        page = _claim(db, find_validation(db, ref), user_id, moment, others)
    if page is None:
        catch_up(db, validation)  # which may open slots again
    return page


def _more(db: Session, validation: ValidationInfo) -> bool:
    """Take in some of what has been written since; say whether there was anything."""
    return take_attempts(db, validation, AT_A_CLAIM).added > 0


class _FurtherOnError(Exception):
    """There are not enough slots in the window of a claim, and others after it."""


class _MeanwhileError(Exception):
    """The person asked twice at once: what was read before is no longer so."""


def _claim(
    db: Session, validation: ValidationInfo, user_id: int, moment: datetime, others: Sequence[int]
) -> ClaimedPage | None:
    refused: _MeanwhileError | None = None
    for _ in range(TRIES):
        try:
            return _claim_once(db, validation, user_id, moment, others)
        except _MeanwhileError as error:
            refused = error
    raise Unavailable(
        "You ask for too many pages at once.", remedy="Wait for the one that you asked for."
    ) from refused  # what the database said stands in the log


def _claim_once(
    db: Session, validation: ValidationInfo, user_id: int, moment: datetime, others: Sequence[int]
) -> ClaimedPage | None:
    """Return the page that the person holds, or a new one; None where nothing is left.

    Where *others* may be the same person under other ids, an item is for one of them only.
    What can be read without the write lock is: on SQLite nobody else writes while one holds it.
    """
    outlook = claims.outlook(db, validation.id, user_id, moment)
    if outlook.held is not None and outlook.held.lease_until > moment:
        return claimed_page(db, validation, outlook.held)
    caps.require_room(db, validation.task_id, user_id)
    if others:
        with sqlite_write_queue(db), transaction(db):
            items = shared_source.items_left(db, validation, [user_id, *others])
            return _hand_out(db, validation, user_id, moment, outlook, None, items=items) if items else None
    if outlook.tail:
        return _claim_of_tail(db, validation, user_id, moment, outlook)
    window = places.window(db, validation.id, user_id) if outlook.seasoned else None
    try:
        return _hand_out(db, validation, user_id, moment, outlook, window)
    except _FurtherOnError:
        return _hand_out(db, validation, user_id, moment, outlook, _move_on(db, validation, user_id, window), last=True)


def _claim_of_tail(
    db: Session, validation: ValidationInfo, user_id: int, moment: datetime, outlook: Outlook
) -> ClaimedPage | None:
    """Return a page of the last slots, those first that others can do without; what came meanwhile is taken as is."""
    items = remaining_items.order_remaining(db, validation, user_id, moment, validation.policy.page_size)
    page = _hand_out(db, validation, user_id, moment, outlook, None, items=items) if items else None
    return page or _hand_out(db, validation, user_id, moment, outlook, None)


def _move_on(db: Session, validation: ValidationInfo, user_id: int, window: Window | None) -> Window:
    """Move a judge's place past all that they have seen; that may be much, so it is looked for without the lock."""
    open_window, newest = places.first_open_from(db, validation.id, user_id, window.start if window else places.START)
    with sqlite_write_queue(db), transaction(db):
        places.save(db, validation.id, user_id, open_window.start, newest)
    return open_window


def _hand_out(
    db: Session,
    validation: ValidationInfo,
    user_id: int,
    moment: datetime,
    outlook: Outlook,
    window: Window | None,
    *,
    items: Sequence[int] = (),
    last: bool = False,
) -> ClaimedPage | None:
    """Make a new page; None where nothing is left. The database refuses a second one for the same person."""
    key = secrets.token_urlsafe(24)
    until = moment + timedelta(seconds=validation.policy.lease_seconds)
    gold = _gold(db, validation, user_id, key) if outlook.gold else []
    try:
        with sqlite_write_queue(db), transaction(db):
            if outlook.held is not None:
                if not claims.lapse(db, outlook.held.id, moment):
                    raise _MeanwhileError
                drafts.discard(db, outlook.held.id)
            if outlook.held is not None or outlook.lapsed:
                claims.reclaim(db, validation.id, moment)
                drafts.discard_lapsed(db, validation.id, moment)
            count = validation.policy.page_size - len(gold)
            more = window is not None and not window.whole and not last
            least = count if more else 1
            request = PageRequest(validation.id, user_id, key, count, least, gold, moment, until, window, items)
            rows = page_claims.claim_slots(db, request)
            if not rows and more:
                raise _FurtherOnError
    except IntegrityError as error:
        raise _MeanwhileError from error
    return _page(validation, key, until, rows, len(rows)) if rows else None


def _gold(db: Session, validation: ValidationInfo, user_id: int, key: str) -> list[tuple[int, float]]:
    """Choose the gold items of a page, each with a place by chance: at the policy's rate on average, within limits."""
    gold = validation.policy.gold
    expected = validation.policy.page_size * gold.rate
    count = min(int(expected) + (_chance(key, -1) < expected % 1), validation.policy.page_size - 1)
    if not count:
        return []
    limits = {"exposures": gold.exposures, "per_worker": gold.per_worker}
    chosen = claims.gold_for(db, validation.id, user_id, count=count, chance=_chance(key, -2), **limits)
    return [(item_id, _chance(key, number)) for number, item_id in enumerate(chosen)]


def _chance(key: str, number: int) -> float:
    """Return a number from 0 to 1 that depends on the page's key alone."""
    digest = hashlib.blake2b(f"{key} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def claimed_page(db: Session, validation: ValidationInfo, page: HeldPageRow | PageRow) -> ClaimedPage:
    """Return a page as its holder sees it."""
    ended = isinstance(page, PageRow) and page.ended_at is not None
    saved = {} if ended else drafts.of_page(db, page.id)
    claimed = _page(validation, page.key, page.lease_until, page_claims.shown_items(db, page.id), page.size, saved)
    return replace(claimed, outcome=page.outcome) if isinstance(page, PageRow) else claimed


def _page(
    validation: ValidationInfo,
    key: str,
    until: datetime,
    rows: Sequence[ShownItem],
    size: int,
    saved: Mapping[int, AnswerDraft] = MappingProxyType({}),
) -> ClaimedPage:
    shown = shows_answer(validation.task)
    items = tuple(
        ClaimedItem(
            id=row.id,
            position=row.position,
            inputs=row.inputs,
            labels=choices(validation.task, row.inputs),
            answer=row.answer if shown else None,
            label=row.label,
            skipped=row.skipped,
            draft=draft if (draft := saved.get(row.id)) is not None and not draft.empty else None,
        )
        for row in rows
    )
    return ClaimedPage(
        key, validation.ref, items, until, validation.policy.reward.for_items(size, validation.policy.page_size)
    )


def get_page(db: Session, actor: Actor, token: str) -> ClaimedPage:
    """Return the page with this key for the person who holds it; others are refused."""
    page = held_page(db, actor, token)
    return claimed_page(db, validation_of_page(db, page), page)


@repeated
def extend_page(db: Session, actor: Actor, token: str, *, moment: datetime | None = None) -> Lease:
    """Keep a page alive: its leases begin anew, also those that lapsed and that nobody took.

    Nobody holds a page for ever: after MOST_LEASES leases its items go to others, and what is handed in then is late.
    """
    moment = moment or now()
    with sqlite_write_queue(db), transaction(db):
        page = held_page(db, actor, token, locked=True)
        _refuse_ended(page)
        lease = timedelta(seconds=validation_of_page(db, page).policy.lease_seconds)
        until = min(moment + lease, page.started_at + MOST_LEASES * lease)
        if until <= moment:
            return Lease(page.lease_until, 0)
        held = slot_queries.extend(db, page.id, until)
        page_submissions.lengthen_page(db, page.id, until)
        return Lease(until, held)


@repeated
def return_page(db: Session, actor: Actor, token: str, *, moment: datetime | None = None) -> None:
    """Return a page: its slots are free at once. What was answered stays; the items are not shown again."""
    with sqlite_write_queue(db), transaction(db):
        page = held_page(db, actor, token, locked=True)
        if page.ended_at is None:
            _require_returnable(db, page)
            slot_queries.give_back(db, page.id)
            drafts.discard(db, page.id)
            page_submissions.end_page(db, page.id, moment or now(), "returned")


def _require_returnable(db: Session, page: PageRow) -> None:
    """Refuse to take yet another page back: nobody chooses what to judge by looking through it all."""
    submitted, returned = claims.ended_pages(db, page.validation_id, page.user_id)
    if returned - submitted >= MOST_RETURNED:
        raise Conflict(
            "You have given back {n} more pages than you judged.",
            n=returned - submitted,
            remedy="Judge this one, or leave it: when its time is over, others get its items.",
            code="given_back_enough",
        )


def held_page(db: Session, actor: Actor, token: str, *, locked: bool = False) -> PageRow:
    """Find a page by its key; other people's pages are not there."""
    user_id = require_user(actor)
    page = page_submissions.page_by_key(db, token, locked=locked)
    if page is None or page.user_id != user_id:
        raise NotFound("You hold no such page.", remedy="Ask for a new one.")
    return page


def validation_of_page(db: Session, page: PageRow) -> ValidationInfo:
    """Return the validation that a page belongs to."""
    return validation_by_id(db, page.validation_id)


def _refuse_ended(page: PageRow) -> None:
    if page.ended_at is not None:
        raise Conflict(
            "This page was {outcome}.", outcome=Word(str(page.outcome)), remedy="Ask for a new one.", code="page_over"
        )
