"""Taking a quiz out of use: refused while an open round or validation asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import Conflict, NotFound
from quintain.core.people import OPERATOR, Actor
from quintain.core.records.work import Quiz
from quintain.core.rounds import RoundState
from quintain.core.validation import ValidationState
from quintain.services.access.permissions import require_owner
from quintain.services.collect.rounds.manage import list_rounds
from quintain.services.tasks.definitions import find_row
from quintain.services.validate.console.manage import find_validation, list_validations
from quintain.services.work.quizzes import put_quiz, quiz_definition
from quintain.store.database import lock, transaction
from quintain.store.queries.work import qualify as queries


def retire_quiz(db: Session, actor: Actor, task: str, name: str) -> Quiz:
    """Take a quiz out of use; who passed it has passed it. Refused while an open round or validation asks for it."""
    with transaction(db):
        find_row(db, task)
        require_owner(actor, task)
        lock(db, f"rounds of {task}")
        stored = queries.quiz(db, task, name)
        if stored is None:
            raise NotFound("Task '{task}' has no quiz '{name}'.", task=task, name=name)
        users = _users(db, task, name)
        if users:
            raise Conflict(
                "The quiz '{name}' is asked for by {users}.",
                name=name,
                users=", ".join(users),
                remedy="Close them, or take the quiz out of their file, first.",
            )
        return put_quiz(db, actor, task, name, {**stored[1].definition, "retired": True})


def restore_quiz(db: Session, actor: Actor, task: str, name: str) -> Quiz:
    """Take a quiz that was retired into use again (owners)."""
    with transaction(db):
        definition = quiz_definition(db, actor, task, name)
        return put_quiz(db, actor, task, name, {key: value for key, value in definition.items() if key != "retired"})


def _users(db: Session, task: str, name: str) -> list[str]:
    """Name what is open and needs the quiz."""
    rounds = [
        f"round {info.ref}"
        for info in list_rounds(db, OPERATOR, task)
        if info.state is RoundState.OPEN and name in {*info.spec.quizzes, *_named(info.spec.qualifications)}
    ]
    validations = [find_validation(db, ref) for ref in list_validations(db, task)]
    return rounds + [
        f"validation {validation.ref}"
        for validation in validations
        if validation.policy.quiz is not None
        and validation.policy.quiz.name == name
        and validation.state is not ValidationState.CLOSED
    ]


def _named(rules: Sequence[Mapping[str, Any]]) -> set[str]:
    return {str(rule["name"]) for rule in rules if rule["rule"] == "quiz"}
