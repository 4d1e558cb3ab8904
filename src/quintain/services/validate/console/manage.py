"""Validation: open the judging of a round or of a table, take items in, change the policy, pause, close.

A validation is called after its round (`sentiment/2`), or by a name of its own (`sentiment/sst-check`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, settled
from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.example import Example
from quintain.core.people import Actor
from quintain.core.records.validate import ItemsAdded
from quintain.core.spec import plain
from quintain.core.spec_changes import review
from quintain.core.spec_kinds import is_number
from quintain.core.task import normalise_label
from quintain.core.texts import Text, Word, hint
from quintain.core.toml import parse_toml
from quintain.core.validation import ValidationPolicy, ValidationState
from quintain.data.further import MOST, is_too_much
from quintain.data.images import path_faults
from quintain.services.access import audit
from quintain.services.access.notify import notify_all
from quintain.services.access.permissions import require_owner
from quintain.services.jobs import queue
from quintain.services.tasks.definitions import find_row, get_task
from quintain.services.validate.console.intake import add_rows, is_small, take_attempts
from quintain.services.validate.policy import dump_policy, parse_policy, policy_of, stored_policy
from quintain.services.validate.quality.label_methods import require_suited
from quintain.services.validate.types import ValidationInfo
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.validate import validation as queries
from quintain.store.tables import Validation, ValidationPolicyVersion
from quintain.tasks.contract import kind_of
from quintain.tasks.definition import parse_task

NAME = re.compile(r"[a-z0-9]([a-z0-9_-]{0,78}[a-z0-9])?")
PREPARE = "open validation"  # the kind of job that takes in more
LOOK_AGAIN = ""  # what was looked at for items is to be looked at once more
SOURCE_KEYS = ("rating", "review", "start", "end")
ROW_KEYS = ("inputs", "answer", "predictions", "about", *SOURCE_KEYS)
PREDICTION_KEYS = ("model", "answer", "hash", "probabilities", "fooled")

read_policy = lru_cache(maxsize=256)(stored_policy)
read_task = lru_cache(maxsize=64)(parse_task)


def find_validation(db: Session, ref: str) -> ValidationInfo:
    """Return the validation called *ref*; NotFound, with those there are, without one."""
    task, _, name = ref.rpartition("/")
    stored = queries.find(db, task, name) if task else None
    if stored is None:
        raise NotFound(
            "There is no validation '{ref}'.",
            ref=ref,
            remedy="Name it as task/round, such as sentiment/2; `quintain validate open` begins one.",
            page="The page of the task's validations lists those there are, and begins new ones.",
        )
    return _info(stored)


def validation_by_id(db: Session, validation_id: int) -> ValidationInfo:
    """Return the validation of this number."""
    return _info(queries.by_id(db, validation_id))


def _info(stored: queries.StoredValidation) -> ValidationInfo:
    return ValidationInfo(
        id=stored.id,
        task=read_task(stored.task_toml),
        task_id=stored.task_id,
        round_id=stored.round_id,
        name=stored.name,
        state=ValidationState(stored.state),
        seed=stored.seed,
        seen_to=stored.seen_to,
        revision=stored.revision,
        policy=read_policy(stored.policy),
    )


def list_validations(db: Session, task: str | None = None) -> list[str]:
    """List the validations of *task*, or of all tasks, by name."""
    return [f"{name}/{row.name}" for name, row in queries.all_of(db, task)]


def open_validation(
    db: Session,
    actor: Actor,
    ref: str,
    policy_toml: str | None = None,
    *,
    seed: int = 0,
    file: str | None = None,
    edit: EditOrigin = ANYHOW,
) -> ValidationInfo:
    """Begin the judging of round *ref* (`task/number`) or, under a name of its own, of items that are added later.

    Where there is one already it is opened again, its policy changed if one is given, and new attempts taken in. Where
    the round has many attempts, a worker takes them in, and people judge when that is done.
    """
    task_name, _, name = ref.rpartition("/")
    if not task_name:
        raise BadInput("'{ref}' names no validation.", ref=ref, remedy="Name it as task/round, such as sentiment/2.")
    policy = parse_policy(policy_toml or "", file=file)
    with transaction(db):
        task_id = find_row(db, task_name).id
        require_owner(actor, task_name)
        lock(db, f"validation {ref}")
        if queries.find(db, task_name, name) is None:
            require_suited(policy, get_task(db, task_name))
            _begin(db, actor, task_id, name, policy, seed)
            audit.record(db, actor, "validation.open", ref)
            if _is_prepared(db, actor, ref):
                return find_validation(db, ref)
            tell_judges(db, find_validation(db, ref), actor.user_id)
        elif find_validation(db, ref).state is ValidationState.PREPARING:
            queue.enqueue(db, PREPARE, ref, task=task_name, by=actor)  # also where the worker before gave up
        else:
            if policy_toml is not None:
                set_policy(db, actor, ref, policy_toml, file=file, edit=edit)
            set_state(db, actor, ref, ValidationState.OPEN)
        take_attempts(db, find_validation(db, ref))
    return find_validation(db, ref)


def _is_prepared(db: Session, actor: Actor, ref: str) -> bool:
    """Leave a round of many attempts to a worker; say whether that is so."""
    validation = find_validation(db, ref)
    if validation.round_id is None or is_small(db, validation.round_id):
        return False
    db.get_one(Validation, validation.id).state = ValidationState.PREPARING.value
    queue.enqueue(db, PREPARE, ref, task=validation.task.name, by=actor)
    db.flush()
    return True


def tell_judges(db: Session, validation: ValidationInfo, but: int | None) -> None:
    """Tell those who judge for the task that there is more to judge."""
    judges = [judge for judge in queries.judges_of_task(db, validation.task_id) if judge != but]
    page = f"/tasks/{validation.task.name}/judge/{validation.name}"
    notify_all(db, judges, "judging.opened", Text("There is more to judge: {ref}.", ref=validation.ref), page)


def _begin(db: Session, actor: Actor, task_id: int, name: str, policy: ValidationPolicy, seed: int) -> None:
    round_id = None
    if name.isdecimal() and len(name) < 8:
        round_id = queries.round_id(db, task_id, int(name))
        if round_id is None:
            raise NotFound(
                "The task has no round {name}.",
                name=name,
                remedy="`quintain round status` lists those there are.",
                page="The page of the task's rounds lists those there are.",
            )
    elif not NAME.fullmatch(name):
        raise BadInput(
            "'{name}' is not a name for a validation.",
            name=name,
            remedy="Use a round's number, or small letters, digits, - and _.",
        )
    row = Validation(task_id=task_id, round_id=round_id, name=name, seed=seed, created_by=actor.user_id)
    db.add(row)
    db.flush()
    db.add(ValidationPolicyVersion(validation_id=row.id, number=1, toml=dump_policy(policy), created_by=actor.user_id))
    db.flush()


def set_policy(
    db: Session, actor: Actor, ref: str, policy_toml: str, *, file: str | None = None, edit: EditOrigin = ANYHOW
) -> ValidationPolicy:
    """Change the policy; every state of it is kept. Slots that are there stay, so only new items get other numbers.

    *edit* says what the policy was made from.
    """
    policy = parse_policy(policy_toml, file=file)
    with transaction(db):
        lock(db, f"policy of {ref}")
        validation = find_validation(db, ref)
        require_owner(actor, validation.task.name)
        policy = settled(edit, validation.policy, policy, policy_of)
        require_suited(policy, validation.task)
        whole = plain(policy, whole=True)
        review(edit, plain(validation.policy, whole=True), whole, parse_toml(policy_toml), file)
        if policy != validation.policy:
            newest = queries.policies(db, validation.id)[0].number
            db.add(
                ValidationPolicyVersion(
                    validation_id=validation.id, number=newest + 1, toml=dump_policy(policy), created_by=actor.user_id
                )
            )
            if policy.unfooled_share != validation.policy.unfooled_share:
                db.get_one(Validation, validation.id).seen_to = LOOK_AGAIN
            audit.record(db, actor, "validation.policy", ref, version=newest + 1)
            db.flush()
    return policy


def set_state(db: Session, actor: Actor, ref: str, state: ValidationState) -> None:
    """Pause, close or open a validation. Pages that people hold can still be handed in."""
    with transaction(db):
        validation = find_validation(db, ref)
        require_owner(actor, validation.task.name)
        if validation.state is ValidationState.PREPARING:
            raise Conflict(
                "{ref} is being prepared: its attempts are taken in.",
                ref=ref,
                remedy="Wait until that is done; `quintain jobs list` shows how far it is.",
                page="Its page shows how far that is.",
            )
        if validation.state != state:
            row = db.get_one(Validation, validation.id)
            row.state, row.closed_at = state.value, now() if state is ValidationState.CLOSED else None
            audit.record(db, actor, f"validation.{state.value}", ref)
            db.flush()


def add_items(db: Session, actor: Actor, ref: str, rows: Sequence[Mapping[str, Any]]) -> ItemsAdded:
    """Add items from elsewhere: each row has `inputs`, and may have `answer` (aimed at) and `predictions`.

    A prediction is a mapping with `model` and `answer`. Where a sentence is from a review, `rating` and `review` (its
    id) say which, and `start` and `end` where in its text; `about` is what else is known of it. Rows that are there
    already are counted and left alone.
    """
    task = find_validation(db, ref).task
    require_owner(actor, task.name)
    kind = kind_of(task)
    faults: list[Fault] = []
    for number, row in enumerate(rows, 1):
        inputs = row.get("inputs")
        if isinstance(inputs, Mapping):
            misfits = kind.check(task, inputs, row.get("answer")) + path_faults(task, inputs)
        else:
            misfits = [Fault("has no inputs")]
        faults += [Fault(fault.reason, row=number, field=fault.field) for fault in (*misfits, *_shape_faults(row))]
    if faults:
        raise BadInput(faults=faults[:20], total=len(faults))
    return take_rows(db, actor, ref, rows)


def _shape_faults(row: Mapping[str, Any]) -> list[Fault]:
    """Return what an item's row has too much, and what is wrong with its predictions."""
    faults = [Fault(reason) for reason in strange_keys(row, ROW_KEYS)]
    rating = row.get("rating")
    if rating is not None and not is_number(rating):
        faults.append(Fault("{rating} is not a number", rating=repr(rating), field="rating"))
    if row.get("review") is not None and not isinstance(row["review"], str):
        faults.append(Fault("is not a text", field="review"))
    for name in ("start", "end"):
        position = row.get(name)
        if position is not None and not (is_number(position) and position >= 0 and position == int(position)):
            faults.append(Fault("{place} is no place in a text", place=repr(position), field=name))
    about = row.get("about") or {}
    if not isinstance(about, Mapping) or is_too_much(about):
        faults.append(Fault("is not a table of at most {most} letters", most=MOST, field="about"))
    predictions = row.get("predictions") or []
    if not isinstance(predictions, list | tuple):
        return [*faults, Fault("is not a list", field="predictions")]
    for prediction in predictions:
        if not isinstance(prediction, Mapping):
            faults.append(
                Fault("{given} is not a table with model and answer", given=repr(prediction), field="predictions")
            )
            continue
        faults += [Fault(reason, field="predictions") for reason in strange_keys(prediction, PREDICTION_KEYS)]
        if not isinstance(prediction.get("model"), str) or not prediction["model"].strip():
            faults.append(Fault("a prediction does not name its model", field="predictions"))
        if prediction.get("answer") is None:
            faults.append(Fault("a prediction has no answer", field="predictions"))
    return faults


