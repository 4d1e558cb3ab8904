"""A board in an order: the ranking, how sure it is, and what it owes to choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from quintain.core.records.base import Record, left_out
from quintain.core.records.board import BoardMachine, ComingModel, HeldRanking
from quintain.core.records.figures import Estimate, RunCounts


@dataclass(frozen=True, slots=True)
class Aggregate(Record):
    """A score and a rank by one aggregation."""

    score: float | None
    rank: int | None


@dataclass(frozen=True, slots=True)
class RatePair(Record):
    """Two neighbours that hold so large a *share* of an exchange rate, of so many *pairs*."""

    first: str
    second: str
    share: float
    pairs: int


@dataclass(frozen=True, slots=True)
class RankedModel(Record):
    """A model's place; without a rank, the reason. *values* has one figure per axis.

    Where one pair of neighbours holds more than half of a rate, *by_median* is its place by the median of the rates.
    *newer* is a version that takes its place once it has been run.
    """

    model: str
    name: str
    dynascore: float | None
    rank: int | None
    values: Mapping[str, Estimate | None]
    reason: str | None = None
    by_median: Aggregate | None = left_out()
    newer: ComingModel | None = left_out()


@dataclass(frozen=True, slots=True)
class Ranking(Record):
    """A board in the order of one view of it; it is provisional while runs behind it are still to come.

    *worth* is what one unit of an axis is worth in units of the base; *amounts* are those by which models here differ.
    *models* are one page of *total*. *over* names, for each axis, the data sets that it was averaged over; what applies
    to none of them is *dropped* for all models. *rate* says what exchange rates are of those of neighbours, and
    *dominant* which pair holds more than half of one. While the next ranking is not complete, the last one is *held*.
    Data sets that do not score and on which ranked models have not been run are *unrun*.
    """

    task: str
    models: list[RankedModel]
    amrs: Mapping[str, float | None]
    weights: Mapping[str, float]
    datasets: Mapping[str, float]
    epsilon: float
    base: str
    worth: Mapping[str, float | None]
    notes: Mapping[str, str]
    provisional: bool
    runs: RunCounts
    machine: BoardMachine
    warnings: Mapping[str, list[str]] = field(default_factory=dict)
    amounts: Mapping[str, float] = field(default_factory=dict)
    total: int = 0
    over: Mapping[str, list[str]] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    rate: str = "mean"
    dominant: Mapping[str, RatePair] = field(default_factory=dict)
    held: HeldRanking | None = None
    unrun: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RankRange(Record):
    """A rank with its interval."""

    value: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class SureModel(Record):
    """How sure one model's place is; models of one *group* cannot be told apart from its best."""

    model: str
    rank: RankRange
    dynascore: Estimate
    group: int


@dataclass(frozen=True, slots=True)
class SurePair(Record):
    """Two neighbours: how probably the first is above, and how many *more* examples would settle it.

    *through_measuring* says that their order is unsure only because speed and memory are not known sharply: what would
    settle it is to measure again, not more examples.
    """

    first: str
    second: str
    probability: float
    difference: Estimate
    more: int | None
    through_measuring: bool | None = left_out()


@dataclass(frozen=True, slots=True)
class Uncertainty(Record):
    """How sure a ranking is; `above[i][j]` is the probability that model i is above model j, of the first models.

    Where it was computed from a part of the examples, *sampled* says how many. Of a large board a worker computes it:
    *computed_at* says when, and it is *pending* while the next one is on the way; by other weights than the owner's it
    is *too_large*.
    """

    examples: int
    resamples: int
    models: list[SureModel]
    above: list[list[float]]
    pairs: list[SurePair]
    sampled: int | None = None
    computed_at: datetime | None = None
    pending: bool = False
    too_large: bool = False


@dataclass(frozen=True, slots=True)
class BoardClaim(Record):
    """Who leads a board, by what *figure* in what *unit*, and how sure that is.

    *certainty* is `settled`; `too_close` to call, `too_small` to rank on, or `unknown` while it is being computed:
    nobody leads; `alone` where one model is ranked, `unranked` where none is. *first* names the first two, *score* is
    what the first has, and *ahead* how probably it is above the second. *unranked* counts the models without a rank,
    of which nothing is claimed. Where none is ranked, *waiting* of the *needed* runs are still to come.
    """

    leader: str | None
    first: list[str]
    figure: str
    unit: str
    score: float | None
    ahead: float | None
    certainty: str
    unranked: int = 0
    waiting: int = 0
    needed: int = 0


@dataclass(frozen=True, slots=True)
class AggregatedModel(Record):
    """A model by every aggregation, under their names; *pareto* where no other one is better on all axes."""

    model: str
    name: str
    pareto: bool
    aggregates: Mapping[str, Aggregate]


@dataclass(frozen=True, slots=True)
class Aggregations(Record):
    """All aggregations side by side."""

    aggregations: list[str]
    models: list[AggregatedModel]


@dataclass(frozen=True, slots=True)
class LeadRange(Record):
    """From where to where the leader leads; no *high* where there is no end."""

    value: float
    low: float
    high: float | None


@dataclass(frozen=True, slots=True)
class PoolWithout(Record):
    """What the board would be *without* one model."""

    without: str
    largest: float
    leader: str | None
    leader_changes: bool
    changes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Sensitivity(Record):
    """What the lead of the *leader* hangs on: *weights* by axis, *epsilon*, and each model of the *pool*."""

    leader: str | None
    weights: Mapping[str, LeadRange]
    epsilon: LeadRange | None
    pool: list[PoolWithout]
