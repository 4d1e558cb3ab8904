"""What the client gives back: plain frozen records, made from the API's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Record:
    """The base of all records: built from JSON, leaving aside what a newer server adds."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """Make the record from JSON."""
        known = {item.name for item in fields(cls)}
        return cls(**{name: _value(name, value) for name, value in data.items() if name in known})


def _value(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if name.endswith(("_at", "_until")) and isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class TaskSummary(Record):
    """A task in a list."""

    name: str
    kind: str
    title: Mapping[str, str]
    labels: list[str]
    version: int
    changed_at: datetime
    archived: bool


@dataclass(frozen=True, slots=True)
class TaskInfo(Record):
    """A task: what is asked."""

    name: str
    kind: str
    title: Mapping[str, str]
    labels: list[dict[str, Any]]
    extra_labels: list[dict[str, Any]]
    fields: list[dict[str, Any]]
    answer_type: str
    instructions: Mapping[str, str]
    content_warning: Mapping[str, str]
    languages: list[str]
    metrics: list[str]
    canonical_metric: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DatasetVersion(Record):
    """One version of a data set; *new* is false where an import found that it was there already.

    *scores* says whether the data set scores on the board.
    """

    ref: str
    task: str
    dataset: str
    number: int
    hash: str
    role: str
    hidden: bool
    rows: int
    language: str
    description: str
    meta: Mapping[str, Any]
    created_at: datetime
    parents: list[dict[str, Any]]
    children: list[dict[str, Any]]
    new: bool = True
    scores: bool = False


@dataclass(frozen=True, slots=True)
class Preview(Record):
    """Some examples of a version; *total* is how many fit the filters."""

    total: int
    offset: int
    examples: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Model(Record):
    """A model, the version that was asked for, and its card."""

    task: str
    name: str
    owner: str | None
    visibility: str
    created_at: datetime
    version: Mapping[str, Any]
    versions: list[dict[str, Any]]
    card: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Person(Record):
    """An account."""

    name: str
    display_name: str
    email: str | None
    language: str
    email_notifications: bool
    opened: bool
    created_at: datetime
    grants: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Token(Record):
    """An API token; *token* is the secret itself, known only when it was just made."""

    id: int
    name: str
    hint: str
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    expired: bool
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Notification(Record):
    """A message."""

    id: int
    at: str
    kind: str
    text: str
    url: str
    read_at: datetime | None


@dataclass(frozen=True, slots=True)
class Status(Record):
    """Whether the server works."""

    version: str
    ready: bool
    checks: Mapping[str, str]


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
class Quiz(Record):
    """A quiz, and where whoever asks stands with it."""

    task: str
    name: str
    version: int
    instructions: str
    questions: list[dict[str, Any]]
    practice: list[dict[str, Any]]
    right: int
    tries: int
    passed: bool
    tries_left: int
    rest_until: datetime | None
    retired: bool


@dataclass(frozen=True, slots=True)
class QuizTry(Record):
    """How a try at a quiz went."""

    passed: bool
    right: int
    total: int
    tries_left: int
    rest_until: datetime | None
    explanations: list[str]


@dataclass(frozen=True, slots=True)
class QuizResults(Record):
    """Who passed a quiz, and which questions are missed."""

    task: str
    name: str
    version: int
    people: int
    passed: int
    tries: int
    by_person: list[dict[str, Any]]
    by_question: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Eligible(Record):
    """Whether somebody may write in a round, with a reason for every rule."""

    name: str
    eligible: bool
    reasons: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Qualification(Record):
    """One change of somebody's qualifications."""

    name: str
    held: bool
    reason: str
    created_at: datetime
