"""Boards as everybody sees them: every figure, a ranking and how sure it is, and what people keep of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quintain.core.records.base import Record
from quintain.core.records.figures import Estimate


@dataclass(frozen=True, slots=True)
class Board(Record):
    """Everything that a ranking is made from, and the owner's default weights.

    `models[i]["values"][axis][j]` is what model i reached on `datasets[j]`: `value`, `low` and `high`, or None, and
    then `models[i]["gaps"][axis][j]` says why. *provisional* is true while *runs* that the order rests on are to come;
    *machine* is the class of machine on which throughput and memory rank.
    """

    task: str
    metric: str
    tag: str | None
    language: str | None
    tags: list[str]
    languages: list[str]
    axes: list[dict[str, Any]]
    datasets: list[dict[str, Any]]
    rounds: list[dict[str, Any]]
    models: list[dict[str, Any]] = field(repr=False)
    weights: Mapping[str, float]
    epsilon: float | None
    human: float | None
    frozen_at: datetime | None
    made_at: datetime
    provisional: bool = False
    runs: Mapping[str, int] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    frozen_until: str | None = None


@dataclass(frozen=True, slots=True)
class RankedModel(Record):
    """A model's place; without a rank, the reason. *values* has one figure per axis."""

    model: str
    name: str
    dynascore: float | None
    rank: int | None
    values: Mapping[str, Estimate | None]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RunCounts(Record):
    """How many runs figures need, how many of them are done, and how many are still to come."""

    needed: int
    done: int
    waiting: int


@dataclass(frozen=True, slots=True)
class BoardMachine(Record):
    """The class of machine whose measurements rank, whether the owner named it, and how many models each class has."""

    name: str | None
    named: bool
    models: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Ranking(Record):
    """A board in the order of one view of it; it is provisional while runs behind it are still to come.

    *worth* is what one unit of an axis is worth in units of the base; *amounts* are those by which models here differ.
    *models* are one page of *total*.
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
    """Two neighbours: how probably the first is above, and how many *more* examples would settle it."""

    first: str
    second: str
    probability: float
    difference: Estimate
    more: int | None


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
class Aggregate(Record):
    """A score and a rank by one aggregation."""

    score: float | None
    rank: int | None


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


@dataclass(frozen=True, slots=True)
class BoardSlice(Record):
    """Performance on the examples that share a tag."""

    by: str
    name: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    at: str | None = None
    spread: float | None = None
    seeds: int | None = None


@dataclass(frozen=True, slots=True)
class BoardModelSlices(Record):
    """One row of the board, by data set and slice."""

    model: str
    name: str
    slices: Mapping[str, list[BoardSlice]]


@dataclass(frozen=True, slots=True)
class BoardSettings(Record):
    """What an owner sets for a board."""

    datasets: Mapping[str, float]
    weights: Mapping[str, float]
    caps: Mapping[str, float]
    metric: str | None
    models: list[str]
    hidden_models: list[str]
    epsilon: float | None
    human: float | None
    freeze_until: str | None
    machine: str | None


@dataclass(frozen=True, slots=True)
class Remeasured(Record):
    """How many measurements were queued again, and for what class of machine they wait."""

    machine: str
    queued: int


@dataclass(frozen=True, slots=True)
class Fork(Record):
    """A view that somebody keeps under a name: `view` has what differs from the owner's (`weights`, `datasets`, …)."""

    name: str
    owner: str | None
    view: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Forks(Record):
    """The views that people keep."""

    forks: list[Fork]


@dataclass(frozen=True, slots=True)
class Snapshot(Record):
    """A frozen copy of a board, named by the hash of its content; *key_id* is the key that signed it."""

    hash: str
    title: str
    created_at: datetime
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshots(Record):
    """The frozen copies of a board, the newest first."""

    snapshots: list[Snapshot]


@dataclass(frozen=True, slots=True)
class SigningKey(Record):
    """The public part of a key that snapshots are signed with (Ed25519, base64)."""

    key_id: str
    public_key: str
    created_at: datetime
    replaced_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SigningKeys(Record):
    """The keys, the one that signs now first."""

    keys: list[SigningKey]
