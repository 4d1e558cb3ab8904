"""Tasks, data sets and models, as everybody sees them who may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from quintain.core.records.base import Record
from quintain.core.records.evaluate import CostEstimate
from quintain.core.task import Label

Visibility = Literal["public", "private", "anonymous"]
InputsPolicy = Literal["open", "request", "never"]


@dataclass(frozen=True, slots=True)
class TaskSummary(Record):
    """A task in a list."""

    name: str
    kind: str
    title: Mapping[str, str]
    labels: list[str]
    languages: list[str]
    canonical_metric: str
    version: int
    created_at: datetime
    changed_at: datetime
    archived: bool


@dataclass(frozen=True, slots=True)
class Tasks(Record):
    """All tasks."""

    tasks: list[TaskSummary]


@dataclass(frozen=True, slots=True)
class TaskField(Record):
    """One input of an example."""

    name: str
    type: str
    title: str
    required: bool
    max_length: int | None


@dataclass(frozen=True, slots=True)
class TaskInfo(Record):
    """A task: what is asked."""

    name: str
    kind: str
    title: Mapping[str, str]
    labels: tuple[Label, ...]
    extra_labels: tuple[Label, ...]
    fields: tuple[TaskField, ...]
    answer_type: str
    instructions: Mapping[str, str]
    content_warning: Mapping[str, str]
    languages: list[str]
    metrics: list[str]
    canonical_metric: str
    options: Mapping[str, Any]
    revision: str = ""
    counted_perturbations: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TaskChange(Record):
    """One state of a task's file: its number from 1, the TOML as given, by whom and when."""

    number: int
    toml: str
    by: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class TaskHistory(Record):
    """All states of a task's file, the newest first."""

    versions: list[TaskChange]


@dataclass(frozen=True, slots=True)
class Hit(Record):
    """Something that was found; *url* is its page within the application, *text* what it says of itself."""

    title: str
    detail: str
    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Found(Record):
    """What a search found."""

    tasks: tuple[Hit, ...] = ()
    datasets: tuple[Hit, ...] = ()
    models: tuple[Hit, ...] = ()
    rounds: tuple[Hit, ...] = ()
    people: tuple[Hit, ...] = ()

    @property
    def total(self) -> int:
        """How many things were found."""
        return sum(map(len, (self.tasks, self.datasets, self.models, self.rounds, self.people)))


@dataclass(frozen=True, slots=True)
class Step(Record):
    """A step of a version's lineage: the other version, and how one was made from the other."""

    ref: str
    how: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DatasetVersion(Record):
    """One version of a data set; *scores* says whether the data set scores, *readable* whether you may read its inputs.

    *new* is false where an import found that it was there already.
    """

    ref: str
    task: str
    dataset: str
    number: int
    hash: str
    role: str
    hidden: bool
    rows: int
    scores: bool
    language: str
    description: str
    meta: Mapping[str, Any]
    created_at: datetime
    parents: tuple[Step, ...]
    children: tuple[Step, ...]
    new: bool = True
    readable: bool = True


@dataclass(frozen=True, slots=True)
class InputRequest(Record):
    """Somebody asked to read the inputs of a data set; *state* is waiting, granted, declined or revoked."""

    id: int
    name: str
    why: str
    state: str
    asked_at: datetime
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class DatasetInputs(Record):
    """Who may read the inputs of a data set: everybody (open), whom its owners let (request), or owners only (never).

    *chosen* says whether an owner chose that, *readable* whether who asks may read them, *traces* whether builders are
    told where in their code a model failed. Owners see all *requests*, others their own.
    """

    dataset: str
    inputs: InputsPolicy
    chosen: bool
    traces: bool
    readable: bool
    requests: list[InputRequest]


@dataclass(frozen=True, slots=True)
class DatasetVersions(Record):
    """The data set versions of a task."""

    datasets: list[DatasetVersion]


@dataclass(frozen=True, slots=True)
class Preview(Record):
    """Some examples of a version; *total* is how many fit the filters."""

    version: DatasetVersion
    total: int
    offset: int
    examples: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class LabelCounts(Record):
    """How often each answer occurs; empty where answers are texts or hidden."""

    labels: dict[str, int]


@dataclass(frozen=True, slots=True)
class Changes(Record):
    """How many examples, and the first of them."""

    count: int
    examples: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class DatasetDifference(Record):
    """How version *b* differs from version *a*."""

    a: str
    b: str
    added: Changes
    removed: Changes
    changed: Changes


@dataclass(frozen=True, slots=True)
class ModelVersion(Record):
    """One version of a model."""

    ref: str
    task: str
    model: str
    number: int
    hash: str
    adapter: str
    visibility: Visibility
    owner: str | None
    created_at: datetime
    withdrawn_at: datetime | None
    meta: Mapping[str, Any]
    revision: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Model(Record):
    """A model with its versions, the newest first, and the card of the one asked for."""

    task: str
    name: str
    owner: str | None
    visibility: Visibility
    created_at: datetime
    version: ModelVersion
    versions: list[ModelVersion]
    card: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Models(Record):
    """A page of the models of a task, by their names: *total* are all that one may see."""

    models: list[Model]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class ModelPrediction(Record):
    """What a model said to one example."""

    answer: Any
    probabilities: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Predictions(Record):
    """What a model said, in the order of the inputs."""

    model: str
    predictions: list[ModelPrediction]


@dataclass(frozen=True, slots=True)
class Upload(Record):
    """How far an upload is: the next part begins at byte *received*."""

    id: str
    size: int
    received: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Submission(ModelVersion):
    """The version that was made, how many cells were queued, and how many submissions are left today.

    *new* is False where the same content was there already. *estimate* says how many calls the runs of a chat model may
    make, and what they may cost. *trial* is `queued` where a worker tries the model on a few examples first; its cells
    are queued after that.
    """

    new: bool
    cells: int
    left_today: int | None
    trial: str
    estimate: CostEstimate | None


@dataclass(frozen=True, slots=True)
class Quota(Record):
    """How many models the caller may still submit to the task today; null where there is no limit."""

    left_today: int | None
