"""Taking in: attempts of a round, and rows from elsewhere, become items with slots.

Who claims a page takes in a few new attempts, so that nobody waits long for them; where there are more, a worker takes
in the rest, some at a time. Everything is looked for outside of the transaction that writes, and looked at once more
inside it: what was retracted meanwhile does not come in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.records.validate import ItemsAdded
from quintain.core.validation import ValidationState
from quintain.data.further import review_name
from quintain.services.jobs import queue
from quintain.services.validate.console.item_rules import drawn_often
from quintain.services.validate.judging.update_slots import ask_again
from quintain.services.validate.types import ValidationInfo, slot_rows
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.collect import prompts
from quintain.store.queries.validate import intake, slots
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import validation as queries
from quintain.store.queries.validate.intake import NewAttempt
from quintain.store.tables import Attempt, Validation
from quintain.store.write_queue import sqlite_write_queue

ROWS_AT_A_TIME = 1000  # rows that one transaction takes in: others wait for some tens of milliseconds
AT_ONCE = 2000  # attempts that are taken in while the owner waits
AT_A_CLAIM = 50  # and while a judge does: some milliseconds
JOB = "take in attempts"  # the kind of job that takes in more, of a validation that is open


def take_attempts(db: Session, validation: ValidationInfo, most: int = AT_ONCE) -> ItemsAdded:
    """Take in the round's attempts that are no items yet, and let go of those that were retracted or withheld.

    Of more than *most*, a worker takes in the rest.
    """
    if validation.round_id is None or validation.state is ValidationState.PREPARING:
        return ItemsAdded(0, 0)
    seen = intake.mark(db, validation.round_id)
    if seen == validation.seen_to:
        return ItemsAdded(0, 0)
    if not validation.seen_to and not is_small(db, validation.round_id):  # all of it is to be looked at
        queue.enqueue(db, JOB, validation.ref, task=validation.task.name)
        return ItemsAdded(0, 0)
    attempts = new_attempts(db, validation, limit=most + 1, since=validation.seen_to)
    rest = len(attempts) > most
    if rest:
        queue.enqueue(db, JOB, validation.ref, task=validation.task.name)
        # A sample of a certain number is drawn from what comes in together: all of it is the worker's.
        attempts = [] if validation.policy.often and validation.policy.often.items else attempts[:most]
    before, often = (
        item_queries.count_items(db, validation.id),
        draw_often(db, validation, [attempt.hash for attempt in attempts]),
    )
    with sqlite_write_queue(db), transaction(db):
        lock(db, f"items of {validation.id}")
        drop_retracted(db, validation, validation.seen_to)
        # What was there to be taken in, less what has changed since.
        attempts = new_attempts(db, validation, since=validation.seen_to, until=attempts[-1].id) if attempts else []
        added = take_batch(db, validation, attempts, before=before, often=often)
        if not rest:
            db.get_one(Validation, validation.id, populate_existing=True).seen_to = seen
        db.flush()
    return ItemsAdded(added, len(attempts) - added)


def is_small(db: Session, round_id: int) -> bool:
    """Whether all attempts of a round may be looked at while somebody waits."""
    return intake.count_attempts_to(db, round_id, AT_ONCE + 1) <= AT_ONCE


def new_attempts(
    db: Session,
    validation: ValidationInfo,
    *,
    after: int = 0,
    limit: int | None = None,
    since: str = "",
    until: int | None = None,
) -> list[NewAttempt]:
    """List attempts of the validation's round that its policy chooses and that are no items yet."""
    return intake.new_attempts(
        db,
        validation.id,
        validation.round_id or 0,
        unfooled=validation.policy.unfooled_share,
        seed=validation.seed,
        after=after,
        limit=limit,
        since=since,
        until=until,
    )


def drop_retracted(db: Session, validation: ValidationInfo, since: str) -> None:
    """Ask no more about items whose attempts were retracted or withheld; within the caller's transaction."""
    gone = intake.leaving_items(db, validation.id, validation.round_id or 0, since)
    if gone:
        item_queries.retire_items(db, gone, now())
        slots.drop(db, gone)
        db.expire_all()


