"""What the client gives back about validations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quintain.client.shapes import Record


@dataclass(frozen=True, slots=True)
class ValidationProgress(Record):
    """How far a validation is: *done* is the filled share of the *slots*, *forecast* what is still to be done.

    The forecast has `judgements`, `pages`, `hours`, `days`, and `cost`, `reward`, `hourly` as `amount` and `currency`.
    *waiting* says who is needed for the last judgements: `stuck` items, so many `people` to invite, and an `advice`.
    """

    validation: str
    state: str
    items: int
    judgements: int
    slots: Mapping[str, int]
    done: float
    forecast: Mapping[str, Any]
    waiting: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Validation(Record):
    """Everything that the owner's console shows of a validation; *contested* counts what waits for experts."""

    validation: str
    state: str
    policy: str = field(repr=False)
    progress: Mapping[str, Any]
    forecast: Mapping[str, Any]
    gold: Mapping[str, Any]
    agreement: Mapping[str, Any]
    agreement_by_review: list[dict[str, Any]]
    labels: Mapping[str, int]
    confusion: Mapping[str, Any]
    judges: list[dict[str, Any]]
    contested: int
    rates: Mapping[str, Any]
    batches: list[dict[str, Any]]
    waiting: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class JudgedItem(Record):
    """An item with its votes and its label; *share* is the share of the votes that its label has."""

    id: int
    inputs: Mapping[str, Any]
    state: str
    contested: bool
    label: str | None
    votes: Mapping[str, int]
    share: float | None
    by_expert: bool
    gold: bool


@dataclass(frozen=True, slots=True)
class JudgedItems(Record):
    """Some items; *total* is how many fit the filters, *counts* how many are in each state."""

    items: list[JudgedItem]
    total: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ItemsAdded(Record):
    """How many items were new, and how many were there already."""

    added: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Gold(Record):
    """A gold item and how judges do on it; *accuracy* has `value`, `low` and `high`.

    *quiz* is the entry quiz that asks about it, if one does: it is shown on pages no more.
    """

    id: int
    inputs: Mapping[str, Any]
    label: str
    note: str
    shown: int
    answered: int
    right: int
    accuracy: Mapping[str, Any]
    retired: bool
    quiz: str = ""


@dataclass(frozen=True, slots=True)
class RuleEffect(Record):
    """Whom a rule catches, and how well it tells clickers from the honest; *opened* slots are judged anew.

    *unqualified* names those who were unqualified: nobody, where the rule was only tried.
    """

    rule: Mapping[str, Any]
    workers: list[str]
    judgements: int
    power: list[dict[str, Any]]
    judgements_needed: int | None
    weak: bool
    advice: str
    unqualified: list[str] = field(default_factory=list)
    opened: int = 0


@dataclass(frozen=True, slots=True)
class PolicyVersion(Record):
    """One state of a validation's policy, as TOML: who made it, and when."""

    version: int
    policy: str = field(repr=False)
    at: str
    by: str


@dataclass(frozen=True, slots=True)
class Judge(Record):
    """A judge: `agreement` with the others, `accuracy` and `gold` have `value`, `low` and `high`.

    *qualified* says whether they may take pages; *set_aside* whether their judgements in this validation count no more.
    """

    worker: str
    judgements: int
    compared: int
    agreement: Mapping[str, Any]
    accuracy: Mapping[str, Any]
    gold: Mapping[str, Any]
    gold_seen: int
    median_seconds: float | None
    patterns: list[str]
    qualified: bool
    set_aside: bool
    reason: str


@dataclass(frozen=True, slots=True)
class JudgeHistory(Record):
    """All that happened to a judge: what *reviews* found, *standings* here, *qualifications* of the whole task."""

    worker: str
    reviews: list[dict[str, Any]]
    standings: list[dict[str, Any]]
    qualifications: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JudgingNote(Record):
    """Why a judge flagged or skipped an item: *kind* is flag or skip."""

    kind: str
    text: str
    worker: str
    at: str
    item: int
    inputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Act(Record):
    """Something that was done to a validation or to one of its judges."""

    at: str
    actor: str
    action: str
    subject: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JudgeReview(Record):
    """What a review of the judges found: *caught* names who was (or, not *applied*, would be) unqualified, and why."""

    judgements: int
    judges: int
    caught: Mapping[str, str]
    applied: bool
    opened: int
    bonuses: int
    clean: bool


@dataclass(frozen=True, slots=True)
class PageItem(Record):
    """An item on a page: answers name its *id*, and give one of its *labels*; *saved* is what waits to be handed in."""

    id: int
    position: int
    inputs: Mapping[str, Any]
    answer: Any
    labels: list[str]
    label: str | None
    skipped: bool
    saved: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class JudgingPage(Record):
    """A page of items that one holds until *lease_until*; all of it pays *reward* (`amount`, `currency`)."""

    token: str
    validation: str
    lease_until: datetime
    reward: Mapping[str, Any]
    items: list[PageItem]


@dataclass(frozen=True, slots=True)
class Receipt(Record):
    """What became of a page that was handed in; *left* items are not answered yet."""

    judged: int
    late: int
    skipped: int
    flagged: int
    earned: Mapping[str, Any]
    left: int
    qualified: bool
    feedback: str


@dataclass(frozen=True, slots=True)
class Contested(Record):
    """An item on which judges disagree, with the *labels* that an expert may give."""

    id: int
    inputs: Mapping[str, Any]
    answer: Any
    labels: list[str]
    votes: Mapping[str, int]
    label: str | None
    share: float | None
