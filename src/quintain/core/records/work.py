"""Quizzes and qualifications, as workers and owners see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quintain.core.records.base import Record
from quintain.core.rounds import Money


@dataclass(frozen=True, slots=True)
class Reason(Record):
    """Whether one rule is met, and why or why not."""

    rule: str
    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class Question(Record):
    """A question with its options; *answer* and *explanation* are given to the task's owners only."""

    text: str
    options: tuple[str, ...]
    answer: int | None = None
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Quiz(Record):
    """A quiz as whoever asks sees it, and where they stand with it; *pay* is what taking it earns, once."""

    task: str
    name: str
    version: int
    instructions: str
    questions: tuple[Question, ...]
    practice: tuple[Question, ...]
    right: int
    tries: int
    passed: bool
    tries_left: int
    rest_until: datetime | None
    retired: bool = False
    pay: Money | None = None
    revision: str = ""


@dataclass(frozen=True, slots=True)
class QuizTry(Record):
    """How a try at a quiz went; *explanations* are given once it has been passed."""

    passed: bool
    right: int
    total: int
    tries_left: int
    rest_until: datetime | None
    explanations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Feedback(Record):
    """What is said to an answer in practice."""

    right: bool
    answer: int
    explanation: str


@dataclass(frozen=True, slots=True)
class QuizLine(Record):
    """A quiz in a list; *passed* says whether whoever asks has passed it."""

    name: str
    version: int
    questions: int
    practice: int
    retired: bool
    passed: bool


@dataclass(frozen=True, slots=True)
class Quizzes(Record):
    """The quizzes of a task."""

    quizzes: list[QuizLine]


@dataclass(frozen=True, slots=True)
class PersonResult(Record):
    """How one person did: tries, the most that were right, and whether the quiz was ever passed."""

    name: str
    tries: int
    best: int
    total: int
    passed: bool
    last_at: datetime


@dataclass(frozen=True, slots=True)
class QuestionResult(Record):
    """How often each option of a question was chosen in the newest version, and the share of right answers of *tries*.

    Of many tries, the last thousand are counted.
    """

    text: str
    options: tuple[str, ...]
    answer: int
    chosen: tuple[int, ...]
    rate: float | None
    tries: int = 0


@dataclass(frozen=True, slots=True)
class QuizResults(Record):
    """How a quiz goes: *people* tried it *tries* times, and *passed* of them have passed.

    *by_person* is a page of them from *offset*, who tried last first.
    """

    task: str
    name: str
    version: int
    people: int
    passed: int
    tries: int
    by_person: tuple[PersonResult, ...]
    by_question: tuple[QuestionResult, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class Eligible(Record):
    """Whether somebody may write in a round, with a reason for every rule."""

    name: str
    eligible: bool
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Crowd(Record):
    """Some of the people with the role of a worker on a round's task; *total* is how many there are."""

    round: str
    rules: tuple[Mapping[str, Any], ...]
    total: int
    people: list[Eligible]


@dataclass(frozen=True, slots=True)
class Qualification(Record):
    """One change of somebody's qualifications."""

    name: str
    held: bool
    reason: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Qualifications(Record):
    """Every change of somebody's qualifications on a task, the oldest first."""

    qualifications: list[Qualification]


@dataclass(frozen=True, slots=True)
class KnownFact(Record):
    """What is known of a worker, and who says so."""

    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class KnownFacts(Record):
    """What is known of a worker, the newest under each name."""

    facts: list[KnownFact]
