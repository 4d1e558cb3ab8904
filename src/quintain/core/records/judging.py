"""Judging: pages and answers as judges see them, judges and gold items as their owner does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from quintain.core.records.base import Record
from quintain.core.records.figures import Estimate
from quintain.core.rounds import Money
from quintain.core.validation import UnqualifyRule

GoldState = Literal["used", "retired"]
GOLD_USES: tuple[GoldState, ...] = get_args(GoldState)


@dataclass(frozen=True, slots=True)
class SavedAnswer(Record):
    """What was saved of an answer and is not handed in yet."""

    label: str | None
    skip: str | None
    flag: str | None
    seconds: float | None
    number: int


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
    saved: SavedAnswer | None = None


@dataclass(frozen=True, slots=True)
class JudgingPage(Record):
    """A page of items that one holds until *lease_until*; all of it pays *reward*."""

    token: str
    validation: str
    lease_until: datetime
    reward: Money
    items: list[PageItem]


@dataclass(frozen=True, slots=True)
class HeldPage(Record):
    """The page that one holds; none where nothing is left."""

    page: JudgingPage | None


@dataclass(frozen=True, slots=True)
class Receipt(Record):
    """What became of a page that was handed in; *late* of those *judged* fill no slot, *left* are not answered yet."""

    judged: int
    late: int
    skipped: int
    flagged: int
    earned: Money
    left: int
    qualified: bool = True
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class SavedNumber(Record):
    """The number of what is saved now."""

    number: int


@dataclass(frozen=True, slots=True)
class Lease(Record):
    """How long a page is held now, and how many slots it still holds."""

    lease_until: datetime
    held: int


@dataclass(frozen=True, slots=True)
class Contested(Record):
    """An item on which judges disagree, with the *labels* that an expert may give, and the one it has without."""

    id: int
    inputs: Mapping[str, Any]
    answer: Any
    labels: list[str]
    votes: Mapping[str, int]
    label: str | None
    share: float


@dataclass(frozen=True, slots=True)
class ContestedItems(Record):
    """The items on which judges disagree most."""

    items: list[Contested]


@dataclass(frozen=True, slots=True)
class Gold(Record):
    """A gold item and how judges do on it.

    *quiz* is the quiz that asks about it, if one does: who took that knows the label, so that it is not shown again.
    """

    id: int
    inputs: Mapping[str, Any]
    label: str
    note: str
    shown: int
    answered: int
    right: int
    accuracy: Estimate
    retired: bool
    quiz: str = ""


@dataclass(frozen=True, slots=True)
class GoldItems(Record):
    """Some gold items; *total* is how many fit the filters, *use* how many are used and how many retired.

    Where they are sorted by accuracy and more has come in than was counted, *as_of* is the time of the figures.
    """

    gold: list[Gold]
    total: int
    use: Mapping[str, int]
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class GoldAdded(Record):
    """How many gold items are new."""

    added: int


@dataclass(frozen=True, slots=True)
class GoldLabel(Record):
    """The label of a gold item."""

    label: str


@dataclass(frozen=True, slots=True)
class QuizName(Record):
    """The name of a quiz."""

    quiz: str


@dataclass(frozen=True, slots=True)
class JudgeEstimate(Record):
    """What one review found of a judge."""

    at: datetime
    judgements: int
    compared: int
    agreed: int
    gold_seen: int
    gold_right: int
    accuracy: float


@dataclass(frozen=True, slots=True)
class Standing(Record):
    """One change of a judge's standing in a validation; what was judged up to *set_aside_through* counts no more."""

    at: datetime
    qualified: bool
    rule: str
    reason: str
    set_aside_through: int


@dataclass(frozen=True, slots=True)
class QualificationChange(Record):
    """One change of a judge's qualification for the whole task."""

    at: datetime
    held: bool
    reason: str


@dataclass(frozen=True, slots=True)
class JudgeHistory(Record):
    """All that happened to a judge: what *reviews* found, *standings* here, *qualifications* of the whole task."""

    worker: str
    reviews: list[JudgeEstimate]
    standings: list[Standing]
    qualifications: list[QualificationChange] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JudgeReview(Record):
    """What a review of the judges found: *caught* names who was (or, not *applied*, would be) unqualified, and why.

    Where there are too many judgements to wait for, *job* is the number of the job that reviews, and nothing is known.
    """

    judgements: int
    judges: int
    caught: Mapping[str, str]
    applied: bool
    opened: int
    bonuses: int
    clean: bool
    job: int | None = None


@dataclass(frozen=True, slots=True)
class RulePower(Record):
    """How often a rule catches somebody after so many judgements: a random clicker, and an honest judge.

    *clicker* chooses evenly among the labels; *honest* agrees as often as the median judge.
    """

    judgements: int
    clicker: float
    honest: float


@dataclass(frozen=True, slots=True)
class Unqualified(Record):
    """Who was unqualified, and how many slots are *opened* again: what they judged is collected anew."""

    unqualified: list[str]
    opened: int


@dataclass(frozen=True, slots=True)
class RuleEffect(Record):
    """Whom a rule catches, and how well it tells clickers from the honest; *opened* slots are judged anew.

    *unqualified* names those who were unqualified: nobody, where the rule was only tried. A *weak* rule misses many
    clickers even after many judgements, since with so many *labels* they agree by chance; *better* is one that catches
    95 % of them after *better_needed* judgements, where there is one.
    """

    rule: UnqualifyRule
    workers: list[str]
    judgements: int
    power: list[RulePower]
    judgements_needed: int | None
    weak: bool
    advice: str
    labels: int
    better: UnqualifyRule | None = None
    better_needed: int | None = None
    unqualified: list[str] = field(default_factory=list)
    opened: int = 0


@dataclass(frozen=True, slots=True)
class JudgingEntry(Record):
    """The address that a panel sends judges of a validation to, with the panel's own places for ids."""

    validation: str
    url: str
