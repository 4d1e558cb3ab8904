"""What the client gives back about writing: sessions, verdicts, helps, earnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from quintain.client.shapes import Record


@dataclass(frozen=True, slots=True)
class Readiness(Record):
    """What stands between a worker and a round; each of *reasons* has `rule`, `ok` and `text`."""

    ready: bool
    closed: str
    needs_consent: bool
    needs_warning: bool
    opted_out: bool
    quizzes: list[str]
    reasons: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class WritingSession(Record):
    """A writing session; that of the sandbox has the key "".

    *prompt* has `id`, `inputs`, `answer` and `tags`; *target* is the label that was handed out, or None; *pending* is
    the attempt that waits for the writer's word; *outcome* says how it ended, and is empty while it lasts.
    """

    key: str
    round: str
    task: str
    condition: str
    prompt: Mapping[str, Any] | None
    target: Any
    allowed: int
    attempts_left: int
    lease_until: datetime | None
    models: list[str]
    started_at: datetime
    outcome: str
    draft: Mapping[str, Any]
    draft_target: Any
    pending: int | None


@dataclass(frozen=True, slots=True)
class Verdict(Record):
    """What came of an attempt; *ask* is what is wanted next: `decide`, `confirm` or nothing.

    An answer has `model`, `hash`, `answer`, `probabilities` and `fooled`.
    """

    attempt_id: int
    number: int
    fooled: bool | None
    answers: list[dict[str, Any]]
    target: Any
    inputs: Mapping[str, Any]
    attempts_left: int
    edit_distance: int | None
    edit_share: float | None
    ask: str
    flags: list[str]
    outcome: str


@dataclass(frozen=True, slots=True)
class WordEffect(Record):
    """One word of a field, and how much less probable the model's answer becomes without it."""

    field: str
    start: int
    end: int
    word: str
    effect: float


@dataclass(frozen=True, slots=True)
class Inspiration(Record):
    """An example of somebody else that fooled the model."""

    inputs: Mapping[str, Any]
    target: Any
    prediction: Any


@dataclass(frozen=True, slots=True)
class OwnAttempt(Record):
    """One of one's own attempts as it stands."""

    id: int
    round: str
    number: int
    inputs: Mapping[str, Any]
    target: Any
    prediction: Any
    fooled: bool | None
    retracted: bool


@dataclass(frozen=True, slots=True)
class Earning(Record):
    """One earning in minor units (cents), and where it stands; *worker* is given to owners only."""

    id: int
    kind: str
    what: str
    task: str
    round: int | None
    amount: int
    currency: str
    status: str
    reason: str
    created_at: datetime
    decided_at: datetime | None
    worker: str = ""


@dataclass(frozen=True, slots=True)
class RoundPay(Record):
    """What a round pays and has cost; *totals* have `kind`, `status`, `amount` and `currency`.

    *measured* counts the finished sessions that *minutes* are from; 0 is the owner's estimate.
    """

    round: str
    minutes: float
    measured: int
    hourly: Mapping[str, Any]
    totals: list[dict[str, Any]]
    earnings: list[Earning]


@dataclass(frozen=True, slots=True)
class Flag(Record):
    """Something in an attempt for the owner to look at; *withhold* is None until somebody has."""

    id: int
    attempt_id: int
    kind: str
    detail: str
    inputs: Mapping[str, Any]
    withhold: bool | None
    note: str


@dataclass(frozen=True, slots=True)
class RoundChange(Record):
    """One state of a round's file, by whom and when."""

    number: int
    toml: str
    by: str | None
    at: str
