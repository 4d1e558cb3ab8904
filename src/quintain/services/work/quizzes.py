"""Quizzes: instructions, practice with feedback, and questions that show whether they were understood.

A quiz is data, see `quintain.core.quizzes.QuizSpec`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.editing import ANYHOW, EditOrigin, revision_of
from quintain.core.errors import BadInput, Conflict, Fault, NotFound, TooMany
from quintain.core.people import Actor, RoleName
from quintain.core.quizzes import QuestionSpec, QuizSpec
from quintain.core.records import work as records
from quintain.core.records.work import Feedback, Question
from quintain.core.rounds import Money
from quintain.core.spec import plain, read, restore
from quintain.core.spec_changes import review
from quintain.services.access import audit
from quintain.services.access.permissions import require_owner, require_user
from quintain.services.pay.caps import require_room
from quintain.services.pay.earnings import earn
from quintain.services.tasks.definitions import find_row
from quintain.store.base import now
from quintain.store.database import lock, transaction
from quintain.store.queries.pay.earnings import paid_works
from quintain.store.queries.work import qualify as queries
from quintain.store.tables import Quiz, QuizTry, QuizVersion
from quintain.tasks.definition import NAME


def put_quiz(
    db: Session,
    actor: Actor,
    task: str,
    name: str,
    definition: Mapping[str, Any],
    *,
    new: bool = False,
    edit: EditOrigin = ANYHOW,
) -> records.Quiz:
    """Add a quiz to a task, or change it: whoever passed it before has passed it. A *new* one may not be there.

    *edit* says what the definition was made from.
    """
    read(QuizSpec, definition, also=lambda _: _name_faults(name))
    with transaction(db):
        task_id = find_row(db, task).id
        require_owner(actor, task)
        lock(db, f"quiz {task}/{name}")
        stored = queries.quiz(db, task, name)
        known = stored[1].definition if stored is not None else None
        before, after = (plain(restore(QuizSpec, one), whole=True) if one else None for one in (known, definition))
        # Putting a retired quiz again is the way to bring it back.
        review(edit, before, after or {}, {"retired": False, **definition} if definition else {})
        if stored is None:
            quiz = Quiz(task_id=task_id, name=name)
            db.add(quiz)
            db.flush()
            number = 1
        elif new:
            raise Conflict("Task '{task}' has a quiz '{name}' already.", task=task, name=name)
        else:
            quiz, number = stored[0], stored[1].number + 1
            definition = edit.settled(stored[1].definition, definition, QuizSpec)
            read(QuizSpec, definition)
        if stored is None or stored[1].definition != dict(definition):
            db.add(QuizVersion(quiz_id=quiz.id, number=number, definition=dict(definition), created_by=actor.user_id))
            audit.record(db, actor, "quiz.put", f"{task}/{name}", version=number)
        db.flush()
    return get_quiz(db, actor, task, name)


def get_quiz(db: Session, actor: Actor, task: str, name: str) -> records.Quiz:
    """Return a quiz for somebody who is to take it and has signed in; right answers only for the task's owners.

    Retired quizzes are theirs alone, too.
    """
    owner = actor.has(RoleName.OWNER, task)
    if not owner:
        require_user(actor)
    quiz, version = _find(db, task, name) if owner else _find_open(db, task, name)
    spec = restore(QuizSpec, version.definition)
    passed = actor.user_id is not None and queries.passed(db, quiz.id, actor.user_id)
    left, rest = _left(db, quiz.id, actor.user_id, spec)
    return records.Quiz(
        task=task,
        name=name,
        version=version.number,
        instructions=spec.instructions,
        questions=_questions(spec.questions, owner),
        practice=_questions(spec.practice, owner),
        right=spec.needed,
        tries=spec.tries,
        passed=passed,
        tries_left=left,
        rest_until=rest,
        retired=spec.retired,
        pay=Money(spec.pay, spec.currency) if spec.pay else None,
        revision=revision_of(version.definition) if owner else "",
    )


def list_quizzes(db: Session, task: str) -> list[str]:
    """List the names of a task's quizzes that can be taken."""
    find_row(db, task)
    return sorted(queries.quiz_names(db, task))


def quiz_definition(db: Session, actor: Actor, task: str, name: str) -> dict[str, Any]:
    """Return the newest definition of a quiz; only the task's owners, who may change it."""
    require_owner(actor, task)
    return dict(_find(db, task, name)[1].definition)


