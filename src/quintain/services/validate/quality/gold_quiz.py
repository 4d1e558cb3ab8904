"""The entry quiz made from gold items. Who takes it learns their labels, so that they are gold items no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict
from quintain.core.people import Actor
from quintain.core.validation import EntryQuiz
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner
from quintain.services.validate.console.manage import find_validation, set_policy
from quintain.services.validate.labels import choices
from quintain.services.validate.policy import dump_policy
from quintain.services.validate.types import ValidationInfo
from quintain.services.work import quizzes
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.validate import gold_items as gold_queries
from quintain.store.queries.validate import items as item_queries
from quintain.store.queries.validate.gold_items import GoldFilter
from quintain.store.queries.work import qualify as quiz_queries
from quintain.store.tables import ValidationItem


def make_quiz(db: Session, actor: Actor, ref: str, *, instructions: str = "") -> str:
    """Make the entry quiz from gold items, and give its name; no validation of the task shows them any more.

    A policy that asks for no quiz asks for this one from now on.
    """
    with transaction(db):
        validation = find_validation(db, ref)
        require_owner(actor, validation.task.name)
        lock(db, f"items of {validation.id}")
        quiz = validation.policy.quiz or EntryQuiz()
        chosen = gold_queries.page(
            db, validation.id, GoldFilter("used"), order="added", down=False, offset=0, limit=quiz.questions
        )
        if len(chosen) < quiz.questions:
            raise Conflict(
                "The quiz asks {questions} gold questions, and there are {n}.",
                questions=quiz.questions,
                n=len(chosen),
                ref=ref,
                remedy="Add some with `quintain validate gold add {ref} FILE`.",
                page="Add some gold items first.",
            )
        definition = {
            "instructions": instructions,
            "right": quiz.right,
            "questions": [_question(validation, item) for item in chosen],
            "pay": validation.policy.reward.quiz,
            "currency": validation.policy.reward.currency,
        }
        quizzes.put_quiz(db, actor, validation.task.name, quiz.name, definition)
        asked = {text_of(item.inputs) for item in chosen}
        for item in item_queries.shown_gold_of_task(db, validation.task_id):
            if text_of(item.inputs) in asked:
                item.retired_at = now()
        if validation.policy.quiz is None:
            set_policy(db, actor, ref, dump_policy(replace(validation.policy, quiz=quiz)))
        audit.record(db, actor, "gold.quiz", ref, quiz=quiz.name, items=[item.id for item in chosen])
    return quiz.name


def asked_in(db: Session, task: str) -> dict[str, str]:
    """Return the texts that quizzes of a task ask about or ever asked about, each with the name of the quiz."""
    return {
        str(question["text"]): name
        for name, definition in quiz_queries.every_definition(db, task)
        for question in (*definition["questions"], *definition.get("practice", []))
    }


def text_of(inputs: Mapping[str, Any]) -> str:
    """Return an item as the text of a question."""
    return "\n".join(f"{name}: {value}" for name, value in inputs.items() if value is not None)


def _question(validation: ValidationInfo, item: ValidationItem) -> dict[str, Any]:
    labels = choices(validation.task, item.inputs)
    return {
        "text": text_of(item.inputs),
        "options": [label.gloss or label.name if label.name.isdecimal() else label.name for label in labels],
        "answer": [label.name for label in labels].index(item.gold or ""),
        "explanation": item.gold_note,
    }
