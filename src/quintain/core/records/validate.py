"""Validation as its owner, its judges and its writers see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Estimate, KeptEstimate
from quintain.core.rounds import Money

ItemState = Literal["contested", "labelled", "undecided", "waiting"]
STATES: tuple[ItemState, ...] = get_args(ItemState)


@dataclass(frozen=True, slots=True)
class Forecast(Record):
    """What is still to be done: judgements, pages, money, hours of work, and days at the present pace.

    *reward* is what a page pays, and *hourly* what an hour of judging pays: at the pace of the judges where that is
    *measured*, else at the owner's estimate.
    """

    judgements: int
    pages: int
    cost: Money
    hours: float
    days: float | None
    reward: Money
    hourly: Money
    measured: bool


@dataclass(frozen=True, slots=True)
class Waiting(Record):
    """What the end of a validation waits for; *advice* says in a sentence who is needed.

    *judgements* are open on *items*. On *stuck* items more are wanted than judges are left who have not seen them, so
    that *people* more are needed, each of whom can judge all of those. *judges* are those known who can do most of the
    rest.
    """

    items: int
    judgements: int
    stuck: int
    people: int
    judges: list[str]
    advice: str


@dataclass(frozen=True, slots=True)
class ValidationProgress(Record):
    """How far a validation is: *done* is the filled share of the *slots*, *forecast* what is still to be done.

    *waiting* says who is needed for the last judgements, where somebody is. Where more has come in than was counted,
    *as_of* is the time of the numbers. Where nothing was *counted* yet, they are all 0 and a worker is at it.
    """

    validation: str
    state: str
    items: int
    judgements: int
    slots: Mapping[str, int]
    done: float
    forecast: Forecast
    waiting: Waiting | None = None
    as_of: datetime | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Validations(Record):
    """The validations of a task."""

    validations: list[ValidationProgress]


@dataclass(frozen=True, slots=True)
class ItemProgress(Record):
    """How many items and judgements there are; *saved* is what an adaptive policy has not had to ask for."""

    items: int
    complete: int
    labelled: int
    judgements: int
    gold_judgements: int
    counted: int
    kept: int
    set_aside: int
    late: int
    slots: Mapping[str, int]
    saved: int
    saved_share: float
    asked_without_adapting: int


@dataclass(frozen=True, slots=True)
class AskedPart(Record):
    """A part of the items, such as an arm of a trial: how many there are, and how many of them are judged often."""

    part: str
    items: int
    often: int


@dataclass(frozen=True, slots=True)
class Asking(Record):
    """How many judgements items get: most of them *judgements*, those of a seeded sample *often* (None for no sample).

    The sample has *sample* items of each part, or the *share*. Where *writer* is true the writer has a vote, too, and
    where *setting* is not 0, so many judgements set a label; those beyond measure people.
    """

    judgements: int
    writer: bool
    setting: int
    often: int | None
    sample: int
    share: float
    parts: list[AskedPart]


@dataclass(frozen=True, slots=True)
class GoldUse(Record):
    """At which rate gold items are mixed in, and how many there are."""

    rate: float
    items: int


@dataclass(frozen=True, slots=True)
class ReviewedAgreement(Record):
    """What one review found: the share of judgements that agree with the others, and how many judges it caught."""

    at: datetime
    judgements: int
    agreement: float | None
    caught: int


@dataclass(frozen=True, slots=True)
class JudgedConfusion(Record):
    """What judges said (columns) where the label is what the rows say."""

    labels: list[str]
    rows: list[list[int]]


@dataclass(frozen=True, slots=True)
class Judge(Record):
    """A judge: *agreement* with the others, *accuracy* and *gold* are estimates.

    *qualified* says whether they may take pages; *set_aside* whether their judgements in this validation count no more.
    """

    worker: str
    judgements: int
    compared: int
    agreement: Estimate
    accuracy: Estimate
    gold: Estimate
    gold_seen: int
    median_seconds: float | None
    patterns: list[str]
    qualified: bool
    set_aside: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Judges(Record):
    """A page of the judges of a validation, the lowest accuracy first: *total* are all of them."""

    judges: list[Judge]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class Rates(Record):
    """vMER and aimed success of some items. *aimed_success* is None where nobody aimed, or at no model."""

    collected: int
    validated: int
    errors: int
    vmer: Estimate
    written: int
    successes: int
    aimed_success: Estimate | None


@dataclass(frozen=True, slots=True)
class ModelRates(Rates):
    """The rates of the items that one model answered."""

    model: str


@dataclass(frozen=True, slots=True)
class WorkerRates(Rates):
    """The rates of the items that one person wrote."""

    worker: str


@dataclass(frozen=True, slots=True)
class LabelRates(Rates):
    """The rates of the items that aim at one label."""

    label: str


@dataclass(frozen=True, slots=True)
class ErrorRates(Rates):
    """The rates of a validation: over all, and by model, writer and label."""

    models: list[ModelRates]
    workers: list[WorkerRates]
    labels: list[LabelRates]


@dataclass(frozen=True, slots=True)
class Batch(Record):
    """How far one batch is."""

    batch: int
    slots: int
    filled: int
    done: bool


@dataclass(frozen=True, slots=True)
class JudgedAgreement(Record):
    """How far judges agree, by every statistic, and what that rests on; before there are judgements, the *reason*."""

    reason: str | None = left_out()
    krippendorff_alpha: KeptEstimate | None = left_out()
    fleiss_kappa: KeptEstimate | None = left_out()
    gwet_ac1: KeptEstimate | None = left_out()
    percent_agreement: KeptEstimate | None = left_out()
    unanimous: KeptEstimate | None = left_out()
    four_fifths: KeptEstimate | None = left_out()
    items: int | None = left_out()
    workers: int | None = left_out()
    judgements: int | None = left_out()
    items_with_one_judgement: int | None = left_out()
    workers_never_disagreeing: int | None = left_out()
    level: str | None = left_out()


@dataclass(frozen=True, slots=True)
class Validation(Record):
    """Everything that the owner's console shows of a validation: *method* makes labels, *contested* waits for experts.

    Where more has come in than was counted, *as_of* is the time of the figures; where nothing was *counted* yet, they
    are all 0 and a worker is at it.
    """

    validation: str
    state: str
    policy: str = field(repr=False)
    method: str
    asking: Asking
    progress: ItemProgress
    forecast: Forecast
    gold: GoldUse
    agreement: JudgedAgreement
    agreement_by_review: list[ReviewedAgreement]
    labels: Mapping[str, int]
    confusion: JudgedConfusion
    judges: list[Judge]
    contested: int
    rates: ErrorRates
    batches: list[Batch]
    waiting: Waiting | None = None
    as_of: datetime | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class JudgedItem(Record):
    """An item with its votes and its label; *share* is the share of the votes that its label has."""

    id: int
    inputs: Mapping[str, Any]
    state: ItemState
    contested: bool
    label: str | None
    votes: Mapping[str, int]
    share: float | None
    by_expert: bool
    gold: bool


@dataclass(frozen=True, slots=True)
class JudgedItems(Record):
    """Some items; *total* is how many fit the filters, *counts* how many are in each state.

    Where more has come in than was counted, *as_of* is the time of the figures. Where a text was looked for and there
    are very many items, it was among the newest *searched* of them. Where nothing was *counted* yet, none are listed.
    """

    items: list[JudgedItem]
    total: int
    counts: Mapping[str, int]
    as_of: datetime | None = None
    searched: int | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class ItemsAdded(Record):
    """How many items were new, and how many were there already."""

    added: int
    repeats: int


@dataclass(frozen=True, slots=True)
class PolicyVersion(Record):
    """One state of a validation's policy, as TOML: who made it, and when."""

    version: int
    policy: str = field(repr=False)
    at: datetime
    by: str
    revision: str