def take_quiz(db: Session, actor: Actor, task: str, name: str, answers: Sequence[int | None]) -> records.QuizTry:
    """Take a quiz: one answer to each question. After too many failures in a row there is a rest."""
    user_id = require_user(actor)
    with transaction(db):
        lock(db, f"quiz of user {user_id}")
        quiz, version = _find_open(db, task, name)
        spec = restore(QuizSpec, version.definition)
        questions = spec.questions
        if len(answers) != len(questions) or any(answer is None for answer in answers):
            raise BadInput(faults=[Fault("there are {n} questions; answer each", n=len(questions), field="answers")])
        left, rest = _left(db, quiz.id, user_id, spec)
        if rest is not None:
            wait = int((rest - now()).total_seconds()) + 1
            raise TooMany(
                "That was {tries} times.",
                tries=spec.tries,
                rest=f"{rest:%Y-%m-%d %H:%M}",
                retry_after=wait,
                remedy="Have a rest until {rest} UTC, read the instructions again, then try once more.",
                code="quota_reached",
            )
        paid = _is_paid(db, actor, quiz, task, spec)
        right = sum(given == question.answer for given, question in zip(answers, questions, strict=True))
        passed = right >= spec.needed
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
        if paid:
            money, what = Money(spec.pay, spec.currency), f"Quiz {task}/{name}"
            earn(db, user_id, quiz.task_id, kind="base", work=work_of(quiz.id, user_id), money=money, what=what)
        left, rest = _left(db, quiz.id, user_id, spec)
    explanations = tuple(question.explanation for question in questions) if passed else ()
    return records.QuizTry(passed, right, len(questions), left, rest, explanations)


def work_of(quiz_id: int, user_id: int) -> str:
    """Name the piece of work that taking a quiz is: one for each person, however often they try.

    >>> work_of(3, 7)
    'quiz:3:7'
    """
    return f"quiz:{quiz_id}:{user_id}"


def _is_paid(db: Session, actor: Actor, quiz: Quiz, task: str, spec: QuizSpec) -> bool:
    """Whether taking a quiz pays somebody who may work on the task; a cap that is reached lets nobody begin."""
    user_id = require_user(actor)
    if not spec.pay or not actor.has(RoleName.WORKER, task) or paid_works(db, [work_of(quiz.id, user_id)]):
        return False
    require_room(db, quiz.task_id, user_id)
    return True


def practise(db: Session, actor: Actor, task: str, name: str, question: int, answer: int) -> Feedback:
    """Return whether an answer in practice is right, and why. Nothing is kept."""
    require_user(actor)
    practice = restore(QuizSpec, _find_open(db, task, name)[1].definition).practice
    if not 0 <= question < len(practice):
        raise NotFound("The quiz '{name}' has no practice question {question}.", name=name, question=question)
    asked = practice[question]
    return Feedback(answer == asked.answer, asked.answer, asked.explanation)


def _name_faults(name: str) -> list[Fault]:
    if NAME.fullmatch(name):
        return []
    return [Fault("'{name}' is not a name: use up to 80 small letters, digits, - and _", name=name, field="name")]


def _find_open(db: Session, task: str, name: str) -> tuple[Quiz, QuizVersion]:
    quiz_and_version = _find(db, task, name)
    if quiz_and_version[1].definition.get("retired"):
        raise Conflict(
            "The quiz '{name}' has been retired.", name=name, remedy="Ask the task's owner what to take instead."
        )
    return quiz_and_version


def _find(db: Session, task: str, name: str) -> tuple[Quiz, QuizVersion]:
    find_row(db, task)
    quiz_and_version = queries.quiz(db, task, name)
    if quiz_and_version is None:
        raise NotFound("Task '{task}' has no quiz '{name}'.", task=task, name=name)
    return quiz_and_version


def _left(db: Session, quiz_id: int, user_id: int | None, spec: QuizSpec) -> tuple[int, datetime | None]:
    """Count the tries that are left before a rest, and say until when the rest is, if there is one."""
    rest = timedelta(hours=spec.rest_hours)
    if user_id is None:
        return spec.tries, None
    failed = queries.failed_since(db, quiz_id, user_id, now() - rest)
    left = max(0, spec.tries - len(failed))
    return left, None if left else failed[-spec.tries] + rest


def _questions(entries: Sequence[QuestionSpec], owner: bool) -> tuple[Question, ...]:
    return tuple(
        Question(entry.text, entry.options, entry.answer, entry.explanation)
        if owner
        else Question(entry.text, entry.options)
        for entry in entries
    )
