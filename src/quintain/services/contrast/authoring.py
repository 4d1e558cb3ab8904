"""Writing variants: take an example, edit copies of it, give each its new answer; then go on to the next.

An example is leased: nobody else gets it meanwhile, and what is sent after the lease went to somebody else is refused.
No model is asked and none is shown: an edit made against a model's answers would probe that model, and not the task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.contrast import PivotState, VariantState
from quintain.core.errors import BadInput, Conflict, Fault, Forbidden, NotFound
from quintain.core.example import Answer, Example
from quintain.core.people import Actor
from quintain.core.records import contrasting as records
from quintain.core.task import Task
from quintain.core.text_form import form_id, spelling_ids
from quintain.core.texts import Text
from quintain.data.images import path_faults
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.contrast.measuring import exceeds, measure
from quintain.services.contrast.projects import ProjectInfo, find_project, require_open, require_part
from quintain.services.tasks.definitions import get_task
from quintain.stats.diff import EditSize
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.contrast import projects as queries
from quintain.store.queries.contrast import variants
from quintain.store.tables import ContrastCheck, ContrastPivot, ContrastVariant
from quintain.tasks.contract import kind_of

MOST_SECONDS = 6 * 3600.0  # nobody edits for longer: they went away
MAX_NOTE = 5_000


@dataclass(frozen=True, slots=True)
class Edit:
    """A variant as its author gives it: *inputs* over those of the pivot, the new *answer*, and what is said of it.

    A word of the inputs or the answer is named by its number, by itself where it stands once, or by both (`3:with`);
    one that *inputs* leave out moves along with the edit. *keeps_label* says that the answer is meant to stay; then it
    need not be given. None: as it turns out. *reason* is needed where the edit is larger than the limit.
    *draft* names the rule whose draft it began as; *confirmed* says that label and grammar were looked at.
    """

    inputs: Mapping[str, Any]
    answer: Answer = None
    tags: Sequence[str] = ()
    rationale: str = ""
    reason: str = ""
    keeps_label: bool | None = False
    draft: str = ""
    confirmed: bool = False


def take_pivot(db: Session, actor: Actor, ref: str) -> records.ContrastPivot:
    """Return the example that somebody has in hand, or lease the next one; NotFound where none is left."""
    user_id = require_user(actor)
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        require_open(info)
        lock(db, f"contrast {ref} of {user_id}")  # asked for twice at once, it is one
        moment = now()
        until = moment + timedelta(minutes=info.spec.minutes)
        pivot = queries.held(db, info.id, user_id, moment) or queries.draw(db, info.id, user_id, moment, until)
        if pivot is None:
            raise NotFound(
                "{ref} has no example left that nobody has.",
                ref=ref,
                remedy="Come back later: one that somebody gives back is offered again.",
                code="no_pivots",
            )
        return _record(db, info, pivot)


def pivot_in_hand(db: Session, actor: Actor, ref: str) -> records.ContrastPivot | None:
    """Return the example that somebody has in hand, or None; nothing is leased by looking."""
    user_id = require_user(actor)
    info = find_project(db, ref)
    require_part(actor, info)
    require_open(info)
    pivot = queries.held(db, info.id, user_id, now())
    return _record(db, info, pivot) if pivot is not None else None


def get_pivot(db: Session, actor: Actor, ref: str, pivot_id: int) -> records.ContrastPivot:
    """Return an example that somebody has in hand; refused to others."""
    info = find_project(db, ref)
    require_part(actor, info)
    return _record(db, info, _own(db, actor, info, pivot_id))


def add_variant(
    db: Session, actor: Actor, ref: str, pivot_id: int, edit: Edit, *, generation: int | None = None
) -> records.ContrastVariant:
    """Keep an edited copy of an example with its new answer, or say everything that is wrong with it."""
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        require_open(info)
        lock(db, f"contrast {ref}")
        pivot = _own(db, actor, info, pivot_id, generation)
        task = get_task(db, info.task)
        written = len(variants.of_pivots(db, [pivot.id])[pivot.id])
        if written >= info.spec.variants:
            raise Conflict("There are {n} variants of this example already, the most there may be.", n=written)
        row = made_variant(db, info, task, pivot, edit)
        moment = now()
        row.author_id = actor.user_id
        row.seconds = _spent(pivot, moment)
        pivot.held_since = moment
        pivot.lease_until = moment + timedelta(minutes=info.spec.minutes)
        db.add(row)
        db.flush()
        return variant_record(row)


def made_variant(db: Session, info: ProjectInfo, task: Task, pivot: ContrastPivot, edit: Edit) -> ContrastVariant:
    """Make the row of a variant that has been checked; raises BadInput with everything that is wrong with it."""
    kind = kind_of(task)
    inputs = {**pivot.inputs, **edit.inputs}
    inputs = {name: value for name, value in inputs.items() if value not in (None, "", [])}
    fills_in = bool(edit.keeps_label) and edit.answer is None
    meant = kind.followed(task, pivot.inputs, inputs, pivot.answer) if fills_in else edit.answer
    inputs, answer, faults = kind.resolved(task, inputs, meant, pivot.inputs)
    if not any(fault.field == "answer" for fault in faults) and (answer is None or kind.answers.fits(answer)):
        answer, unclear = kind.placed(task, inputs, answer)
        faults += unclear
    faults += kind.check(task, inputs, answer) + path_faults(task, inputs, pivot.inputs)
    fixed = [item.name for item in kind.fields(task) if item.fixed]
    faults += [
        Fault("is fixed for this kind of task and stays as it is", field=name)
        for name in fixed
        if inputs.get(name) != pivot.inputs.get(name)
    ]
    if meant is None:
        faults.append(
            Fault("is not what it was any more; say what is right now", field="answer")
            if edit.keeps_label
            else Fault("is missing; give the answer that is right now", field="answer")
        )
    size = measure(task, pivot.inputs, inputs)
    answered = answer is not None and not any(fault.field == "answer" for fault in faults)
    same = answered and kind.same_answer(task, Example(pivot.inputs, pivot.answer), Example(inputs, answer))
    if answered:
        faults += _label_faults(edit.keeps_label, same=same)
    faults += _edit_faults(info, edit, size)
    content = Example(inputs).id
    if not faults and form_id(inputs) == form_id(pivot.inputs):
        faults.append(Fault("nothing was changed", field="inputs"))
    elif not faults and variants.is_there(db, info.id, spelling_ids(inputs)):
        faults.append(Fault("the same text is in this project already", field="inputs"))
    if faults:
        raise BadInput(faults=faults)
    return ContrastVariant(
        project_id=info.id,
        pivot_id=pivot.id,
        hash=content,
        inputs=inputs,
        answer=kind.answers.stored(answer),
        tags=list(dict.fromkeys(edit.tags)),
        rationale=edit.rationale.strip(),
        reason=edit.reason.strip(),
        keeps_label=same,
        draft=edit.draft,
        tokens=size.tokens,
        characters=size.characters,
        state=(VariantState.WRITTEN if info.spec.checks else VariantState.ACCEPTED).value,
    )


def withdraw_variant(db: Session, actor: Actor, ref: str, variant_id: int) -> None:
    """Take a variant back: its author while nobody has decided on it, an owner at any time."""
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        written = variants.find(db, info.id, variant_id)
        if written is None or written.variant.state == VariantState.WITHDRAWN:
            raise NotFound("{ref} has no variant {variant}.", ref=ref, variant=variant_id)
        if actor.user_id is None or written.variant.author_id != actor.user_id:
            require_owner(actor, info.task)
        written.variant.state = VariantState.WITHDRAWN.value
        audit.record(db, actor, "contrast.withdraw", ref, variant=variant_id)
        db.flush()


def finish_pivot(db: Session, actor: Actor, ref: str, pivot_id: int, *, skip: bool = False) -> None:
    """Be done with an example: it has a variant, or it is skipped because no small edit works."""
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        pivot = _own(db, actor, info, pivot_id)
        written = variants.of_pivots(db, [pivot.id])[pivot.id]
        if not written and not skip:
            raise Conflict("There is no variant of this example yet.", remedy="Write one, or skip the example.")
        pivot.state = (PivotState.DONE if written else PivotState.SKIPPED).value
        pivot.lease_until = None
        db.flush()


def release_pivot(db: Session, actor: Actor, ref: str, pivot_id: int) -> None:
    """Return an example that one has in hand, for somebody else to take."""
    with transaction(db):
        info = find_project(db, ref)
        require_part(actor, info)
        pivot = _own(db, actor, info, pivot_id)
        pivot.lease_until = pivot.holder_id = None
        db.flush()


def variant_record(
    row: ContrastVariant, author: str | None = None, actor: Actor | None = None
) -> records.ContrastVariant:
    """Return a variant as programs see it, and whether it is *actor*'s own."""
    return records.ContrastVariant(
        id=row.id,
        pivot=row.pivot_id,
        inputs=row.inputs,
        answer=row.answer if row.settled is None else row.settled,
        tags=tuple(row.tags),
        rationale=row.rationale,
        reason=row.reason,
        keeps_label=row.keeps_label,
        draft=row.draft,
        tokens=row.tokens,
        characters=row.characters,
        seconds=row.seconds,
        state=row.state,
        created_at=row.created_at,
        author=author,
        mine=actor is not None and actor.user_id is not None and row.author_id == actor.user_id,
    )


