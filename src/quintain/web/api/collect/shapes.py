"""What the API sends and takes of rounds, sessions, attempts and earnings."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from quintain.web.api.shapes import LongText, Shape, Text


class RoundDefinition(Shape):
    """A round as a TOML file."""

    toml: LongText


class RoundShape(Shape):
    """A round: what it asks, as TOML, and where it stands."""

    ref: str
    task: str
    number: int
    title: str
    state: str
    version: int
    created_at: datetime
    opened_at: datetime | None
    closed_at: datetime | None
    toml: str
    entry_url: str | None = Field(default=None, description="Where a panel sends people; for owners only.")


class CloneRequest(Shape):
    """What the clone of a round is called; empty for the same title."""

    title: Text = ""


class RoundChangeShape(Shape):
    """One state of a round's file: its number from 1, the TOML, by whom and when."""

    number: int
    toml: str
    by: str | None
    at: datetime


class RoundHistoryShape(Shape):
    """Every state of a round's file, the newest first."""

    versions: list[RoundChangeShape]


class RoundsShape(Shape):
    """Rounds of a task."""

    rounds: list[RoundShape]


class CountShape(Shape):
    """Attempts under one heading, and those of them that fooled the model."""

    name: str
    attempts: int
    fooled: int
    rate: float | None
    low: float | None
    high: float | None


class CountersShape(Shape):
    """How a round goes."""

    round: str
    state: str
    attempts: int
    fooled: int
    rate: float | None
    low: float | None
    high: float | None
    retracted: int
    workers: int
    flags: int
    sessions: dict[str, int]
    prompts: dict[str, int]
    by_worker: list[CountShape]
    by_prompt: list[CountShape]
    by_label: list[CountShape]
    by_condition: list[CountShape]
    by_number: list[CountShape]
    by_hour: list[CountShape]


class ReasonShape(Shape):
    """Whether one rule is met, and why or why not."""

    rule: str
    ok: bool
    text: str


class ReadinessShape(Shape):
    """What stands between a worker and a round."""

    ready: bool
    closed: str
    needs_consent: bool
    needs_warning: bool
    opted_out: bool
    quizzes: list[str]
    reasons: list[ReasonShape]


class ChoiceRequest(Shape):
    """What a worker says to a round."""

    kind: Literal["consent", "warning", "opt_out", "opt_in"]


class PromptShape(Shape):
    """What a writer is given to edit."""

    id: int
    inputs: dict[str, Any]
    answer: Any = None
    tags: list[str] = Field(default_factory=list)


class SessionShape(Shape):
    """A writing session as its writer sees it."""

    key: str
    round: str
    task: str
    condition: str
    prompt: PromptShape | None
    target: Any
    allowed: int
    attempts_left: int
    lease_until: datetime | None
    models: list[str]
    started_at: datetime
    outcome: str
    draft: dict[str, Any]
    draft_target: Any
    pending: int | None


class Submission(Shape):
    """A text to submit. The same token again gives the first verdict again."""

    inputs: dict[str, Any]
    target: Any = None
    token: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00]+$")]


class DraftRequest(Shape):
    """What has been typed so far."""

    inputs: dict[str, Any]
    target: Any = None


class DraftShape(Shape):
    """Until when the prompt is held."""

    lease_until: datetime | None


class ModelAnswerShape(Shape):
    """What one target model said."""

    model: str
    hash: str
    answer: Any
    probabilities: dict[str, float] | None
    fooled: bool | None


class VerdictShape(Shape):
    """What came of an attempt; *ask* is what is wanted next: decide, confirm or nothing."""

    attempt_id: int
    number: int
    fooled: bool | None
    answers: list[ModelAnswerShape]
    target: Any
    inputs: dict[str, Any]
    attempts_left: int
    edit_distance: int | None
    edit_share: float | None
    ask: str
    flags: list[str]
    outcome: str
    at: datetime


class WordRequest(Shape):
    """A writer's word on an attempt: yes or no."""

    yes: bool


class NotesRequest(Shape):
    """Why the model failed, and which phenomena are in the text."""

    reason: Text = ""
    tags: list[Text] = Field(default_factory=list)


class RetractRequest(Shape):
    """Why an attempt is taken back; may be empty."""

    reason: Text = ""


class OwnAttemptShape(Shape):
    """One of somebody's own attempts."""

    id: int
    round: str
    number: int
    inputs: dict[str, Any]
    target: Any
    prediction: Any
    fooled: bool | None
    retracted: bool
    at: datetime


class OwnAttemptsShape(Shape):
    """Somebody's own attempts, newest first."""

    attempts: list[OwnAttemptShape]


class EarningShape(Shape):
    """One earning, in minor units, and where it stands."""

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


class EarningsShape(Shape):
    """Earnings, newest first."""

    earnings: list[EarningShape]


class PaidEarningShape(EarningShape):
    """One earning as an owner sees it: with whose it is."""

    worker: str


class PaidEarningsShape(Shape):
    """Earnings of people with a task, newest first."""

    earnings: list[PaidEarningShape]


class MoneyShape(Shape):
    """An amount in minor units, such as cents."""

    amount: int
    currency: str


class TotalShape(MoneyShape):
    """A sum of earnings of one currency, kind and status."""

    kind: str
    status: str


class RoundPayShape(Shape):
    """What a round pays and has cost. *measured* counts the sessions that the minutes are from; 0 is an estimate."""

    round: str
    minutes: float
    measured: int
    hourly: MoneyShape
    totals: list[TotalShape]
    earnings: list[PaidEarningShape]


class DecisionRequest(Shape):
    """Earnings to approve, or to set aside with a reason."""

    ids: Annotated[list[Annotated[int, Field(ge=1, le=2**31 - 1)]], Field(max_length=10_000)]
    approved: bool = True
    reason: Text = ""
