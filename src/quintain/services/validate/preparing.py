"""Opening a validation of many attempts: taken in some at a time, in short transactions, by a worker.

Nobody judges meanwhile. A worker that dies leaves what it has taken in; the next one goes on after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR, Actor, RoleName
from quintain.core.records.jobs import JobStanding
from quintain.core.validation import ValidationState
from quintain.services.access import audit
from quintain.services.access.permissions import require_role
from quintain.services.jobs import queue
from quintain.services.jobs.running import JobRun
from quintain.services.validate.item_rules import drawn_often
from quintain.services.validate.validation import ValidationInfo
from quintain.services.validate.validations import PREPARE, add_rows, find, from_attempt, tell_judges
from quintain.store.database import lock, transaction
from quintain.store.queries.validate import intake
from quintain.store.queries.validate import items as item_queries
from quintain.store.tables import Validation
from quintain.store.turns import turn

AT_A_TIME = 1000  # attempts that one transaction takes in: others wait for some tens of milliseconds


def prepare(run: JobRun) -> Mapping[str, Any]:
    """Take in the attempts of a round, then let people judge."""
    with run.sessions() as db:
        validation = find(db, run.subject)
        if validation.round_id is None or validation.state is not ValidationState.PREPARING:
            return {}
        known = run.checkpoint or {"after": 0, "done": 0, "mark": intake.mark(db, validation.round_id)}
        total = intake.count_attempts(db, validation.round_id)
        items, often = item_queries.count_items(db, validation.id), _often(db, validation, validation.round_id)
        after, done = int(known["after"]), int(known["done"])
        while True:
            run.tell(done, total)
            read, added, after = _take_some(db, validation, after, items, often)
            items, done = items + added, done + read
            if not read:
                break
            run.save({"after": after, "done": done, "mark": known["mark"]})
        _open(db, validation, int(known["mark"]))
    return {"items": items}


def preparation(db: Session, actor: Actor, ref: str) -> JobStanding | None:
    """Say how far the preparing of a validation is, to its owners and experts; None where it is over."""
    validation = find(db, ref)
    require_role(actor, RoleName.EXPERT, RoleName.OWNER, task=validation.task.name)
    return queue.newest(db, PREPARE, ref) if validation.state is ValidationState.PREPARING else None


def _often(db: Session, validation: ValidationInfo, round_id: int) -> dict[str, int]:
    """Draw among all attempts which are judged more often: what was taken in before has been drawn alike."""
    if validation.policy.often is None:
        return {}
    hashes = intake.candidate_hashes(db, round_id, unfooled=validation.policy.unfooled_share, seed=validation.seed)
    drawn = drawn_often(validation, [{"hash": one} for one in hashes], {})
    return {key: number for key, number in zip(hashes, drawn, strict=True) if number is not None}


def _take_some(
    db: Session, validation: ValidationInfo, after: int, items: int, often: Mapping[str, int]
) -> tuple[int, int, int]:
    """Take in the attempts beyond *after*; give how many were read and added, and the last of them."""
    share, seed, round_id = validation.policy.unfooled_share, validation.seed, validation.round_id or 0
    with turn(db), transaction(db):
        lock(db, f"items of {validation.id}")
        found = intake.new_attempts(
            db, validation.id, round_id, unfooled=share, seed=seed, after=after, limit=AT_A_TIME
        )
        rows = [from_attempt(attempt) for attempt in found if attempt.inputs]
        added = len(add_rows(db, validation, rows, before=items, often=often))
    last = found[-1].id if found else after
    db.expunge_all()
    return len(found), added, last


def _open(db: Session, validation: ValidationInfo, mark: int) -> None:
    with turn(db), transaction(db):
        row = db.get_one(Validation, validation.id, populate_existing=True)
        if row.state == ValidationState.PREPARING:
            row.state, row.taken_to = ValidationState.OPEN.value, mark
            tell_judges(db, validation, row.created_by)
            audit.record(db, OPERATOR, "validation.prepared", validation.ref)
            db.flush()