@dataclass(frozen=True, slots=True)
class Policies(PolicyVersion):
    """The policy that stands, and every state that it had, the newest first."""

    versions: list[PolicyVersion]


@dataclass(frozen=True, slots=True)
class AdaptiveSetting(Record):
    """One way to set `minimum` and `adaptive.least`, with what came of it; *chosen* is that of the policy.

    *saving* is the share of judgements that would not be asked for; *changed* and *unlabelled* are shares of items.
    """

    minimum: int
    least: int
    threshold: float
    judgements: int
    chosen: bool
    saving: float
    changed: float
    unlabelled: float
    unlabelled_before: float
    right: float | None = None
    right_before: float | None = None


@dataclass(frozen=True, slots=True)
class AdaptiveForecast(Record):
    """The settings that could be taken, the policy's first.

    It rests on *items* judged here (*basis* is judgements), *drawn* from those where there are many, or on a model of
    judges of one *accuracy*.
    """

    validation: str
    switched_on: bool
    basis: Literal["judgements", "model"]
    items: int
    accuracy: float | None
    settings: list[AdaptiveSetting]
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class JudgingNote(Record):
    """Why a judge flagged or skipped an item: *kind* is flag or skip."""

    kind: str
    text: str
    worker: str
    at: datetime
    item: int
    inputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JudgingNotes(Record):
    """What judges flagged, then what they skipped."""

    notes: list[JudgingNote]


@dataclass(frozen=True, slots=True)
class Act(Record):
    """Something that was done to a validation or to one of its judges."""

    at: datetime
    actor: str
    action: str
    subject: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ValidationTrail(Record):
    """What was done to a validation and its judges, the newest first."""

    entries: list[Act]


@dataclass(frozen=True, slots=True)
class TextOutcome(Record):
    """What became of one of the writer's own texts: *distribution* has the share of the votes by label."""

    attempt: int | None
    aim: str | None
    state: str
    label: str | None
    distribution: Mapping[str, float] | None
    success: bool | None


@dataclass(frozen=True, slots=True)
class Outcomes(Record):
    """What became of what somebody wrote, the newest first: one page of *total*."""

    attempts: list[TextOutcome]
    total: int = 0
