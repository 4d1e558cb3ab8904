"""What the API sends and takes of quizzes, qualifications and who may do which work."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from quintain.web.api.collect.shapes import ReasonShape
from quintain.web.api.shapes import Shape, Text

Chosen = Annotated[int, Field(ge=0, le=1_000_000)]


class QuizLineShape(Shape):
    """A quiz in a list; *passed* says whether whoever asks has passed it."""

    name: str
    version: int
    questions: int
    practice: int
    retired: bool
    passed: bool


class QuizzesShape(Shape):
    """Quizzes of a task."""

    quizzes: list[QuizLineShape]


class QuestionShape(Shape):
    """A question with its options; the answer and its explanation are given to owners only."""

    text: str
    options: list[str]
    answer: int | None
    explanation: str


class QuizShape(Shape):
    """A quiz as whoever asks sees it, and where they stand with it."""

    task: str
    name: str
    version: int
    instructions: str
    questions: list[QuestionShape]
    practice: list[QuestionShape]
    right: int
    tries: int
    passed: bool
    tries_left: int
    rest_until: datetime | None
    retired: bool


class QuizDefinition(Shape):
    """A quiz as plain data, with the keys of its file."""

    definition: dict[str, Any]


class QuizAnswers(Shape):
    """One answer to each question: the number of an option, counted from 0."""

    answers: Annotated[list[Chosen], Field(max_length=1000)]


class QuizResultShape(Shape):
    """How a try went; *explanations* are given once the quiz has been passed."""

    passed: bool
    right: int
    total: int
    tries_left: int
    rest_until: datetime | None
    explanations: list[str]


class PracticeRequest(Shape):
    """An answer to a question of the practice, both counted from 0."""

    question: Chosen
    answer: Chosen


class FeedbackShape(Shape):
    """What is said to an answer in practice."""

    right: bool
    answer: int
    explanation: str


class PersonResultShape(Shape):
    """How one person did at a quiz."""

    name: str
    tries: int
    best: int
    total: int
    passed: bool
    last_at: datetime


class QuestionResultShape(Shape):
    """How often each option of a question was chosen, and the share of right answers."""

    text: str
    options: list[str]
    answer: int
    chosen: list[int]
    rate: float | None


class QuizResultsShape(Shape):
    """How a quiz goes."""

    task: str
    name: str
    version: int
    people: int
    passed: int
    tries: int
    by_person: list[PersonResultShape]
    by_question: list[QuestionResultShape]


class EligibleShape(Shape):
    """Whether somebody may write in a round, with a reason for every rule."""

    name: str
    eligible: bool
    reasons: list[ReasonShape]


class CrowdShape(Shape):
    """Some of the people with the role of a worker; *total* is how many there are."""

    round: str
    rules: list[dict[str, Any]]
    total: int
    people: list[EligibleShape]


class QualificationRequest(Shape):
    """A qualification to give to somebody, or to end."""

    name: Annotated[Text, Field(min_length=1, max_length=254)]
    qualification: Annotated[Text, Field(min_length=1, max_length=40)]
    held: bool = True
    reason: Text = ""


class QualificationShape(Shape):
    """One change of somebody's qualifications."""

    name: str
    held: bool
    reason: str
    created_at: datetime


class QualificationsShape(Shape):
    """Every change of somebody's qualifications on a task, oldest first."""

    qualifications: list[QualificationShape]


class FactRequest(Shape):
    """What a worker says of themselves."""

    name: Literal["country", "language"]
    value: Annotated[Text, Field(min_length=1, max_length=200)]


class FactShape(Shape):
    """What is known of a worker, and who says so."""

    name: str
    value: str
    source: str


class FactsShape(Shape):
    """What is known of a worker, the newest under each name."""

    facts: list[FactShape]
