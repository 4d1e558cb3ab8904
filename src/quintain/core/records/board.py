"""Boards as everybody sees them: every figure, the owner's settings, and what people keep of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Figure, Gap, KeptEstimate, RunCounts


@dataclass(frozen=True, slots=True)
class BoardAxis(Record):
    """One column of a board: its *unit*, whether *lower* is better, and the *cap* beyond which nothing ranks.

    A *pooled* column has one figure for each model, over all rounds, instead of one on each data set.
    """

    name: str
    title: str
    unit: str
    lower: bool
    cap: float | None
    pooled: bool


@dataclass(frozen=True, slots=True)
class BoardWarning(Record):
    """Why a data set is weak ground for a ranking, in a *text*; *labels* are those that it concerns."""

    kind: str
    text: str
    units: int
    labels: list[str]


@dataclass(frozen=True, slots=True)
class BoardDataset(Record):
    """A data set of a board; one of *weight* 0 is shown without scoring.

    Axes are averaged over the data sets where they apply; *inapplicable* names those that do not here.
    """

    ref: str
    name: str
    hash: str
    role: str
    language: str
    rows: int
    weight: float
    warnings: list[BoardWarning] = field(default_factory=list)
    inapplicable: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RoundModel(Record):
    """How a model did in a round: items *collected* against it, how many were validated *errors*, and the rate."""

    model: str
    name: str
    collected: int
    errors: int
    vmer: KeptEstimate


@dataclass(frozen=True, slots=True)
class RoundBest(Record):
    """The model with the lowest rate in a round, and what it reaches: one minus that rate."""

    model: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class BoardRound(Record):
    """A round as its newest review left it. *human* is how often one judge says what most of the others say."""

    round: str
    title: str
    at: datetime
    collected: int
    validated: int
    human: KeptEstimate | None
    best: RoundBest | None
    models: list[RoundModel]


@dataclass(frozen=True, slots=True)
class ComingModel(Record):
    """A model that came after the ranking that is shown, and how many *runs* of its own it needs."""

    model: str
    runs: RunCounts


@dataclass(frozen=True, slots=True)
class BoardModel(Record):
    """A row of a board: for each axis a figure on each data set or, where there is none, in *gaps* the reason.

    *pooled* has the figures of axes that have one over all rounds; *cannot* names axes on which such a model never has
    one. A row that stands for several *seeds* has their references. *runs* counts what figures need on each data set.
    *newer* is the version that will stand here once it has been run: until then, the one before keeps its place.
    """

    ref: str
    name: str
    version: int
    hash: str
    owner: str | None
    visibility: str
    adapter: str
    predictions_only: bool
    family: str | None
    created_at: datetime
    values: Mapping[str, list[Figure | None]]
    pooled: Mapping[str, Figure | None] = field(default_factory=dict)
    gaps: Mapping[str, list[Gap | None]] = field(default_factory=dict)
    runs: list[RunCounts] = field(default_factory=list)
    cannot: list[str] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    newer: ComingModel | None = left_out()


@dataclass(frozen=True, slots=True)
class BoardMachine(Record):
    """The class of machine whose measurements rank, whether the owner *named* it, and how many models each class has.

    Without a name it is the class on which most models were measured and, of several, the one used last.
    """

    name: str | None = None
    named: bool = False
    models: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HeldRanking(Record):
    """The last complete ranking, of *at*, is shown while *runs* of the next one are to come.

    So many *models* came since; they are ranked with the next one, and *coming* has each with its runs.
    """

    at: datetime
    runs: RunCounts
    models: int
    coming: list[ComingModel] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Board(Record):
    """Everything that a ranking is made from, and the owner's default weights.

    `models[i].values[axis][j]` is what model i reached on `datasets[j]`, or None, and then `models[i].gaps[axis][j]`
    says why. *provisional* is true while *runs* that the order rests on are to come; *machine* is the class of machine
    on which throughput and memory rank. *rate* says what an exchange rate is of those of neighbours: mean or median.
    Where it is *held*, it is the last complete one, until the next is complete.
    """

    task: str
    metric: str
    tag: str | None
    language: str | None
    tags: list[str]
    languages: list[str]
    axes: list[BoardAxis]
    datasets: list[BoardDataset]
    rounds: list[BoardRound]
    models: list[BoardModel] = field(repr=False)
    weights: Mapping[str, float]
    epsilon: float | None
    human: float | None
    frozen_at: datetime | None
    made_at: datetime
    provisional: bool = False
    runs: RunCounts = field(default_factory=RunCounts)
    machine: BoardMachine = field(default_factory=BoardMachine)
    frozen_until: str | None = None
    rate: str = "mean"
    held: HeldRanking | None = None


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
    failure_limit: float = 0.05
    rate: str = "mean"
    refusals: str = "wrong"
    languages: Mapping[str, float] = field(default_factory=dict)
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Remeasured(Record):
    """How many measurements were queued again, and for what class of machine they wait."""

    machine: str
    queued: int


@dataclass(frozen=True, slots=True)
class QueuedRuns(Record):
    """How many runs were queued on a *dataset*; none where all are there already."""

    dataset: str
    queued: int


@dataclass(frozen=True, slots=True)
class BoardView(Record):
    """What a reader chose: weights of axes and data sets, ε, the base metric, exchange rates by hand, their *rate*.

    What is left out is as the owner has it.
    """

    weights: Mapping[str, float] | None = left_out()
    datasets: Mapping[str, float] | None = left_out()
    epsilon: float | None = left_out()
    base: str | None = left_out()
    amrs: Mapping[str, float] | None = left_out()
    rate: str | None = left_out()

    def keys(self) -> list[str]:
        """Name what was chosen, so that `client.rank(task, **fork.view)` ranks by it."""
        return [item.name for item in fields(self) if getattr(self, item.name) is not None]


@dataclass(frozen=True, slots=True)
class Fork(Record):
    """A view that somebody keeps under a name."""

    name: str
    owner: str | None
    view: BoardView
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
