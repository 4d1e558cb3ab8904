"""Many attempts, taken in some at a time, in short transactions, by a worker.

While a validation is opened nobody judges; later people judge meanwhile. A worker that dies leaves what it has taken
in; the next one goes on after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import Actor
from quintain.core.records.jobs import JobStanding
from quintain.core.validation import ValidationState
from quintain.services.access import audit
from quintain.services.jobs import queue
from quintain.services.jobs.running import JobRun
from quintain.services.validate.console.intake import draw_often, drop_retracted, new_attempts, take_batch
from quintain.services.validate.console.item_rules import drawn_often
from quintain.services.validate.console.manage import PREPARE, find_validation, tell_judges
from quintain.services.validate.types import ValidationInfo
from quintain.store.database import lock, transaction
from quintain.store.queries.validate import intake, slots
from quintain.store.queries.validate import items as item_queries
from quintain.store.tables import Validation
from quintain.store.write_queue import sqlite_write_queue

AT_A_TIME = 500  # attempts that one transaction takes in while people judge: they wait for some tens of milliseconds
BEFORE_ANYBODY = 1000  # and where nobody judges yet


def prepare(run: JobRun) -> Mapping[str, Any]:
    """Take in the attempts of a round, then let people judge."""
    with run.sessions() as db:
        validation = find_validation(db, run.subject)
        if validation.round_id is None or validation.state is not ValidationState.PREPARING:
            return {}
        mark, items = _take_all(run, db, validation, _often(db, validation))
        _open(db, validation, mark, run.asker(db))
    return {"items": items}


def take_in(run: JobRun) -> Mapping[str, Any]:
    """Take in what was written since a validation was opened; people judge meanwhile."""
    with run.sessions() as db:
        validation = find_validation(db, run.subject)
        if validation.round_id is None or validation.state is ValidationState.PREPARING:
            return {}
        with sqlite_write_queue(db), transaction(db):
            lock(db, f"items of {validation.id}")
            drop_retracted(db, validation, validation.seen_to)
        drawn = [attempt.hash for attempt in new_attempts(db, validation)] if validation.policy.often else []
        mark, items = _take_all(run, db, validation, draw_often(db, validation, drawn))
        with sqlite_write_queue(db), transaction(db):
            db.get_one(Validation, validation.id, populate_existing=True).seen_to = mark
            db.flush()
    return {"items": items}


def _take_all(run: JobRun, db: Session, validation: ValidationInfo, often: Mapping[str, int]) -> tuple[str, int]:
    """Take in all new attempts of the round; give the mark that was looked at before, and how many items there are."""
    round_id = validation.round_id or 0
    known = run.checkpoint
    if not isinstance(known.get("mark"), str):  # nothing yet, or a number, as earlier versions wrote it
        known = {"after": 0, "done": 0, "mark": intake.mark(db, round_id)}
    total = intake.count_attempts(db, round_id)
    items = item_queries.count_items(db, validation.id)
    after, done = int(known["after"]), int(known["done"])
    most = BEFORE_ANYBODY if validation.state is ValidationState.PREPARING else AT_A_TIME
    while True:
        run.report_progress(done, total)
        some = intake.next_ids(db, round_id, after=after, limit=most)
        if not some:
            break
        begun, after, done = after, some[-1], done + len(some)
        with sqlite_write_queue(db), transaction(db):
            lock(db, f"items of {validation.id}")
            attempts = new_attempts(db, validation, after=begun, until=after)  # of so few, as they are now
            items += take_batch(db, validation, attempts, before=items, often=often)
            run.save_within(db, {"after": after, "done": done, "mark": known["mark"]})
        db.expunge_all()
    if done >= slots.MANY:
        with transaction(db):
            slots.analyse(db)
    return known["mark"], items


def preparation_of(db: Session, validation: ValidationInfo) -> JobStanding | None:
    """Return how far the preparing of a validation is; None where it is over. For other services."""
    return queue.newest(db, PREPARE, validation.ref) if validation.state is ValidationState.PREPARING else None


def _often(db: Session, validation: ValidationInfo) -> dict[str, int]:
    """Draw among all attempts which are judged more often: what was taken in before has been drawn alike."""
    if validation.policy.often is None:
        return {}
    share, round_id = validation.policy.unfooled_share, validation.round_id or 0
    hashes = intake.candidate_hashes(db, round_id, unfooled=share, seed=validation.seed)
    drawn = drawn_often(validation, [{"hash": one} for one in hashes], {})
    return {key: number for key, number in zip(hashes, drawn, strict=True) if number is not None}


def _open(db: Session, validation: ValidationInfo, mark: str, asker: Actor) -> None:
    with sqlite_write_queue(db), transaction(db):
        row = db.get_one(Validation, validation.id, populate_existing=True)
        if row.state == ValidationState.PREPARING:
            row.state, row.seen_to = ValidationState.OPEN.value, mark
            tell_judges(db, validation, row.created_by)
            audit.record(db, asker, "validation.prepared", validation.ref)
            db.flush()