def check_record(check: ContrastCheck) -> records.VariantCheck:
    """Return what somebody said of a variant as programs see it."""
    return records.VariantCheck(
        check.answer, check.agrees, check.minimal, check.sound, check.note, adjudicates=check.adjudicates
    )


def _label_faults(stays: bool | None, *, same: bool) -> list[Fault]:
    """Return where the answer is not what was said of it: the *same* as that of the original, or another one."""
    if same and stays is False:
        return [Fault("is that of the original; change it, or say that it is meant to stay", field="answer")]
    if not same and stays:
        return [Fault("is not that of the original, and you say that it stays", field="answer")]
    return []


def _edit_faults(info: ProjectInfo, edit: Edit, size: EditSize) -> list[Fault]:
    """Return what is wrong with what was said of an edit."""
    faults = []
    if exceeds(size, info.spec.limit) and not edit.reason.strip():
        measured = size.tokens if info.spec.limit.measure == "tokens" else size.characters
        reason = Text(
            "the edit has a size of {made}, and {most} still counts as minimal; say why it has to be larger",
            made=measured,
            most=info.spec.limit.most,
        )
        faults.append(Fault(reason, field="reason"))
    if info.spec.phenomena and not edit.tags:
        faults.append(Fault("is empty; say what the edit is about", field="tags"))
    for tag in edit.tags:
        if tag not in info.spec.phenomena:
            known = ", ".join(info.spec.phenomena)
            faults.append(Fault("'{tag}' is not one of {known}", tag=tag, known=known, field="tags"))
    if edit.draft and not edit.confirmed:
        faults.append(Fault("it began as an automatic draft; say that you checked label and grammar", field="draft"))
    faults += [
        Fault("has more than {most} characters", most=MAX_NOTE, field=name)
        for name, text in (("rationale", edit.rationale), ("reason", edit.reason))
        if len(text) > MAX_NOTE
    ]
    return faults


