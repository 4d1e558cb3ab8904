"""Training: what came of a recipe, and what inoculation showed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from quintain.core.records.base import Record, left_out


@dataclass(frozen=True, slots=True)
class MixedSource(Record):
    """What was taken of a source: *rows* of those that it *has*, as *examples* after copies and votes, by label."""

    name: str
    hash: str
    has: int
    rows: int
    copies: int
    weight: float
    labels: str
    examples: int
    by_label: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class DevFigures(Record):
    """How a model did on one dev set: F1 by label and their mean; none for a label that does not occur."""

    name: str
    rows: int
    f1: Mapping[str, float | None]
    macro_f1: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class TrainedModel(Record):
    """A model that came of a recipe: its version in the workspace, or the folder that it was written to.

    *share* is how much of training it has seen, None for the end; *epochs* were gone through, and *best* is the one
    that was kept where they were compared. *dev* has its figures; checkpoints have none.
    """

    ref: str
    folder: str
    seed: int
    share: float | None
    epochs: int
    best: int | None
    dev: Sequence[DevFigures] = ()


@dataclass(frozen=True, slots=True)
class InoculationPoint(Record):
    """How a model that went on with *size* examples did on one data set; *original* ones are those it stopped by.

    It was measured on so many *examples*; those of before this was kept do not say.
    """

    size: int
    dataset: str
    original: bool
    epochs: int
    f1: Mapping[str, float | None]
    macro_f1: float
    examples: int | None = left_out()


@dataclass(frozen=True, slots=True)
class Inoculation(Record):
    """What growing parts of the data do to a model; size 0 is the model as it was."""

    model: str
    patience: int
    labels: Sequence[str]
    points: Sequence[InoculationPoint]


@dataclass(frozen=True, slots=True)
class TrainingResult(Record):
    """What came of a recipe. *cells* were queued for its models; *notes* are what the cards warn of."""

    task: str
    name: str
    learner: str
    examples: int
    mix: Sequence[MixedSource]
    models: Sequence[TrainedModel] = ()
    cells: int = 0
    notes: Sequence[str] = ()
    inoculation: Inoculation | None = None


@dataclass(frozen=True, slots=True)
class Training(Record):
    """A recipe that a worker trains: its *state* is queued, running, done, failed or cancelled.

    *progress* goes from 0 to 1; *reason* says why it failed. *result* is there once it is done.
    """

    id: int
    task: str
    name: str
    state: str
    progress: float
    reason: str
    recipe: str
    created_by: str | None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    result: TrainingResult | None = None


@dataclass(frozen=True, slots=True)
class Trainings(Record):
    """The trainings of a task, the newest first."""

    trainings: list[Training]


@dataclass(frozen=True, slots=True)
class Recipe(Record):
    """A recipe that comes with the program."""

    name: str
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class LearnerOption(Record):
    """An option of a learner: its default, what it *takes*, and what it means."""

    name: str
    default: int | float | str | None
    takes: str
    meaning: str


@dataclass(frozen=True, slots=True)
class LearnerInfo(Record):
    """A learner and its options."""

    name: str
    title: str
    about: str
    options: Sequence[LearnerOption] = field(default=())


@dataclass(frozen=True, slots=True)
class Recipes(Record):
    """The recipes that come with the program, and the learners that there are."""

    recipes: Sequence[Recipe]
    learners: Sequence[LearnerInfo]
