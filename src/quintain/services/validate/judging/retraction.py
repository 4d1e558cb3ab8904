"""Taking an attempt back: by its writer, or by the owner who withholds it; and what becomes of its items.

It counts from that moment on, not from when somebody next looks for new attempts: judges are not shown the text.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.people import Actor
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.collect.writing.list_attempts import MAX_NOTE, unknown_flags
from quintain.services.collect.writing.submit_attempt import end_if_over, own_attempt
from quintain.services.collect.writing.verdicts import find_attempt
from quintain.services.validate.console.manage import validation_by_id
from quintain.services.validate.judging.update_slots import ask_again
from quintain.store.base import now
from quintain.store.database import transaction
from quintain.store.queries.collect import attempts as attempt_queries
from quintain.store.queries.collect import flags as flag_queries
from quintain.store.queries.collect import rounds as round_queries
from quintain.store.queries.validate import intake
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate import validation as queries
from quintain.store.tables import AttemptNote, FlagDecision


def stop_judging(db: Session, attempt_id: int) -> None:
    """Ask nobody about an attempt any more, gold copies included; for other services, in their transaction."""
    queries.touch_round(db, attempt_id)
    ids = [item.id for item in item_queries.items_of_attempt(db, attempt_id)]
    if ids:
        item_queries.retire_items(db, ids, now())
        slot_queries.drop(db, ids)
        db.expire_all()


def resume_judging(db: Session, attempt_id: int) -> None:
    """Ask for what is missing about an attempt that is withheld no more; its gold copy stays retired."""
    queries.touch_round(db, attempt_id)
    for item in item_queries.items_of_attempt(db, attempt_id):
        if item.gold is not None or item.retired_at is None or intake.is_gone(db, attempt_id):
            continue
        item.retired_at = None
        queries.touch(db, item.validation_id)
        db.flush()
        ask_again(db, validation_by_id(db, item.validation_id), [item])
    db.flush()


def retract(db: Session, actor: Actor, attempt_id: int, reason: str = "") -> None:
    """Take one of the actor's own attempts back: it is not shown, judged or exported any more, and stays paid."""
    with transaction(db):
        info, row = own_attempt(db, actor, attempt_id, locked=True)
        if find_attempt(db, attempt_id).retracted:
            return
        note = AttemptNote(attempt_id=attempt_id, user_id=row.user_id, kind="retracted", text=reason[:MAX_NOTE])
        db.add(note)
        db.flush()
        stop_judging(db, attempt_id)
        audit.record(db, actor, "attempt.retract", f"attempt:{attempt_id}")
        if row.ended_at is None:
            end_if_over(db, info, row)


def decide_flag(db: Session, actor: Actor, flag_id: int, *, withhold: bool, note: str = "") -> None:
    """Keep a flagged attempt, or withhold it from everything that leaves."""
    with transaction(db):
        flagged = attempt_queries.attempt_of_flag(db, flag_id) if 0 < flag_id < 2**31 else None
        if flagged is None:
            raise NotFound("There is no flag {flag}.", flag=flag_id)
        attempt_id, round_id = flagged
        task, _ = round_queries.place_of(db, round_id)
        require_owner(actor, task)
        decision = FlagDecision(flag_id=flag_id, withhold=withhold, user_id=actor.user_id, note=note[:MAX_NOTE])
        flag_queries.decide(db, decision, round_id)
        (stop_judging if withhold else resume_judging)(db, attempt_id)
        audit.record(db, actor, "attempt.withhold" if withhold else "attempt.keep", f"flag:{flag_id}")


def decide_flags(db: Session, actor: Actor, ref: str, decisions: Mapping[int, bool], *, note: str = "") -> None:
    """Withhold (True) or keep (False) what several flags of one round are on: all of them, or none."""
    with transaction(db):
        for flag_id in unknown_flags(db, actor, ref, decisions):
            raise NotFound("Round {ref} has no flag {flag}.", ref=ref, flag=flag_id)
        for flag_id, withhold in decisions.items():
            decide_flag(db, actor, flag_id, withhold=withhold, note=note)
