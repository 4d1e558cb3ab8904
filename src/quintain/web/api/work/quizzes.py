"""Quizzes and qualifications, for programs: what owners set and see, what workers take, who may do which work."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path
from fastapi import Query as Parameter
from pydantic import Field

from quintain.core.records.work import (
    Feedback,
    KnownFacts,
    Qualifications,
    Quiz,
    QuizResults,
    QuizTry,
    Quizzes,
)
from quintain.services.work import qualify as qualifying
from quintain.services.work import quiz_results, quizzes
from quintain.web.api.call import Calling
from quintain.web.api.params import Changing, Limit, Offset, TaskName
from quintain.web.api.shapes import Shape, Text

Chosen = Annotated[int, Field(ge=0, le=1_000_000)]


class QuizDefinition(Shape):
    """A quiz as plain data, with the keys of its file."""

    definition: dict[str, Any]


class QuizAnswers(Shape):
    """One answer to each question: the number of an option, counted from 0."""

    answers: Annotated[list[Chosen], Field(max_length=1000)]


class QuizPracticeRequest(Shape):
    """An answer to a question of the practice, both counted from 0."""

    question: Chosen
    answer: Chosen


class QualificationRequest(Shape):
    """A qualification to give to somebody, or to end."""

    name: Annotated[Text, Field(min_length=1, max_length=254)]
    qualification: Annotated[Text, Field(min_length=1, max_length=40)]
    held: bool = True
    reason: Text = ""


class FactRequest(Shape):
    """What a worker says of themselves."""

    name: Literal["country", "language"]
    value: Annotated[Text, Field(min_length=1, max_length=200)]


QuizName = Annotated[str, Path(description="Name of the quiz.", max_length=80, pattern=r"^[^\x00]+$")]
Somebody = Annotated[
    str | None,
    Parameter(
        description="Account name of somebody else (owners); oneself by default.", max_length=254, pattern=r"^[^\x00]+$"
    ),
]


def list_quizzes(call: Calling, task: TaskName) -> Quizzes:
    """List the quizzes of a task; retired ones to its owners only."""
    return Quizzes(quiz_results.quiz_list(call.db, call.actor, task))


def get_quiz(call: Calling, task: TaskName, quiz: QuizName) -> Quiz:
    """Return a quiz for whoever is to take it and has signed in; right answers for the task's owners only."""
    return quizzes.get_quiz(call.db, call.actor, task, quiz)


def put_quiz(call: Calling, task: TaskName, quiz: QuizName, body: QuizDefinition, edit: Changing) -> Quiz:
    """Add the quiz that *definition* describes, with the keys of its file, or change it (owners)."""
    return quizzes.put_quiz(call.db, call.actor, task, quiz, body.definition, edit=edit)


def get_quiz_results(
    call: Calling, task: TaskName, quiz: QuizName, limit: Limit = 100, offset: Offset = 0
) -> QuizResults:
    """Return who passed a quiz, a page of them, and which questions are missed (owners)."""
    return quiz_results.quiz_results(call.db, call.actor, task, quiz, limit=limit, offset=offset)


def take_quiz(call: Calling, task: TaskName, quiz: QuizName, body: QuizAnswers) -> QuizTry:
    """Take a quiz: the number of an option, counted from 0, for each question."""
    return quizzes.take_quiz(call.db, call.actor, task, quiz, body.answers)


def practise_quiz(call: Calling, task: TaskName, quiz: QuizName, body: QuizPracticeRequest) -> Feedback:
    """Have an answer in practice explained; nothing is kept."""
    return quizzes.practise(call.db, call.actor, task, quiz, body.question, body.answer)


def qualify(call: Calling, task: TaskName, body: QualificationRequest) -> Qualifications:
    """Grant somebody a qualification on a task, or end it, and list every change of theirs (owners)."""
    qualifying.set_qualification(
        call.db, call.actor, task, body.name, body.qualification, held=body.held, reason=body.reason
    )
    return Qualifications(qualifying.qualification_history(call.db, call.actor, task, body.name))


def list_qualifications(call: Calling, task: TaskName, name: Somebody = None) -> Qualifications:
    """List every change of one's own qualifications on a task, or for an owner of those of *name*."""
    return Qualifications(qualifying.qualification_history(call.db, call.actor, task, name))


def list_my_facts(call: Calling) -> KnownFacts:
    """List what is known of oneself that rules ask for, and who says so."""
    return KnownFacts(qualifying.facts(call.db, call.actor))


def state_fact(call: Calling, fact: FactRequest) -> KnownFacts:
    """State something of oneself that rules ask for: the country, or the language one writes in."""
    qualifying.state_fact(call.db, call.actor, fact.name, fact.value)
    return KnownFacts(qualifying.facts(call.db, call.actor))
