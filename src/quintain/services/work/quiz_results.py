"""Quizzes for their owners: how people did, which question is missed, and taking one out of use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import NotFound
from quintain.core.people import Actor, RoleName
from quintain.core.records.work import PersonResult, QuestionResult, QuizLine, QuizResults
from quintain.services.access.permissions import require_owner
from quintain.services.tasks.definitions import find_row
from quintain.store.queries.work import qualify as queries

MOST_TRIES = 1_000  # the last, by which questions are judged


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


def quiz_results(
    db: Session, actor: Actor, task: str, name: str, *, limit: int | None = None, offset: int = 0
) -> QuizResults:
    """Return how people did at a quiz, for the task's owners: all of them, or *limit* from the last who tried."""
    find_row(db, task)
    require_owner(actor, task)
    quiz_and_version = queries.quiz(db, task, name)
    if quiz_and_version is None:
        raise NotFound("Task '{task}' has no quiz '{name}'.", task=task, name=name)
    quiz, version = quiz_and_version
    people = [
        PersonResult(one.name, one.tries, one.best, one.total, one.passed, one.last_at)
        for one in queries.tries_by_person(db, quiz.id, limit=limit, offset=offset)
    ]
    sums = queries.quiz_sums(db, quiz.id)
    tries = queries.answers_to(db, quiz.id, version.id, MOST_TRIES)
    return QuizResults(
        task=task,
        name=name,
        version=version.number,
        people=sums.people,
        passed=sums.passed,
        tries=sums.tries,
        by_person=tuple(people),
        by_question=_by_question(version.definition["questions"], tries),
        offset=offset,
    )


def _by_question(
    questions: Sequence[Mapping[str, Any]], tries: Sequence[Mapping[str, int]]
) -> tuple[QuestionResult, ...]:
    results = []
    for number, question in enumerate(questions):
        chosen = Counter(one.get(str(number)) for one in tries)
        counts = tuple(chosen[place] for place in range(len(question["options"])))
        rate = chosen[question["answer"]] / len(tries) if tries else None
        results.append(
            QuestionResult(question["text"], tuple(question["options"]), question["answer"], counts, rate, len(tries))
        )
    return tuple(results)
