"""What the API sends and takes about boards."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from quintain.web.api.shapes import Shape, Text

ExportKind = Literal["csv", "json", "latex", "markdown", "harness", "model-index"]


class EstimateShape(Shape):
    """A figure with its interval."""

    value: float
    low: float | None = None
    high: float | None = None


class RankedModelShape(Shape):
    """A model's place; without a rank, the reason."""

    model: str
    name: str
    dynascore: float | None
    rank: int | None
    values: dict[str, EstimateShape | None]
    reason: str | None = None


class RunsShape(Shape):
    """How many runs figures need, how many of them are done, and how many are still to come."""

    needed: int
    done: int
    waiting: int


class MachineShape(Shape):
    """The class of machine whose measurements rank, whether the owner named it, and how many models each class has."""

    name: str | None
    named: bool
    models: dict[str, int]


class RemeasuredShape(Shape):
    """How many measurements were queued again, and for what class of machine they wait."""

    machine: str
    queued: int


class ScoringChange(Shape):
    """Whether a data set scores."""

    scores: bool


class RankedShape(Shape):
    """A board in the order of one view; it is provisional while runs behind it are still to come.

    *worth* is what one unit of an axis is worth in units of the base; *amounts* are those by which models here differ.
    """

    task: str
    provisional: bool
    runs: RunsShape
    machine: MachineShape
    models: list[RankedModelShape]
    amrs: dict[str, float | None]
    weights: dict[str, float]
    datasets: dict[str, float]
    warnings: dict[str, list[str]]
    epsilon: float
    base: str
    worth: dict[str, float | None]
    amounts: dict[str, float]
    notes: dict[str, str]


class RankRangeShape(Shape):
    """A rank with its interval."""

    value: int
    low: int
    high: int


class SureModelShape(Shape):
    """How sure one model's place is; models of one group cannot be told apart from its best."""

    model: str
    rank: RankRangeShape
    dynascore: EstimateShape
    group: int


class SurePairShape(Shape):
    """Two neighbours: how probably the first is above, and how many more examples would settle it."""

    first: str
    second: str
    probability: float
    difference: EstimateShape
    more: int | None


class UncertaintyShape(Shape):
    """How sure a ranking is; `above[i][j]` is the probability that model i is above model j."""

    examples: int
    resamples: int
    models: list[SureModelShape]
    above: list[list[float]]
    pairs: list[SurePairShape]


class AggregateShape(Shape):
    """A score and a rank by one aggregation."""

    score: float | None
    rank: int | None


class AggregatedModelShape(Shape):
    """A model by every aggregation."""

    model: str
    name: str
    pareto: bool
    aggregates: dict[str, AggregateShape]


class AggregationsShape(Shape):
    """All aggregations side by side."""

    aggregations: list[str]
    models: list[AggregatedModelShape]


class RangeShape(Shape):
    """From where to where the leader leads; no `high` where there is no end."""

    value: float
    low: float
    high: float | None


class PoolShape(Shape):
    """What the board would be without one model."""

    without: str
    largest: float
    leader: str | None
    leader_changes: bool
    changes: dict[str, float]


class SensitivityShape(Shape):
    """What the leader's lead hangs on."""

    leader: str | None
    weights: dict[str, RangeShape]
    epsilon: RangeShape | None
    pool: list[PoolShape]


class SliceShape(Shape):
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


class BoardModelShape(Shape):
    """One row of the board, by data set and slice."""

    model: str
    name: str
    slices: dict[str, list[SliceShape]]


class BoardSettingsShape(Shape):
    """What an owner sets for a board."""

    datasets: dict[str, float]
    weights: dict[str, float]
    caps: dict[str, float]
    metric: str | None
    models: list[str]
    hidden_models: list[str]
    epsilon: float | None
    human: float | None
    freeze_until: str | None
    machine: str | None


class ForkChange(Shape):
    """A view to keep, and its name."""

    name: Text
    weights: dict[str, float] | None = None
    datasets: dict[str, float] | None = None
    epsilon: float | None = None
    base: Text | None = None
    amrs: dict[str, float] | None = None


class ForkShape(Shape):
    """A view that somebody keeps under a name."""

    name: str
    owner: str | None
    view: dict[str, Any]
    created_at: datetime


class ForksShape(Shape):
    """The views that people keep."""

    forks: list[ForkShape]


class SnapshotRequest(Shape):
    """What to call a snapshot."""

    title: Text = ""


class SnapshotShape(Shape):
    """A frozen copy of a board; *key_id* is the key that signed it."""

    hash: str
    title: str
    created_at: datetime
    key_id: str | None


class KeyShape(Shape):
    """The public part of a key that snapshots are signed with (Ed25519, base64)."""

    key_id: str
    public_key: str
    created_at: datetime
    replaced_at: datetime | None


class KeysShape(Shape):
    """The keys, the one that signs now first."""

    keys: list[KeyShape]


class SnapshotsShape(Shape):
    """The frozen copies, newest first."""

    snapshots: list[SnapshotShape]