def take_batch(
    db: Session, validation: ValidationInfo, attempts: Sequence[NewAttempt], *, before: int, often: Mapping[str, int]
) -> int:
    """Make items of *attempts*, which were read within the caller's transaction; give how many came in.

    *before* is how many items there are, and *often* how many judgements some get, by their hashes.
    """
    first: dict[str, NewAttempt] = {}
    for attempt in attempts:
        first.setdefault(attempt.hash, attempt)
    again = _take_again(db, validation, {key: one for key, one in first.items() if one.again})
    new = [attempt for attempt in first.values() if not attempt.again]
    added = intake.add_attempts(
        db, validation.id, [one.id for one in new], before=before, batch_size=validation.policy.batch_size
    )
    shapes = [
        {"hash": one.hash, "batch": batch, "author_id": one.author_id}
        for one, (_, batch) in zip(new, added, strict=True)
    ]
    asked = [often.get(one.hash) for one in new]
    ids = [item for item, _ in added]
    drawn = [item for item, number in zip(ids, asked, strict=True) if number is not None]
    if drawn and validation.policy.often:
        intake.ask_often(db, drawn, validation.policy.often.judgements)
    slots.add(db, slot_rows(validation, ids, shapes, 0, [number or validation.policy.first_slots for number in asked]))
    return len(new) + again


def _take_again(db: Session, validation: ValidationInfo, first: Mapping[str, NewAttempt]) -> int:
    """Ask again about texts that were retracted and have been submitted once more; give how many.

    The item is the same, so that nobody sees the text twice; what others said of it counts, and what is missing is
    asked for. It belongs to the new attempt from now on.
    """
    items = intake.retracted_items(db, validation.id, list(first)) if first else []
    for item in items:
        attempt = db.get_one(Attempt, first[item.hash].id)
        item.attempt_id, item.author_id = attempt.id, attempt.user_id
        item.answer, item.aim, item.predictions = attempt.target, attempt.aim, attempt.predictions or []
        item.retired_at = None
    if items:
        queries.touch(db, validation.id)
        db.flush()
        ask_again(db, validation, items)
    return len(items)


def draw_often(db: Session, validation: ValidationInfo, hashes: Sequence[str]) -> dict[str, int]:
    """Draw which new items are judged more often than others, and how often, by their hashes."""
    if validation.policy.often is None or not hashes:
        return {}
    unique = list(dict.fromkeys(hashes))
    known = {part.part: part.often for part in item_queries.parts(db, validation.id)}
    drawn = drawn_often(validation, [{"hash": one} for one in unique], known)
    return {key: number for key, number in zip(unique, drawn, strict=True) if number is not None}


def add_rows(db: Session, validation: ValidationInfo, rows: Sequence[dict[str, Any]]) -> int:
    """Add the rows that are no items yet, with their slots, in short transactions, and give how many they are.

    Where it was interrupted, adding them once more adds the rest: what is there already is left alone. No later round
    gives out their texts as prompts.
    """
    unique: dict[str, dict[str, Any]] = {}
    for row in rows:
        unique.setdefault(row["hash"], row)
    known = item_queries.known_hashes(db, validation.id, list(unique))
    new = [row for key, row in unique.items() if key not in known]
    # A sample of a certain number is drawn from what comes in together, however many steps it takes.
    asked = dict(zip((row["hash"] for row in new), _asked(db, validation, new), strict=True))
    before, added = item_queries.count_items(db, validation.id), 0
    for start in range(0, len(new), ROWS_AT_A_TIME):
        some = new[start : start + ROWS_AT_A_TIME]
        with sqlite_write_queue(db), transaction(db):
            lock(db, f"items of {validation.id}")
            added += _add_some(db, validation, some, asked, before + added)
    return added


def _add_some(
    db: Session,
    validation: ValidationInfo,
    rows: Sequence[dict[str, Any]],
    asked: Mapping[str, int | None],
    before: int,
) -> int:
    """Add some rows, unless somebody else just has; within the caller's transaction."""
    known = item_queries.known_hashes(db, validation.id, [row["hash"] for row in rows])
    some = [
        {
            "attempt_id": None,
            "author_id": None,
            "part": "",
            **row,
            "asked": asked[row["hash"]],
            "validation_id": validation.id,
            "batch": (before + place) // validation.policy.batch_size,
        }
        for place, row in enumerate(row for row in rows if row["hash"] not in known)
    ]
    ids = intake.add_items(db, some)
    counts = [row["asked"] or validation.policy.first_slots for row in some]
    slots.add(db, slot_rows(validation, ids, some, 0, counts))
    used = {"task_id": validation.task_id, "round_id": validation.round_id, "corpus": "", "part": "", "row": ""}
    reviews = [review_name(row["source"].get("review")) for row in some]
    uses = [
        {**used, "hash": row["hash"], "review": review, "created_at": now()}
        for row, review in zip(some, reviews, strict=True)
    ]
    prompts.add_uses(db, uses)
    return len(some)


def _asked(db: Session, validation: ValidationInfo, new: Sequence[Mapping[str, Any]]) -> list[int | None]:
    often = {part.part: part.often for part in item_queries.parts(db, validation.id)} if validation.policy.often else {}
    return drawn_often(validation, new, often)
