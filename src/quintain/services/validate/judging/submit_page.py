"""Handing in judgements: what was answered, skipped and flagged on a page, all of it or nothing.

An answer that comes after its slot went to somebody else is kept and paid, and fills no slot. The same answers handed
in again change nothing. A page that its judge gave back or handed in takes no further ones: otherwise pages could be
claimed and given back in a loop, and all of them answered late for pay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, Forbidden
from quintain.core.people import Actor
from quintain.core.records.judging import Receipt
from quintain.core.rounds import Money
from quintain.core.task import normalise_label
from quintain.core.texts import Text
from quintain.core.validation import SlotState
from quintain.services.access.notify import notify_once
from quintain.services.collect.writing import list_attempts
from quintain.services.events import ServiceEvent, announce
from quintain.services.pay import earnings, pay_notices
from quintain.services.validate.judging.claim_page import ENDED_BY_JUDGE, held_page, validation_of_page
from quintain.services.validate.judging.update_slots import update_slots
from quintain.services.validate.labels import label_fault
from quintain.services.validate.quality import gold
from quintain.services.validate.types import ValidationInfo
from quintain.store.base import now
from quintain.store.database import repeated, transaction
from quintain.store.queries.validate import drafts, judging_times, page_submissions
from quintain.store.queries.validate import judgements as judgement_queries
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate import validation as queries
from quintain.store.queries.validate.page_submissions import OfferRow, PageRow
from quintain.store.queries.validate.slots import SlotRow
from quintain.store.tables import JudgingNote
from quintain.store.write_queue import sqlite_write_queue

MAX_NOTE = 2000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge says to an item of a page: a *label*, or a *skip* with its reason; a *flag* goes with either."""

    item: int
    label: str | None = None
    skip: str | None = None
    flag: str | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Take the label in the form in which labels are compared."""
        if self.label is not None:
            object.__setattr__(self, "label", normalise_label(self.label))


def submit_page(
    db: Session,
    actor: Actor,
    token: str,
    answers: Sequence[Answer],
    *,
    finish: bool = True,
    saved: bool = False,
    moment: datetime | None = None,
) -> Receipt:
    """Hand in *answers* to a page. With *finish* the page ends, and what was not answered goes back.

    With *saved*, answers that were saved before are handed in as well, where *answers* say nothing of their items.
    Where the last slot of a batch was filled, the judges are reviewed.
    """
    handed = _submit(db, actor, token, answers, finish=finish, saved=saved, moment=moment or now())
    receipt, validation = handed.receipt, handed.validation
    announce(db, ServiceEvent.PAGE_KEPT, validation)
    if handed.ended:
        announce(db, ServiceEvent.BATCH_ENDED, validation)
    if receipt.earned.amount:
        pay_notices.notify_after_work(
            db, validation.task_id, validation.task.name, validation.ref, lambda: _wage(db, validation)
        )
    return receipt


def _wage(db: Session, validation: ValidationInfo) -> tuple[Money, bool]:
    """Return what an hour of judging pays, and whether that was measured."""
    policy = validation.policy
    times = judging_times.recent_seconds(db, validation.id)
    seconds, measured = earnings.pace(times, policy.seconds_per_item, policy.page_size)
    size = policy.page_size
    return earnings.hourly(policy.reward.for_items(size, size), seconds * size / 60), measured


@dataclass(frozen=True, slots=True)
class _Handed:
    """What came of handing in a page; *ended* where a batch has nothing open any more."""

    receipt: Receipt
    validation: ValidationInfo
    ended: bool


def tell_done(db: Session, validation: ValidationInfo) -> None:
    """Tell who began the judging, once, that all is judged: what is contested waits for them, then the release."""
    owner = None if slot_queries.anything_wanted(db, validation.id) else queries.owner_if_written(db, validation.id)
    if owner is not None:
        page = f"/tasks/{validation.task.name}/validation/{validation.name}"
        text = Text("{ref} is judged. Decide what is contested, and release.", ref=validation.ref)
        notify_once(db, owner, "judging.done", text, page)


@repeated
def _submit(
    db: Session, actor: Actor, token: str, answers: Sequence[Answer], *, finish: bool, saved: bool, moment: datetime
) -> _Handed:
    with sqlite_write_queue(db), transaction(db):
        page = held_page(db, actor, token, locked=True)
        validation = validation_of_page(db, page)
        offered = {row.id: row for row in page_submissions.offers(db, page.id)}
        if saved:
            answers = [*answers, *_saved(db, page, offered, answers)]
        new = _checked(validation, page, offered, answers)
        if new and page.outcome in ENDED_BY_JUDGE:
            raise Conflict(
                "You gave this page back; others judge its items now.", remedy="Take a new page.", code="page_over"
            )
        labelled = [answer for answer in new if answer.label is not None]
        late, batches = _keep(db, validation, page, offered, labelled, moment)
        _keep_notes(db, validation, page, offered, answers, new)
        _report(db, actor, offered, new)
        done = {row.id for row in offered.values() if row.label is not None or row.skipped}
        left = len(offered) - len(done | {answer.item for answer in new})
        receipt = Receipt(
            judged=len(labelled),
            late=late,
            skipped=sum(answer.skip is not None for answer in new),
            flagged=sum(answer.flag is not None for answer in answers),
            earned=_pay(db, validation, page, offered, len(labelled)),
            left=left,
        )
        receipt = _watch_gold(db, validation, page, offered, labelled, receipt)
        if page.ended_at is None and (finish or not left):
            _end(db, page, offered, labelled, moment)
        if labelled:
            announce(db, ServiceEvent.PAGE_JUDGED, validation)
        ended = [batch for batch in sorted(batches) if not slot_queries.batch_has_open(db, validation.id, batch)]
        for batch in ended:
            judgement_queries.mark_due(db, validation.id, batch)
    return _Handed(receipt, validation, bool(ended))


def _end(
    db: Session, page: PageRow, offered: Mapping[int, OfferRow], labelled: Sequence[Answer], moment: datetime
) -> None:
    """End a page; what it holds goes back, unless all of it is judged."""
    if sum(row.label is not None for row in offered.values()) + len(labelled) < len(offered):
        slot_queries.give_back(db, page.id)
    page_submissions.end_page(db, page.id, moment, "submitted")
    drafts.discard(db, page.id)


def _saved(db: Session, page: PageRow, offered: Mapping[int, OfferRow], answers: Sequence[Answer]) -> list[Answer]:
    """Return the answers that were saved to items that *answers* do not name."""
    named = {answer.item for answer in answers}
    return [
        Answer(item, draft.label, draft.skip, draft.flag, draft.seconds)
        for item, draft in drafts.of_page(db, page.id).items()
        if item not in named and item in offered and (draft.label is not None or draft.skip is not None)
    ]


def _checked(
    validation: ValidationInfo, page: PageRow, offered: Mapping[int, OfferRow], answers: Sequence[Answer]
) -> list[Answer]:
    """Find every fault in *answers*; give those that were not handed in before."""
    faults: list[Fault] = []
    new: list[Answer] = []
    seen: set[int] = set()
    for number, answer in enumerate(answers, 1):
        row = offered.get(answer.item)
        if row is None:
            faults.append(Fault("item {item} is not on this page", item=answer.item, row=number))
            continue
        if answer.item in seen:
            faults.append(Fault("item {item} is answered twice", item=answer.item, row=number))
        seen.add(answer.item)
        if row.author_id == page.user_id:
            raise Forbidden("Nobody judges what they wrote themselves.", remedy="Skip it.")
        reason = _fault(validation, row, answer)
        if reason is not None:
            faults.append(reason.at(row=number))
        elif row.label is None and not row.skipped:
            new.append(answer)
        elif (row.label, row.skipped) != (answer.label, answer.skip is not None):
            raise Conflict(
                "Item {item} was answered before, and otherwise.",
                item=answer.item,
                remedy="A judgement cannot be changed.",
            )
    if faults:
        raise BadInput(faults=faults)
    return new


def _fault(validation: ValidationInfo, row: OfferRow, answer: Answer) -> Fault | None:
    if answer.label is None and answer.skip is None:
        return Fault("item {item} has neither a label nor a skip", item=answer.item)
    return content_fault(validation, row, answer)


def content_fault(validation: ValidationInfo, row: OfferRow, answer: Answer) -> Fault | None:
    """Return what is wrong with what there is of an answer."""
    if answer.label is not None and answer.skip is not None:
        return Fault("item {item} has both a label and a skip", item=answer.item)
    if answer.skip is not None and not answer.skip.strip():
        return Fault("a skip needs a reason", field="skip")
    for name, text in (("skip", answer.skip), ("flag", answer.flag)):
        if text is not None and len(text) > MAX_NOTE:
            return Fault("is longer than {most} characters", most=MAX_NOTE, field=name)
    if answer.label is not None:
        return label_fault(validation.task, row.inputs, answer.label)
    return None


def _keep(
    db: Session,
    validation: ValidationInfo,
    page: PageRow,
    offered: Mapping[int, OfferRow],
    answers: Sequence[Answer],
    moment: datetime,
) -> tuple[int, set[int]]:
    """Add the judgements and fill their slots; give how many were late, and the batches that were filled."""
    if not answers:
        return 0, set()
    # All that the page holds, in one go: what is given back afterwards would else be locked out of order.
    slots = {slot.id: slot for slot in slot_queries.of_items(db, [row.item_id for row in offered.values()])}
    elapsed = max((moment - page.started_at).total_seconds(), 0.0)
    rows: list[dict[str, Any]] = []
    filling: dict[int, SlotRow] = {}
    for answer in answers:
        row = offered[answer.item]
        slot = slots.get(row.slot_id) if row.slot_id is not None else None
        if slot is not None and slot.generation == row.generation and SlotState(slot.state).is_pending:
            filling[row.id] = slot
        rows.append(
            {
                "validation_id": validation.id,
                "item_id": row.item_id,
                "user_id": page.user_id,
                "offer_id": row.id,
                "label": answer.label,
                "late": row.slot_id is not None and row.id not in filling,
                "seconds": _seconds(answer.seconds, elapsed, len(offered)),
                "created_at": moment,
            }
        )
    ids = judgement_queries.add(db, rows)
    for offer_id, slot in filling.items():
        slot.state, slot.judgement_id = SlotState.FILLED.value, ids[offer_id]
    touched = {row["item_id"] for row in rows}
    update_slots(db, validation, [slot for slot in slots.values() if slot.item_id in touched])
    return sum(row["late"] for row in rows), {slot.batch for slot in filling.values()}


def _seconds(stated: float | None, elapsed: float, size: int) -> float:
    """Take the time that a page says, if it can be true; else the page's own time, shared among its items."""
    fits = stated is not None and 0 <= stated <= elapsed + 1
    return float(stated) if fits and stated is not None else elapsed / size


