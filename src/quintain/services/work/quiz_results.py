"""Quizzes for their owners: how people did, which question is missed, and taking one out of use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.people import Actor, RoleName
from quintain.services.access.permissions import require_owner
from quintain.services.tasks.definitions import find_row
from quintain.store.queries.work import qualify as queries


@dataclass(frozen=True, slots=True)
class QuizLine:
    """A quiz in a list; *passed* says whether whoever asks has passed it."""

    name: str
    version: int
    questions: int
    practice: int
    retired: bool
    passed: bool


@dataclass(frozen=True, slots=True)
class PersonResult:
    """How one person did: tries, the most that were right, and whether the quiz was ever passed."""

    name: str
    tries: int
    best: int
    total: int
    passed: bool
    last_at: datetime


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """How often each option of a question was chosen in the newest version, and the share of right answers."""

    text: str
    options: tuple[str, ...]
    answer: int
    chosen: tuple[int, ...]
    rate: float | None


@dataclass(frozen=True, slots=True)
class QuizResults:
    """How a quiz goes: *people* tried it *tries* times, and *passed* of them have passed."""

    task: str
    name: str
    version: int
    people: int
    passed: int
    tries: int
    by_person: tuple[PersonResult, ...]
    by_question: tuple[QuestionResult, ...]

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return asdict(self)


def quiz_list(db: Session, actor: Actor, task: str) -> list[QuizLine]:
    """List a task's quizzes; retired ones to its owners only."""
    find_row(db, task)
    owner = actor.has(RoleName.OWNER, task)
    return [
        QuizLine(
            name=quiz.name,
            version=version.number,
            questions=len(version.definition["questions"]),
            practice=len(version.definition.get("practice", [])),
            retired=bool(version.definition.get("retired")),
            passed=actor.user_id is not None and queries.passed(db, quiz.id, actor.user_id),
        )
        for quiz, version in queries.quizzes(db, task)
        if owner or not version.definition.get("retired")
    ]


def quiz_results(db: Session, actor: Actor, task: str, name: str) -> QuizResults:
    """Say how people did at a quiz, for the task's owners."""
    find_row(db, task)
    require_owner(actor, task)
    found = queries.quiz(db, task, name)
    if found is None:
        raise NotFound("Task '{task}' has no quiz '{name}'.", task=task, name=name)
    quiz, version = found
    people = [
        PersonResult(one.name, one.tries, one.best, one.total, one.passed, one.last_at)
        for one in queries.tries_by_person(db, quiz.id)
    ]
    return QuizResults(
        task=task,
        name=name,
        version=version.number,
        people=len(people),
        passed=sum(one.passed for one in people),
        tries=sum(one.tries for one in people),
        by_person=tuple(people),
        by_question=_by_question(version.definition["questions"], queries.answers_to(db, version.id)),
    )


def _by_question(
    questions: Sequence[Mapping[str, Any]], tries: Sequence[Mapping[str, int]]
) -> tuple[QuestionResult, ...]:
    found = []
    for number, question in enumerate(questions):
        chosen = Counter(one.get(str(number)) for one in tries)
        counts = tuple(chosen[place] for place in range(len(question["options"])))
        rate = chosen[question["answer"]] / len(tries) if tries else None
        found.append(QuestionResult(question["text"], tuple(question["options"]), question["answer"], counts, rate))
    return tuple(found)
