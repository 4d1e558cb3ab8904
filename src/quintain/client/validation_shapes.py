"""What the client gives back about validations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quintain.client.shapes import Record


@dataclass(frozen=True, slots=True)
class ValidationProgress(Record):
    """How far a validation is: *done* is the filled share of the *slots*, *forecast* what is still to be done.

    The forecast has `judgements`, `pages`, `hours`, `days`, and `cost`, `reward`, `hourly` as `amount` and `currency`.
    """

    validation: str
    state: str
    items: int
    judgements: int
    slots: Mapping[str, int]
    done: float
    forecast: Mapping[str, Any]


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
class Contested(Record):
    """An item on which judges disagree, with the *labels* that an expert may give."""

    id: int
    inputs: Mapping[str, Any]
    answer: Any
    labels: list[str]
    votes: Mapping[str, int]
    label: str | None
    share: float | None
