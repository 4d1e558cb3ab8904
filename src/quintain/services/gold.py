"""Gold items: known labels that are mixed in, how judges do on them, and the entry quiz made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, NotFound
from quintain.core.example import Example
from quintain.core.people import OPERATOR, Actor
from quintain.core.rounds import Money
from quintain.core.validation import EntryQuiz, UnqualifyRule
from quintain.services import audit, pay, quizzes, unqualify
from quintain.services.judging_labels import choices, label_fault
from quintain.services.permissions import require_owner
from quintain.services.validate import Ground, find
from quintain.stats.judge_rules import catches
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries import judgements as judgement_queries
from quintain.store.queries import validation as queries
from quintain.store.tables import ValidationItem
from quintain.tasks.contract import kind_of


@dataclass(frozen=True, slots=True)
class GoldItem:
    """A gold item: its label, how often it was shown and answered rightly, and whether it is still in use."""

    id: int
    inputs: dict[str, Any]
    label: str
    note: str
    shown: int
    answered: int
    right: int
    retired: bool

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {
            "id": self.id,
            "inputs": self.inputs,
            "label": self.label,
            "note": self.note,
            "shown": self.shown,
            "answered": self.answered,
            "right": self.right,
            "retired": self.retired,
        }


@dataclass(frozen=True, slots=True)
class GoldOutcome:
    """Whether a judge is still qualified after a gold item, and what to tell them."""

    qualified: bool
    feedback: str


def add_gold(db: Session, actor: Actor, ref: str, rows: Sequence[Mapping[str, Any]]) -> int:
    """Add gold items: each row has `inputs` and `label`, and may have a `note` that says why. Give how many are new."""
    with transaction(db):
        ground = find(db, ref)
        require_owner(actor, ground.task.name)
        lock(db, f"items of {ground.id}")
        made = _checked(ground, rows)
        known = queries.known_hashes(db, ground.id, list(made))
        new = [row for key, row in made.items() if key not in known]
        if new:
            queries.add_items(db, new)
        audit.record(db, actor, "gold.add", ref, added=len(new), repeats=len(rows) - len(new))
    return len(new)


def _checked(ground: Ground, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    faults: list[Fault] = []
    made: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(rows, 1):
        inputs = row.get("inputs")
        if not isinstance(inputs, Mapping):
            faults.append(Fault("has no inputs", row=number))
            continue
        found = kind_of(ground.task).check(ground.task, inputs, row.get("answer"))
        wrong = label_fault(ground.task, inputs, row.get("label"))
        faults += [Fault(one.reason, row=number, field=one.field) for one in (*found, *((wrong,) if wrong else ()))]
        key = Example(inputs).id
        made[key] = {
            "validation_id": ground.id,
            "hash": key,
            "inputs": dict(inputs),
            "answer": row.get("answer"),
            "gold": row.get("label"),
            "gold_note": str(row.get("note") or ""),
        }
    if faults:
        raise BadInput(faults=faults[:20], total=len(faults))
    return made


def list_gold(db: Session, actor: Actor, ref: str) -> list[GoldItem]:
    """List the gold items with how judges do on them: one that most get wrong may itself be wrong."""
    ground = find(db, ref)
    require_owner(actor, ground.task.name)
    found = queries.gold_items(db, ground.id)
    answers = judgement_queries.gold_counts(db, ground.id)
    return [
        GoldItem(
            item.id,
            dict(item.inputs),
            item.gold or "",
            item.gold_note,
            shown,
            *answers.get(item.id, (0, 0)),
            retired=item.retired_at is not None,
        )
        for item, shown in found
    ]


def retire_gold(db: Session, actor: Actor, ref: str, item_id: int) -> None:
    """Show a gold item no more; the answers to it stay."""
    with transaction(db):
        ground = find(db, ref)
        require_owner(actor, ground.task.name)
        item = queries.item_by_id(db, ground.id, item_id)
        if item is None or item.gold is None:
            raise NotFound(f"{ref} has no gold item {item_id}.", remedy=f"`quintain validate gold {ref}` lists them.")
        item.retired_at = item.retired_at or now()
        audit.record(db, actor, "gold.retire", ref, item=item_id)


def after_answers(db: Session, ground: Ground, user_id: int) -> GoldOutcome:
    """Look at a judge's gold answers: pay the bonus for doing well, end the qualification where they fall short."""
    gold = ground.policy.gold
    answers = judgement_queries.gold_answers(db, ground.id, user_id)
    blocks = len(answers) // gold.bonus_every
    for block in range(blocks):
        right = sum(answers[block * gold.bonus_every : (block + 1) * gold.bonus_every])
        if right >= gold.bonus_right:
            pay.earn(
                db,
                user_id,
                ground.task_id,
                kind="bonus",
                work=f"gold:{ground.id}:{user_id}:{block}",
                money=Money(gold.bonus, ground.policy.reward.currency),
                what=f"Good judgement for {ground.ref}",
                round_id=ground.round_id,
            )
    rule = UnqualifyRule("gold", gold.below, gold.after)
    hits, total = np.array([sum(answers)]), np.array([len(answers)])
    if ground.policy.automatic and catches(rule, hits, total)[0]:
        reason = f"{sum(answers)} of {len(answers)} control items were right; {gold.below:.0%} is needed"
        unqualify.end(db, OPERATOR, ground, {user_id: ("gold", reason)})
        return GoldOutcome(False, reason)
    return GoldOutcome(True, "")


def make_quiz(db: Session, actor: Actor, ref: str, *, instructions: str = "") -> str:
    """Make the entry quiz of the policy from gold items, and give its name; they are not shown on pages any more."""
    with transaction(db):
        ground = find(db, ref)
        require_owner(actor, ground.task.name)
        quiz = ground.policy.quiz or EntryQuiz()
        items = [item for item, _ in queries.gold_items(db, ground.id) if item.retired_at is None]
        if len(items) < quiz.questions:
            raise Conflict(
                f"The quiz asks {quiz.questions} gold questions, and there are {len(items)}.",
                remedy=f"Add some with `quintain validate gold {ref} --add FILE`.",
            )
        chosen = items[: quiz.questions]
        definition = {
            "instructions": instructions,
            "right": quiz.right,
            "questions": [_question(ground, item) for item in chosen],
        }
        quizzes.put_quiz(db, actor, ground.task.name, quiz.name, definition)
        for item in chosen:
            item.retired_at = now()
        audit.record(db, actor, "gold.quiz", ref, quiz=quiz.name, items=[item.id for item in chosen])
    return quiz.name


def _question(ground: Ground, item: ValidationItem) -> dict[str, Any]:
    labels = choices(ground.task, item.inputs)
    text = "\n".join(f"{name}: {value}" for name, value in item.inputs.items() if value is not None)
    return {
        "text": text,
        "options": [label.gloss or label.name if label.name.isdecimal() else label.name for label in labels],
        "answer": [label.name for label in labels].index(item.gold or ""),
        "explanation": item.gold_note,
    }
