"""Quizzes: instructions, practice with feedback, and questions that show whether they were understood.

A quiz is data:

    instructions = "…"            # Markdown
    tries = 5                     # then a rest
    rest_hours = 24
    right = 3                     # how many must be right; all of them by default
    retired = true                # nobody can take it any more; whoever passed it has passed it
    [[questions]]                 # also [[practice]], where every answer is explained
    text = "…"
    options = ["…", "…"]
    answer = 1                    # counted from 0
    explanation = "…"
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Fault, NotFound, TooMany
from quintain.core.people import Actor, RoleName
from quintain.core.records import work as records
from quintain.core.records.work import Feedback, Question
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.work import qualify as queries
from quintain.store.tables import Quiz, QuizTry, QuizVersion
from quintain.tasks.definition import NAME

KEYS = ("instructions", "tries", "rest_hours", "right", "retired", "questions", "practice")
QUESTION_KEYS = ("text", "options", "answer", "explanation")


def put_quiz(db: Session, actor: Actor, task: str, name: str, definition: Mapping[str, Any]) -> records.Quiz:
    """Add a quiz to a task, or change it; whoever passed it before has passed it."""
    faults = quiz_faults(definition)
    if not NAME.fullmatch(name):
        faults.append(Fault(f"'{name}' is not a name: use up to 80 small letters, digits, - and _", field="name"))
    if faults:
        raise BadInput(faults=faults)
    with transaction(db):
        task_id = find_row(db, task).id
        require_owner(actor, task)
        lock(db, f"quiz {task}/{name}")
        found = queries.quiz(db, task, name)
        if found is None:
            quiz = Quiz(task_id=task_id, name=name)
            db.add(quiz)
            db.flush()
            number = 1
        else:
            quiz, number = found[0], found[1].number + 1
        if found is None or found[1].definition != dict(definition):
            db.add(QuizVersion(quiz_id=quiz.id, number=number, definition=dict(definition), created_by=actor.user_id))
            audit.record(db, actor, "quiz.put", f"{task}/{name}", version=number)
        db.flush()
    return get_quiz(db, actor, task, name)


def get_quiz(db: Session, actor: Actor, task: str, name: str) -> records.Quiz:
    """Give a quiz to somebody who is to take it and has signed in; right answers only to the task's owners.

    Retired quizzes are theirs alone, too.
    """
    owner = actor.has(RoleName.OWNER, task)
    if not owner:
        require_user(actor)
    quiz, version = _find(db, task, name) if owner else _find_open(db, task, name)
    data = version.definition
    passed = actor.user_id is not None and queries.passed(db, quiz.id, actor.user_id)
    left, rest = _left(db, quiz.id, actor.user_id, data)
    return records.Quiz(
        task=task,
        name=name,
        version=version.number,
        instructions=data.get("instructions", ""),
        questions=_questions(data["questions"], owner),
        practice=_questions(data.get("practice", []), owner),
        right=data.get("right", len(data["questions"])),
        tries=data.get("tries", 5),
        passed=passed,
        tries_left=left,
        rest_until=rest,
        retired=bool(data.get("retired")),
    )


def list_quizzes(db: Session, task: str) -> list[str]:
    """List the names of a task's quizzes that can be taken."""
    find_row(db, task)
    return sorted(queries.quiz_names(db, task))


def quiz_definition(db: Session, actor: Actor, task: str, name: str) -> dict[str, Any]:
    """Give the newest definition of a quiz to the task's owners, who may change it."""
    require_owner(actor, task)
    return dict(_find(db, task, name)[1].definition)


def take_quiz(db: Session, actor: Actor, task: str, name: str, answers: Sequence[int | None]) -> records.QuizTry:
    """Take a quiz: one answer to each question. After too many failures in a row there is a rest."""
    user_id = require_user(actor)
    with transaction(db):
        lock(db, f"quiz of user {user_id}")
        quiz, version = _find_open(db, task, name)
        data = version.definition
        questions = data["questions"]
        if len(answers) != len(questions) or any(one is None for one in answers):
            raise BadInput(faults=[Fault(f"there are {len(questions)} questions; answer each", field="answers")])
        left, rest = _left(db, quiz.id, user_id, data)
        if rest is not None:
            wait = int((rest - now()).total_seconds()) + 1
            raise TooMany(
                f"That was {data.get('tries', 5)} times.",
                retry_after=wait,
                remedy=f"Have a rest until {rest:%d %B, %H:%M} UTC, read the instructions again, then try once more.",
            )
        right = sum(given == question["answer"] for given, question in zip(answers, questions, strict=True))
        passed = right >= data.get("right", len(questions))
        db.add(
            QuizTry(
                quiz_id=quiz.id,
                version_id=version.id,
                user_id=user_id,
                answers={str(number): answer for number, answer in enumerate(answers)},
                right=right,
                total=len(questions),
                passed=passed,
            )
        )
        db.flush()
        left, rest = _left(db, quiz.id, user_id, data)
    explanations = tuple(str(question.get("explanation", "")) for question in questions) if passed else ()
    return records.QuizTry(passed, right, len(questions), left, rest, explanations)


