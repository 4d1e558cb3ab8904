"""Rounds as their owners see them, and writing as writers do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quintain.core.records.base import Record
from quintain.core.records.work import Reason


@dataclass(frozen=True, slots=True)
class Round(Record):
    """A round: what it asks, as TOML, and where it stands (draft, open or closed).

    *entry_url* is where a panel sends people; for owners only. *kind* is writing, or harvest, where nobody writes.
    """

    ref: str
    task: str
    number: int
    title: str
    state: str
    version: int
    created_at: datetime
    opened_at: datetime | None
    closed_at: datetime | None
    toml: str = field(repr=False)
    entry_url: str | None = None
    kind: str = "writing"
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Rounds(Record):
    """The rounds of a task."""

    rounds: list[Round]


@dataclass(frozen=True, slots=True)
class RoundChange(Record):
    """One state of a round's file: its number from 1, the TOML, by whom and when."""

    number: int
    toml: str
    by: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class RoundHistory(Record):
    """Every state of a round's file, the newest first."""

    versions: list[RoundChange]


@dataclass(frozen=True, slots=True)
class RoundCount(Record):
    """Attempts under one heading, and those of them that fooled the model; *low* to *high* is the rate's interval."""

    name: str
    attempts: int
    fooled: int
    rate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Counters(Record):
    """How a round goes. Retracted attempts are counted apart and nowhere else.

    Where more has come in since it was counted, *as_of* is the time of it. *by_worker* and *by_prompt* have the
    thousand people and prompts with the most attempts, *by_hour* the latest thousand hours in which somebody wrote.
    Where nothing was *counted* yet, the counts are 0 and a worker is at it.
    """

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
    sessions: Mapping[str, int]
    prompts: Mapping[str, int]
    by_worker: list[RoundCount]
    by_prompt: list[RoundCount]
    by_label: list[RoundCount]
    by_condition: list[RoundCount]
    by_number: list[RoundCount]
    by_hour: list[RoundCount]
    by_day: list[RoundCount]
    as_of: datetime | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class PromptReport(Record):
    """What became of a table of prompts: *used* were shown in other rounds or harvested.

    *used_parts* are in parts of a corpus of which anything was, *used_reviews* from reviews of which a sentence was.
    """

    rows: int
    added: int
    repeated: int
    used: int
    used_parts: int
    used_reviews: int


@dataclass(frozen=True, slots=True)
class Flag(Record):
    """Something in an attempt for the owner to look at; *withhold* is None until somebody has."""

    id: int
    attempt_id: int
    kind: str
    detail: str
    inputs: Mapping[str, Any]
    at: datetime
    withhold: bool | None
    note: str


@dataclass(frozen=True, slots=True)
class Flags(Record):
    """What the owner of a round should look at: one page of *total*."""

    flags: list[Flag]
    total: int = 0


@dataclass(frozen=True, slots=True)
class Readiness(Record):
    """What still stands between a worker and a round; *ready* where nothing does."""

    ready: bool
    closed: str
    needs_consent: bool
    needs_warning: bool
    opted_out: bool
    quizzes: tuple[str, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class WritingPrompt(Record):
    """What a writer is given to edit. *answer* is the gold answer of the prompt, where it has one."""

    id: int
    inputs: Mapping[str, Any]
    answer: Any = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WritingSession(Record):
    """A writing session as its writer sees it; that of the sandbox has the key "" and is stored nowhere.

    *target* is the label handed out, or None where the writer chooses. *draft* and *draft_target* are what was typed
    last, submitted or not. *pending* is the attempt that waits for the writer's word. *models* are those that the
    writer faces; one that is private and not theirs to see is named by a stand-in. *outcome* says how the session
    ended, and is empty while it lasts. *types* are those of which the next text must be one, where the round asks.
    """

    key: str
    round: str
    task: str
    condition: str
    prompt: WritingPrompt | None
    target: Any
    allowed: int
    attempts_left: int
    lease_until: datetime | None
    models: tuple[str, ...]
    started_at: datetime
    outcome: str = ""
    draft: Mapping[str, Any] = field(default_factory=dict)
    draft_target: Any = None
    pending: int | None = None
    types: tuple[str, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether nothing more can be submitted in it."""
        return bool(self.outcome)


@dataclass(frozen=True, slots=True)
class DraftKept(Record):
    """Until when the prompt of a session is held."""

    lease_until: datetime | None


@dataclass(frozen=True, slots=True)
class ModelAnswer(Record):
    """What one target model said. One that the reader may not see has a stand-in for a name and no hash."""

    model: str
    hash: str
    answer: Any
    probabilities: Mapping[str, float] | None
    fooled: bool | None


@dataclass(frozen=True, slots=True)
class Verdict(Record):
    """What came of an attempt.

    *fooled* is None where the writer has to say it; *ask* is what is wanted of the writer next: "decide", "confirm" or
    "". *outcome* says how the session ended, where it has.
    """

    attempt_id: int
    number: int
    fooled: bool | None
    answers: tuple[ModelAnswer, ...]
    target: Any
    inputs: Mapping[str, Any]
    attempts_left: int
    edit_distance: int | None
    edit_share: float | None
    ask: str
    flags: tuple[str, ...]
    outcome: str
    at: datetime

    @property
    def prediction(self) -> Any:
        """What the (first) target model said."""
        return self.answers[0].answer

    @property
    def probabilities(self) -> Mapping[str, float] | None:
        """The (first) target model's probabilities, where it gives them."""
        return self.answers[0].probabilities

    @property
    def ended(self) -> bool:
        """Whether the session is over."""
        return bool(self.outcome)


@dataclass(frozen=True, slots=True)
class WordEffect(Record):
    """One word of a field (from *start* to *end*), and by how much leaving it out moves the model.

    *effect* is how much less probable the model's answer becomes; where a model gives no probabilities it is 1 if the
    answer changes and 0 if not.
    """

    field: str
    start: int
    end: int
    word: str
    effect: float


@dataclass(frozen=True, slots=True)
class MovingWords(Record):
    """The words of an attempt, in order."""

    words: list[WordEffect]


@dataclass(frozen=True, slots=True)
class Inspiration(Record):
    """An example of somebody else that fooled the model."""

    inputs: Mapping[str, Any]
    target: Any
    prediction: Any


@dataclass(frozen=True, slots=True)
class Inspirations(Record):
    """Examples of others that fooled the model, the newest first."""

    examples: list[Inspiration]


@dataclass(frozen=True, slots=True)
class OwnAttempt(Record):
    """One of somebody's own attempts as it stands."""

    id: int
    round: str
    number: int
    inputs: Mapping[str, Any]
    target: Any
    prediction: Any
    fooled: bool | None
    retracted: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class OwnAttempts(Record):
    """Somebody's own attempts, the newest first."""

    attempts: list[OwnAttempt]