def _keep_notes(
    db: Session,
    validation: ValidationInfo,
    page: PageRow,
    offered: Mapping[int, OfferRow],
    answers: Sequence[Answer],
    new: Sequence[Answer],
) -> None:
    fresh = {answer.item for answer in new}
    for answer in answers:
        texts = {"skip": answer.skip, "flag": answer.flag} if answer.item in fresh else {}
        for kind, text in texts.items():
            if text is not None:
                about = {"offer_id": answer.item, "item_id": offered[answer.item].item_id}
                note = JudgingNote(
                    validation_id=validation.id, user_id=page.user_id, kind=kind, text=text.strip(), **about
                )
                db.add(note)
    db.flush()


def _report(db: Session, actor: Actor, offered: Mapping[int, OfferRow], answers: Sequence[Answer]) -> None:
    """Put what was flagged into the owner's queue of the round that it was written in."""
    for answer in answers:
        attempt_id = offered[answer.item].attempt_id
        if answer.flag is not None and attempt_id is not None:
            list_attempts.report(db, actor, attempt_id, answer.flag.strip() or "Flagged by a judge.")


def _pay(db: Session, validation: ValidationInfo, page: PageRow, offered: Mapping[int, OfferRow], new: int) -> Money:
    """Pay for the answers that are new; give what the page has earned in all."""
    before = sum(row.label is not None for row in offered.values())
    reward, size = validation.policy.reward, validation.policy.page_size
    total = reward.for_items(before + new, size)
    owed = Money(total.amount - reward.for_items(before, size).amount, total.currency)
    earnings.earn(
        db,
        page.user_id,
        validation.task_id,
        kind="base",
        work=f"judging:{page.id}:{before + new}",
        money=owed,
        what=f"Judging for {validation.ref}",
        round_id=validation.round_id,
    )
    return total


def _watch_gold(
    db: Session,
    validation: ValidationInfo,
    page: PageRow,
    offered: Mapping[int, OfferRow],
    answers: Sequence[Answer],
    receipt: Receipt,
) -> Receipt:
    """Look at the gold items, if there were any: a bonus for doing well, the end of the qualification for the rest."""
    if not any(offered[answer.item].gold is not None for answer in answers):
        return receipt
    outcome = gold.after_answers(db, validation, page.user_id)
    return replace(receipt, qualified=outcome.qualified, feedback=outcome.feedback)
