"""Gold items: known labels that are mixed in, and how judges do on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.example import Example
from quintain.core.label_form import LabelNames, clean_label
from quintain.core.people import OPERATOR, Actor
from quintain.core.rounds import Money
from quintain.core.validation import SlotState, UnqualifyRule
from quintain.data.images import path_faults
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.pay import earnings
from quintain.services.validate.console.manage import find_validation, strange_keys
from quintain.services.validate.labels import label_fault
from quintain.services.validate.quality import unqualify, validation_figures
from quintain.services.validate.quality.gold_quiz import asked_in, text_of
from quintain.services.validate.types import ValidationInfo
from quintain.stats.judge_rules import catches
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.pay import earnings as earning_queries
from quintain.store.queries.validate import intake, item_figures
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate import judgements as judgement_queries
from quintain.store.queries.validate import slots as slot_queries
from quintain.store.queries.validate import validation as queries
from quintain.store.tables import Adjudication
from quintain.tasks.contract import kind_of

FAULTS = 100
GOLD_KEYS = ("inputs", "label", "answer", "note")


@dataclass(frozen=True, slots=True)
class GoldOutcome:
    """Whether a judge is still qualified after a gold item, and what to tell them."""

    qualified: bool
    feedback: str


def add_gold(
    db: Session, actor: Actor, ref: str, rows: Sequence[Mapping[str, Any]], *, file: str | None = None, first: int = 1
) -> int:
    """Add gold items: each row has `inputs` and `label`, and may have a `note` that says why. Give how many are new.

    What a quiz of the task asks about is kept, and shown to nobody: who took the quiz knows it. Faults name *file* and
    the row, of which the first is number *first*.
    """
    with transaction(db):
        validation = find_validation(db, ref)
        require_owner(actor, validation.task.name)
        lock(db, f"items of {validation.id}")
        gold_items = _checked(validation, rows, file, first)
        known = item_queries.known_hashes(db, validation.id, list(gold_items))
        asked = asked_in(db, validation.task.name)
        moment = now()
        new = [
            {**row, "retired_at": moment if text_of(row["inputs"]) in asked else None}
            for key, row in gold_items.items()
            if key not in known
        ]
        if new:
            intake.add_items(db, new)
        audit.record(db, actor, "gold.add", ref, added=len(new), repeats=len(rows) - len(new))
    return len(new)


def _checked(
    validation: ValidationInfo, rows: Sequence[Mapping[str, Any]], file: str | None, first: int
) -> dict[str, dict[str, Any]]:
    faults: list[Fault] = []
    checked: dict[str, dict[str, Any]] = {}
    names = LabelNames(validation.task.judgement_labels)
    for number, example in enumerate(rows, first):
        row = example
        if isinstance(example.get("label"), str | int | float):
            row = {**example, "label": names.find(example["label"]) or clean_label(example["label"])}
        inputs = row.get("inputs")
        if not isinstance(inputs, Mapping):
            faults.append(Fault("has no inputs", file=file, row=number))
            continue
        misfits = kind_of(validation.task).check(validation.task, inputs, row.get("answer"))
        misfits += path_faults(validation.task, inputs)
        faults += [Fault(reason, file=file, row=number) for reason in strange_keys(row, GOLD_KEYS)]
        wrong = label_fault(validation.task, inputs, row.get("label"))
        named = (*misfits, *((wrong,) if wrong else ()))
        faults += [Fault(one.reason, file=file, row=number, field=one.field) for one in named]
        key = Example(inputs).id
        if key in checked and checked[key]["gold"] != row.get("label"):
            faults.append(Fault("the same item has another label further up", file=file, row=number, field="label"))
        checked[key] = {
            "validation_id": validation.id,
            "hash": key,
            "inputs": dict(inputs),
            "answer": row.get("answer"),
            "gold": row.get("label"),
            "gold_note": str(row.get("note") or ""),
        }
    if faults:
        raise BadInput(faults=faults[:FAULTS], total=len(faults))
    return checked


def gold_from_item(db: Session, actor: Actor, ref: str, item_id: int, *, note: str = "") -> str:
    """Make a gold item of one that is judged to the end, and give its label.

    The item stays in the data with that label for good: nobody is asked about it again, and whoever was shown it, or
    wrote it, is not shown it as a gold item.
    """
    validation = find_validation(db, ref)
    require_owner(actor, validation.task.name)
    validation_figures.validation_figures(db, validation)  # where there is little, its labels are brought up to date
    with transaction(db):
        lock(db, f"items of {validation.id}")
        item = item_queries.item_by_id(db, validation.id, item_id)
        if item is None or item.gold is not None or item.retired_at is not None:
            raise NotFound(
                "{ref} has no item {item}.",
                ref=ref,
                item=item_id,
                remedy="`quintain validate items {ref}` lists them.",
                page="The list of items names those there are.",
            )
        label = _label_of(db, item_id)
        if label is None:
            raise Conflict(
                "Item {item} has no label yet.",
                item=item_id,
                remedy="Wait for its judgements, or adjudicate it first.",
            )
        copy = item_queries.GOLD_COPY + item.hash
        if item_queries.known_hashes(db, validation.id, [copy]):
            raise Conflict("Item {item} is a gold item already.", item=item_id)
        row = {
            "validation_id": validation.id,
            "attempt_id": item.attempt_id,
            "author_id": item.author_id,
            "hash": copy,
            "inputs": item.inputs,
            "answer": item.answer,
            "gold": label,
            "gold_note": note.strip(),
        }
        (gold_id,) = intake.add_items(db, [row])
        slot_queries.drop(db, [item_id])  # an expert may have decided before all were asked
        db.add(Adjudication(item_id=item_id, user_id=actor.user_id, label=label, reason="made a gold item"))
        queries.touch(db, validation.id)
        audit.record(db, actor, "gold.from_item", ref, item=item_id, gold=gold_id, label=label)
    return label


def _label_of(db: Session, item_id: int) -> str | None:
    """Return the label of an item as it was counted last; None where it has none, or is judged again since."""
    figures = item_figures.in_order(db, [item_id])
    if not figures or figures[0].state != "labelled":
        return None
    again = any(SlotState(slot.state).is_pending for slot in slot_queries.of_items(db, [item_id]))
    return None if again and not figures[0].by_expert else figures[0].label


def retire_gold(db: Session, actor: Actor, ref: str, item_id: int) -> None:
    """Show a gold item no more; the answers to it stay."""
    _set_use(db, actor, ref, item_id, used=False)


def restore_gold(db: Session, actor: Actor, ref: str, item_id: int) -> None:
    """Show a gold item again that was retired."""
    _set_use(db, actor, ref, item_id, used=True)


def _set_use(db: Session, actor: Actor, ref: str, item_id: int, *, used: bool) -> None:
    with transaction(db):
        validation = find_validation(db, ref)
        require_owner(actor, validation.task.name)
        item = item_queries.item_by_id(db, validation.id, item_id)
        if item is None or item.gold is None:
            raise NotFound(
                "{ref} has no gold item {item}.",
                ref=ref,
                item=item_id,
                remedy="`quintain validate gold list {ref}` lists them.",
                page="The list of gold items names those there are.",
            )
        if used and intake.gone_among(db, [item_id]):
            raise Conflict(
                "Gold item {item} was retracted by its writer, or is withheld.",
                item=item_id,
                remedy="Make another one.",
            )
        quiz = asked_in(db, validation.task.name).get(text_of(item.inputs)) if used else None
        if quiz is not None:
            raise Conflict(
                "The quiz '{quiz}' asks about gold item {item}: who took it knows the label.",
                quiz=quiz,
                item=item_id,
                remedy="Make another one.",
            )
        if used:
            item.retired_at = None
        else:
            item.retired_at = item.retired_at or now()
        audit.record(db, actor, "gold.restore" if used else "gold.retire", ref, item=item_id)


def after_answers(db: Session, validation: ValidationInfo, user_id: int) -> GoldOutcome:
    """Look at a judge's gold answers: pay the bonus for doing well, end the qualification where they fall short."""
    gold = validation.policy.gold
    answers = judgement_queries.gold_answers(db, validation.id, user_id)
    _pay_bonuses(db, validation, user_id, [good for _, good in answers])
    rule = UnqualifyRule("gold", gold.below, gold.after)
    # What the owner has forgiven does not end the qualification again.
    last = judgement_queries.begun_anew_by(db, validation.id, user_id)
    since = [good for key, good in answers if key > last]
    if validation.policy.automatic and catches(rule, np.array([sum(since)]), np.array([len(since)]))[0]:
        reason = f"{sum(since)} of {len(since)} control items were right; {gold.below:.0%} is needed"
        unqualify.end_qualifications(db, OPERATOR, validation, {user_id: ("gold", reason)})
        return GoldOutcome(False, reason)
    return GoldOutcome(True, "")


def _pay_bonuses(db: Session, validation: ValidationInfo, user_id: int, answers: Sequence[bool]) -> None:
    """Pay for each run of gold answers of which enough are right; those that are paid are asked for in one go."""
    gold = validation.policy.gold
    every = gold.bonus_every
    blocks = range(len(answers) // every if gold.bonus else 0)
    earned = [block for block in blocks if sum(answers[block * every : (block + 1) * every]) >= gold.bonus_right]
    works = [f"gold:{validation.id}:{user_id}:{block}" for block in earned]
    paid = earning_queries.paid_works(db, works) if works else set()
    for work in works:
        if work not in paid:
            earnings.earn(
                db,
                user_id,
                validation.task_id,
                kind="bonus",
                work=work,
                money=Money(gold.bonus, validation.policy.reward.currency),
                what=f"Good judgement for {validation.ref}",
                round_id=validation.round_id,
            )
