"""What the client gives back about boards, results, runs and rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from quintain.client.shapes import Record


@dataclass(frozen=True, slots=True)
class Estimate(Record):
    """A figure with its interval, where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


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
class Ranking(Record):
    """A board in the order of one view of it."""

    task: str
    models: list[RankedModel]
    amrs: Mapping[str, float | None]
    weights: Mapping[str, float]
    datasets: Mapping[str, float]
    epsilon: float
    base: str
    worth: Mapping[str, float | None]
    notes: Mapping[str, str]
    provisional: bool = False
    runs: Mapping[str, int] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    warnings: Mapping[str, list[str]] = field(default_factory=dict)
    amounts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Uncertainty(Record):
    """How sure a ranking is; `above[i][j]` is the probability that model i is above model j.

    A model has `model`, `rank` and `dynascore` (each `value`, `low`, `high`) and the `group` of those that cannot be
    told apart; a pair has `first`, `second`, `probability`, `difference`, and how many `more` examples would settle it.
    """

    examples: int
    resamples: int
    models: list[dict[str, Any]]
    above: list[list[float]]
    pairs: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Fork(Record):
    """A view that somebody keeps under a name: `view` has what differs from the owner's (`weights`, `datasets`, …)."""

    name: str
    owner: str | None
    view: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Snapshot(Record):
    """A frozen copy of a board; *key_id* is the key that signed it."""

    hash: str
    title: str
    created_at: datetime
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class SigningKey(Record):
    """The public part of a key that snapshots are signed with (Ed25519, base64)."""

    key_id: str
    public_key: str
    created_at: datetime
    replaced_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SnapshotCheck(Record):
    """What a server says of a snapshot's file; *key_id* is the key that signed it, None where it is not signed."""

    hash: str
    task: str
    key_id: str | None
    intact: bool
    signed: bool
    published: bool
    kept: bool

    @property
    def ok(self) -> bool:
        """Whether it is this server's: unchanged, signed with a key of the server's, and kept there."""
        return self.intact and self.signed and self.published and self.kept


@dataclass(frozen=True, slots=True)
class DatasetResult(Record):
    """A model's results on one data set version. Rates are fractions, memory is in GiB.

    *examples* are those of its *rows* that have a gold answer, on which the metrics rest.
    """

    dataset: str
    role: str
    rows: int
    hidden: bool
    metrics: Mapping[str, Any]
    slices: list[dict[str, Any]]
    confusion: Mapping[str, Any] | None
    measurements: Mapping[str, Any]
    robustness: Mapping[str, Any] | None
    fairness: Mapping[str, Any] | None
    states: Mapping[str, str]
    cells: Mapping[str, int]
    examples: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    gaps: Mapping[str, Any] = field(default_factory=dict)
    runs: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run(Record):
    """One model on one variant of one data set; *state* is queued, running, done, failed or cancelled.

    *waits_for* is `sandbox` where no worker has yet been seen that may run the model.
    """

    id: int
    task: str
    model: str
    dataset: str
    variant: str
    state: str
    done: int
    total: int
    attempts: int
    reason: str
    worker: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    waits_for: str = ""


@dataclass(frozen=True, slots=True)
class GivenAnswer(Record):
    """What a model made of one example. *state* is right, wrong, failed, or answered where gold is not known or hidden.

    *reason*, *prompt* and *reply* are for those who may read the model's log.
    """

    id: str
    inputs: Mapping[str, Any]
    state: str
    answer: Any
    gold: Any
    score: float | None
    probabilities: Mapping[str, float] | None
    reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    prompt: str | None
    reply: str | None


@dataclass(frozen=True, slots=True)
class Answers(Record):
    """Some answers of a model; *total* is how many fit the filters."""

    answers: list[GivenAnswer]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class Runs(Record):
    """Some runs of a task; *total* is how many fit the filters."""

    runs: list[Run]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class RunReport(Record):
    """A run, why it is as it is, and its events (`at`, `kind`, `text`); texts are for those who may read its log."""

    summary: str
    run: Run | None
    ahead: int | None
    wait_seconds: float | None
    events: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Round(Record):
    """A round: what it asks, as TOML, and where it stands (draft, open or closed)."""

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


@dataclass(frozen=True, slots=True)
class Counters(Record):
    """How a round goes; each line of a `by_` list has `name`, `attempts`, `fooled`, `rate`, `low` and `high`."""

    round: str
    state: str
    attempts: int
    fooled: int
    rate: float | None
    retracted: int
    workers: int
    flags: int
    sessions: Mapping[str, int]
    prompts: Mapping[str, int]
    by_worker: list[dict[str, Any]]
    by_prompt: list[dict[str, Any]]
    by_label: list[dict[str, Any]]
    by_condition: list[dict[str, Any]]
    by_number: list[dict[str, Any]]
    by_hour: list[dict[str, Any]]
    low: float | None = None
    high: float | None = None
