"""What the API takes of quizzes, qualifications and who may do which work."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

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
