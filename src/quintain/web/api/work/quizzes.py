"""Quizzes and qualifications, for programs: what owners set and see, what workers take, who may do which work."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Path
from fastapi import Query as Parameter

from quintain.services.collect import eligible
from quintain.services.work import qualify, quiz_results, quizzes
from quintain.web.api.call import Call, Calling
from quintain.web.api.collect.rounds import RoundNumber
from quintain.web.api.params import Filter, Limit, Offset, TaskName
from quintain.web.api.work.quiz_shapes import (
    CrowdShape,
    EligibleShape,
    FactRequest,
    FactShape,
    FactsShape,
    FeedbackShape,
    PracticeRequest,
    QualificationRequest,
    QualificationShape,
    QualificationsShape,
    QuizAnswers,
    QuizDefinition,
    QuizLineShape,
    QuizResultShape,
    QuizResultsShape,
    QuizShape,
    QuizzesShape,
)

QuizName = Annotated[str, Path(description="Name of the quiz.", max_length=80, pattern=r"^[^\x00]+$")]
Somebody = Annotated[
    str | None,
    Parameter(
        description="Account name of somebody else (owners); oneself by default.", max_length=254, pattern=r"^[^\x00]+$"
    ),
]


def list_quizzes(call: Calling, task: TaskName) -> QuizzesShape:
    """List the quizzes of a task; retired ones to its owners only."""
    found = quiz_results.quiz_list(call.db, call.actor, task)
    return QuizzesShape(quizzes=[QuizLineShape.model_validate(one) for one in found])


def get_quiz(call: Calling, task: TaskName, quiz: QuizName) -> QuizShape:
    """Give a quiz to whoever is to take it and has signed in; right answers to the task's owners only."""
    return _quiz(quizzes.get_quiz(call.db, call.actor, task, quiz))


def put_quiz(call: Calling, task: TaskName, quiz: QuizName, wanted: QuizDefinition) -> QuizShape:
    """Add a quiz to a task, or change it (owners)."""
    return _quiz(quizzes.put_quiz(call.db, call.actor, task, quiz, wanted.definition))


def retire_quiz(call: Calling, task: TaskName, quiz: QuizName) -> QuizShape:
    """Take a quiz out of use; who passed it has passed it (owners)."""
    return _quiz(quiz_results.retire_quiz(call.db, call.actor, task, quiz))


def get_quiz_results(call: Calling, task: TaskName, quiz: QuizName) -> QuizResultsShape:
    """Say who passed a quiz, and which questions are missed (owners)."""
    found = quiz_results.quiz_results(call.db, call.actor, task, quiz)
    return QuizResultsShape.model_validate(found.as_dict())


def take_quiz(call: Calling, task: TaskName, quiz: QuizName, given: QuizAnswers) -> QuizResultShape:
    """Take a quiz."""
    found = quizzes.take_quiz(call.db, call.actor, task, quiz, given.answers)
    return QuizResultShape.model_validate(asdict(found))


def practise_quiz(call: Calling, task: TaskName, quiz: QuizName, given: PracticeRequest) -> FeedbackShape:
    """Have an answer in practice explained; nothing is kept."""
    found = quizzes.practise(call.db, call.actor, task, quiz, given.question, given.answer)
    return FeedbackShape.model_validate(asdict(found))


def get_eligibility(call: Calling, task: TaskName, number: RoundNumber, name: Somebody = None) -> EligibleShape:
    """Say rule by rule whether one may write in a round; owners may ask about others."""
    found = eligible.may_write(call.db, call.actor, f"{task}/{number}", name)
    return EligibleShape.model_validate(found.as_dict())


def list_eligible(
    call: Calling, task: TaskName, number: RoundNumber, search: Filter = "", limit: Limit = 100, offset: Offset = 0
) -> CrowdShape:
    """Say of everybody with the role of a worker whether they may write in a round (owners)."""
    ref = f"{task}/{number}"
    found = eligible.crowd(call.db, call.actor, ref, search=search, limit=limit, offset=offset)
    people = [EligibleShape.model_validate(one.as_dict()) for one in found.people]
    return CrowdShape(round=ref, rules=[dict(rule) for rule in found.rules], total=found.total, people=people)


def set_qualification(call: Calling, task: TaskName, wanted: QualificationRequest) -> QualificationsShape:
    """Give somebody a qualification on a task, or end it (owners)."""
    qualify.set_qualification(
        call.db, call.actor, task, wanted.name, wanted.qualification, held=wanted.held, reason=wanted.reason
    )
    return _history(call, task, wanted.name)


def list_qualifications(call: Calling, task: TaskName, name: Somebody = None) -> QualificationsShape:
    """List every change of one's own qualifications on a task; owners may ask about others."""
    return _history(call, task, name)


def list_my_facts(call: Calling) -> FactsShape:
    """List what is known of oneself that rules ask for, and who says so."""
    return _facts(call)


def state_my_fact(call: Calling, fact: FactRequest) -> FactsShape:
    """Say something of oneself that rules ask for: the country, or the language one writes in."""
    qualify.state_fact(call.db, call.actor, fact.name, fact.value)
    return _facts(call)


def _quiz(found: quizzes.QuizInfo) -> QuizShape:
    return QuizShape.model_validate(asdict(found))


def _history(call: Call, task: str, name: str | None) -> QualificationsShape:
    found = qualify.qualification_history(call.db, call.actor, task, name)
    return QualificationsShape(qualifications=[QualificationShape.model_validate(one) for one in found])


def _facts(call: Call) -> FactsShape:
    return FactsShape(facts=[FactShape.model_validate(one) for one in qualify.facts(call.db, call.actor)])