def strange_keys(table: Mapping[str, Any], known: Sequence[str]) -> list[str]:
    """Name the keys that are not *known*, each with the one that may be meant.

    >>> strange_keys({"modell": "x"}, ("model", "answer"))
    ["no such key 'modell'; did you mean 'model'?"]
    """
    strange = [key for key in table if key not in known]
    return [Text("no such key '{key}'; {hint}", key=key, hint=hint(key, known)) for key in strange]


def take_rows(db: Session, actor: Actor, ref: str, rows: Sequence[Mapping[str, Any]]) -> ItemsAdded:
    """Add items that have been checked already, such as those of a data set; an `author_id` never judges their own.

    Where a sample is judged more often, it is drawn within each `part`, which judges never see. They are added some at
    a time, so that others can write meanwhile; where that was interrupted, adding them once more adds the rest.
    """
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    items = [
        {
            "hash": Example(row["inputs"]).id,
            "inputs": dict(row["inputs"]),
            "answer": row.get("answer"),
            "aim": aim_text(row.get("answer")),
            "predictions": list(row.get("predictions") or []),
            "source": _source(row),
            "author_id": row.get("author_id"),
            "attempt_id": row.get("attempt_id"),
            "part": row.get("part", ""),
        }
        for row in rows
    ]
    added = add_rows(db, validation, items)
    taken = ItemsAdded(added, len(items) - added)
    with transaction(db):
        audit.record(db, actor, "validation.items", ref, added=taken.added, repeats=taken.repeats)
    return taken


def _source(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return where an item is from, and what else is known of it."""
    return {**(row.get("about") or {}), **{name: row[name] for name in SOURCE_KEYS if row.get(name) is not None}}


def aim_text(answer: Any) -> str:
    """Return an answer as the text that labels are compared with; empty where it is no label."""
    return normalise_label(str(answer))[:80] if isinstance(answer, str | int) and not isinstance(answer, bool) else ""


def require_open(validation: ValidationInfo) -> None:
    """Refuse new pages of a validation that is paused or closed."""
    if validation.state is not ValidationState.OPEN:
        raise Conflict(
            "The judging of {ref} is {state}.",
            ref=validation.ref,
            state=Word(validation.state),
            remedy="Come back later.",
            code="judging_not_open",
        )