def practise(db: Session, actor: Actor, task: str, name: str, question: int, answer: int) -> Feedback:
    """Say whether an answer in practice is right, and why. Nothing is kept."""
    require_user(actor)
    practice = _find_open(db, task, name)[1].definition.get("practice", [])
    if not 0 <= question < len(practice):
        raise NotFound(f"The quiz '{name}' has no practice question {question}.")
    found = practice[question]
    return Feedback(answer == found["answer"], found["answer"], found.get("explanation", ""))


def quiz_faults(data: Mapping[str, Any]) -> list[Fault]:
    """Find everything that is wrong with a quiz."""
    faults = [Fault(f"no such key; there are {', '.join(KEYS)}", field=str(key)) for key in data if key not in KEYS]
    for key, low, high in (("tries", 1, 100), ("rest_hours", 0, 1000)):
        if key in data and not _whole(data[key], low, high):
            faults.append(Fault(f"is {data[key]!r}, not a whole number from {low} to {high}", field=key))
    if not isinstance(data.get("retired", False), bool):
        faults.append(Fault(f"is {data['retired']!r}, not true or false", field="retired"))
    if not _text(data.get("instructions", "")):
        faults.append(Fault("is not a text", field="instructions"))
    questions = data.get("questions")
    if not isinstance(questions, list) or not questions:
        reason = "is missing; write [[questions]] and text, options and answer below it"
        return [*faults, Fault(reason, field="questions")]
    if "right" in data and not _whole(data["right"], 1, len(questions)):
        faults.append(Fault(f"is {data['right']!r}, not a whole number from 1 to {len(questions)}", field="right"))
    practice = data.get("practice", [])
    if not isinstance(practice, list):
        return [*faults, Fault("is not a list of questions", field="practice")]
    for key, entries in (("questions", questions), ("practice", practice)):
        faults += [
            Fault(f"entry {number}: {reason}", field=key)
            for number, entry in enumerate(entries, 1)
            for reason in _question_faults(entry)
        ]
    return faults


def _question_faults(entry: Any) -> list[str]:
    if not isinstance(entry, Mapping):
        return ["is not a table with text, options and answer"]
    known = ", ".join(QUESTION_KEYS)
    reasons = [f"no such key '{key}'; there are {known}" for key in entry if key not in QUESTION_KEYS]
    options = entry.get("options")
    if not _text(entry.get("text")) or not entry["text"].strip():
        reasons.append("the text is missing")
    if not _text(entry.get("explanation", "")):
        reasons.append("the explanation is not a text")
    if not isinstance(options, list) or len(options) < 2 or not all(_text(one) and one for one in options):
        return [*reasons, "the options are not a list of at least two texts"]
    if not _whole(entry.get("answer"), 0, len(options) - 1):
        reasons.append(f"the answer is {entry.get('answer')!r}, not an option's number from 0 to {len(options) - 1}")
    return reasons


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _text(value: Any) -> bool:
    # A NUL or half a surrogate pair is no text, and PostgreSQL stores neither.
    return isinstance(value, str) and not re.search(r"[\x00\ud800-\udfff]", value)


def _find_open(db: Session, task: str, name: str) -> tuple[Quiz, QuizVersion]:
    found = _find(db, task, name)
    if found[1].definition.get("retired"):
        raise Conflict(f"The quiz '{name}' has been retired.", remedy="Ask the task's owner what to take instead.")
    return found


def _find(db: Session, task: str, name: str) -> tuple[Quiz, QuizVersion]:
    find_row(db, task)
    found = queries.quiz(db, task, name)
    if found is None:
        raise NotFound(f"Task '{task}' has no quiz '{name}'.")
    return found


def _left(db: Session, quiz_id: int, user_id: int | None, data: Mapping[str, Any]) -> tuple[int, datetime | None]:
    """Count the tries that are left before a rest, and say until when the rest is, if there is one."""
    tries, rest = data.get("tries", 5), timedelta(hours=data.get("rest_hours", 24))
    if user_id is None:
        return tries, None
    failed = queries.failed_since(db, quiz_id, user_id, now() - rest)
    left = max(0, tries - len(failed))
    return left, None if left else failed[-tries] + rest


def _questions(entries: Sequence[Mapping[str, Any]], owner: bool) -> tuple[Question, ...]:
    return tuple(
        Question(
            one["text"],
            tuple(one["options"]),
            one["answer"] if owner else None,
            one.get("explanation", "") if owner else "",
        )
        for one in entries
    )
