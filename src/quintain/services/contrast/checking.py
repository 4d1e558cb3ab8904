"""Checking variants: somebody else answers them anew, says whether they are minimal and sound; a third settles.

Who checks sees the original and the edit, and no answer: neither the original's nor the author's. What they answer
agrees where the task's kind would not call it a miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.contrast import VariantState
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound
from quintain.core.example import Answer, Example
from quintain.core.people import Actor, RoleName
from quintain.core.records import contrasting as records
from quintain.core.task import Task
from quintain.services.access import audit
from quintain.services.access.permissions import require_role, require_user
from quintain.services.contrast.authoring import MAX_NOTE, MOST_SECONDS, check_record, variant_record
from quintain.services.contrast.projects import ProjectInfo, find_project, require_part
from quintain.services.tasks.definitions import get_task
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.contrast import variants as queries
from quintain.store.queries.contrast.variants import WrittenVariant
from quintain.store.tables import ContrastCheck, ContrastVariant
from quintain.tasks.contract import kind_of

MINUTES = 30
DECIDES = (RoleName.EXPERT, RoleName.OWNER)


@dataclass(frozen=True, slots=True)
class Opinion:
    """What somebody says of a variant: the answer they would give, whether it is minimal, whether it is sound."""

    answer: Answer
    minimal: bool
    sound: bool
    note: str = ""


def next_check(db: Session, actor: Actor, ref: str) -> records.VariantToCheck | None:
    """Lease the next variant that *actor* may check: by somebody else, and not yet checked by them."""
    user_id = require_user(actor)
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        moment = now()
        until = moment + timedelta(minutes=MINUTES)
        drawn = queries.draw_check(db, info.id, user_id, moment, until)
        if drawn is None:
            return None
        variant, pivot = drawn
        return records.VariantToCheck(
            id=variant.id,
            project=ref,
            original=pivot.inputs,
            inputs=variant.inputs,
            tokens=variant.tokens,
            characters=variant.characters,
            lease_until=until,
            waiting=queries.count_to_check(db, info.id, user_id),
            reason=variant.reason,
        )


def check_variant(db: Session, actor: Actor, ref: str, variant_id: int, opinion: Opinion) -> str:
    """Take down what somebody says of a variant that they did not write, and give the state that it has now."""
    user_id = require_user(actor)
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        lock(db, f"contrast {ref}")
        written = _find_variant(db, info, variant_id)
        _refuse_own(db, actor, written)
        variant = written.variant
        if variant.state != VariantState.WRITTEN:
            raise Conflict("This variant needs no further check.", code="variant_settled")
        task = get_task(db, info.task)
        answer, agrees = _compared(task, variant, opinion)
        held = variant.held_since if variant.holder_id == user_id else None
        seconds = None if held is None else (now() - held).total_seconds()
        db.add(
            ContrastCheck(
                variant_id=variant.id,
                user_id=user_id,
                answer=answer,
                agrees=agrees,
                minimal=opinion.minimal,
                sound=opinion.sound,
                note=opinion.note.strip(),
                seconds=seconds if seconds is not None and 0 <= seconds <= MOST_SECONDS else None,
            )
        )
        db.flush()
        variant.state = _state(info, queries.checks_of(db, [variant.id])[variant.id]).value
        variant.holder_id = variant.lease_until = None
        db.flush()
        return variant.state


def list_contested(
    db: Session, actor: Actor, ref: str, *, offset: int = 0, limit: int = 20
) -> records.ContestedVariants:
    """List the variants on which people disagree, to somebody who neither wrote nor checked them."""
    info = find_project(db, ref)
    require_role(actor, *DECIDES, task=info.task)
    contested, total = queries.contested(db, info.id, actor.user_id, limit=limit, offset=offset)
    checks = queries.checks_of(db, [one.variant.id for one in contested])
    return records.ContestedVariants([_contested(one, checks[one.variant.id]) for one in contested], total)


def settle_variant(
    db: Session, actor: Actor, ref: str, variant_id: int, *, accept: bool, answer: Answer = None, note: str = ""
) -> str:
    """Decide on a contested variant: reject it, or accept it, with another *answer* where one is given."""
    with transaction(db):
        info = find_project(db, ref)
        require_role(actor, *DECIDES, task=info.task)
        lock(db, f"contrast {ref}")
        written = _find_variant(db, info, variant_id)
        _refuse_own(db, actor, written)
        variant = written.variant
        if variant.state != VariantState.CONTESTED:
            raise Conflict("Nobody disagrees on this variant.", code="variant_settled")
        task = get_task(db, info.task)
        settled = variant.answer
        if accept and answer is not None:
            settled = _read_answer(task, variant, answer)
        variant.settled = settled
        original, edited = Example(written.pivot.inputs, written.pivot.answer), Example(variant.inputs, settled)
        variant.keeps_label = kind_of(task).same_answer(task, original, edited)
        variant.state = (VariantState.ACCEPTED if accept else VariantState.REJECTED).value
        db.add(
            ContrastCheck(
                variant_id=variant.id,
                user_id=actor.user_id,
                answer=settled,
                agrees=settled == variant.answer,
                minimal=accept,
                sound=accept,
                note=_note(note),
                adjudicates=True,
            )
        )
        audit.record(db, actor, "contrast.settle", ref, variant=variant_id, accept=accept)
        db.flush()
        return variant.state


def _find_variant(db: Session, info: ProjectInfo, variant_id: int) -> WrittenVariant:
    written = queries.find(db, info.id, variant_id)
    if written is None or written.variant.state == VariantState.WITHDRAWN:
        raise NotFound("{ref} has no variant {variant}.", ref=info.ref, variant=variant_id)
    return written


def _refuse_own(db: Session, actor: Actor, written: WrittenVariant) -> None:
    if actor.user_id is None:
        return
    if written.variant.author_id == actor.user_id:
        raise Forbidden("Nobody decides on what they wrote themselves.")
    checks = queries.checks_of(db, [written.variant.id])[written.variant.id]
    if any(check.user_id == actor.user_id for check in checks):
        raise Conflict("You have said what you think of this variant already.")


def _compared(task: Task, variant: ContrastVariant, opinion: Opinion) -> tuple[Any, bool]:
    """Read the answer of whoever checks, and say whether it is the author's."""
    kind = kind_of(task)
    if opinion.answer is None:
        raise BadInput(faults=[Fault("is missing; say what is right", field="answer")])
    stored = _read_answer(task, variant, opinion.answer)
    _note(opinion.note)
    single = stored[0] if isinstance(stored, list) and stored and kind.answers.is_text else stored
    empty = stored == [] and variant.answer == []
    return stored, empty or not kind.fooled(task, variant.answer, single)