def _own(db: Session, actor: Actor, info: ProjectInfo, pivot_id: int, generation: int | None = None) -> ContrastPivot:
    """Return a pivot that somebody has in hand; anybody else's is refused."""
    user_id = require_user(actor)
    pivot = queries.pivot(db, info.id, pivot_id)
    if pivot is None:
        raise NotFound("{ref} has no example {pivot}.", ref=info.ref, pivot=pivot_id)
    mine = pivot.holder_id == user_id and (generation is None or generation == pivot.generation)
    if not mine:
        raise Forbidden(
            "This example is not in your hands: it was given back, or went to somebody else.",
            remedy="Take the next one.",
            code="pivot_not_held",
        )
    if pivot.state != PivotState.FREE or pivot.lease_until is None or pivot.lease_until <= now():
        raise Conflict(
            "Your time with this example is over, or it is done.", remedy="Take the next one.", code="pivot_lapsed"
        )
    return pivot


def _record(db: Session, info: ProjectInfo, pivot: ContrastPivot) -> records.ContrastPivot:
    task = get_task(db, info.task)
    written = variants.of_pivots(db, [pivot.id])[pivot.id]
    return records.ContrastPivot(
        id=pivot.id,
        project=info.ref,
        inputs=pivot.inputs,
        answer=pivot.answer,
        tags=tuple(pivot.tags),
        generation=pivot.generation,
        lease_until=pivot.lease_until or now(),
        fixed=tuple(item.name for item in kind_of(task).fields(task) if item.fixed),
        left=max(0, info.spec.variants - len(written)),
        variants=tuple(variant_record(row) for row, _ in written),
    )


def _spent(pivot: ContrastPivot, moment: Any) -> float | None:
    """Return the seconds since the last edit was begun; None where somebody must have gone away."""
    if pivot.held_since is None:
        return None
    seconds = float((moment - pivot.held_since).total_seconds())
    return seconds if 0 <= seconds <= MOST_SECONDS else None