def _read_answer(task: Task, variant: ContrastVariant, raw: Answer) -> Answer:
    """Return an answer to a variant as it is stored; refuse one that is wrong or unclear about it."""
    kind = kind_of(task)
    _, answer, faults = kind.resolved(task, variant.inputs, raw)
    if not faults:
        answer, faults = kind.placed(task, variant.inputs, answer)
        faults += kind.check(task, variant.inputs, answer)
    if faults:
        raise BadInput(faults=faults)
    return kind.answers.stored(answer)


def _note(text: str) -> str:
    if len(text) > MAX_NOTE:
        raise BadInput(faults=[Fault("has more than {most} characters", most=MAX_NOTE, field="note")])
    return text.strip()


def _state(info: ProjectInfo, checks: Sequence[ContrastCheck]) -> VariantState:
    if not all(check.agrees and check.minimal and check.sound for check in checks):
        return VariantState.CONTESTED
    return VariantState.ACCEPTED if len(checks) >= info.spec.checks else VariantState.WRITTEN


def _contested(written: WrittenVariant, opinions: Sequence[ContrastCheck]) -> records.ContestedVariant:
    checks = tuple(map(check_record, opinions))
    return records.ContestedVariant(variant_record(written.variant), written.pivot.inputs, written.pivot.answer, checks)
