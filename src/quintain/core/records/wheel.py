"""The wheel: models against people round by round, and what came of a simulated one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from quintain.core.records.base import Record
from quintain.core.records.figures import Estimate


@dataclass(frozen=True, slots=True)
class WheelRound(Record):
    """One round of a simulated wheel: its target, what validation found, and its released test set."""

    ref: str
    target: str
    collected: int
    vmer: float | None
    train: int
    test: str
    rows: int


@dataclass(frozen=True, slots=True)
class WheelScore(Record):
    """How a model does on the test set of a round: macro F1 and the F1 of each class."""

    model: str
    test: str
    macro_f1: float
    classes: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class WheelReport(Record):
    """What came of a simulated wheel."""

    task: str
    seed: int
    models: list[str]
    rounds: list[WheelRound]
    scores: list[WheelScore]

    def score(self, model: int, round_: int) -> WheelScore:
        """Return how model number *model* does on the test set of round *round_*; they begin at 0 and 1."""
        named, test = self.models[model], self.rounds[round_ - 1].test
        return next(score for score in self.scores if score.model == named and score.test == test)


@dataclass(frozen=True, slots=True)
class ModelStanding(Record):
    """A model against people on a round's test: macro F1 of both, and how much higher that of the model is.

    *state* is `solved` (not inferior within the margin), `open` (surely inferior) or `undecided`; or why it says
    nothing: `too_few` items, or labels that are `shown`, so that the model may have learned them.
    """

    model: str
    items: int
    score: Estimate
    human: Estimate
    difference: Estimate
    state: str


@dataclass(frozen=True, slots=True)
class RoundParity(Record):
    """Whether a round is solved: its models against people, the best first.

    *state* is that of the best model; or `unreleased`, or `waiting` where no model has been run on the test yet.
    *waiting* counts the runs that are still to come. *solved_by* names the models that do as well as people.
    """

    round: str
    test: str | None
    hidden: bool
    margin: float
    state: str
    human: Estimate | None
    models: list[ModelStanding]
    solved_by: list[str]
    waiting: int


@dataclass(frozen=True, slots=True)
class TimelineScore(Record):
    """How a model does on a round's test."""

    model: str
    score: Estimate


@dataclass(frozen=True, slots=True)
class TimelineAnswers(Record):
    """How much of the *n* texts that were collected from it in a round a model answered as people agreed."""

    model: str
    n: int
    right: Estimate


@dataclass(frozen=True, slots=True)
class TimelineRound(Record):
    """A round on the timeline of its task.

    *targets* are the models that it was aimed at. *vmer* is what its newest review found, *human* what people reach on
    its released *test*, *best* the model that does best there. *state* is as in `RoundParity`; *stage* is `draft`,
    `open` or `closed`. *answered* says how the models did on what was collected, and
    *agreement* how often one judge says there what most of the others say.
    """

    ref: str
    number: int
    title: str
    at: datetime
    targets: list[str]
    collected: int
    validated: int
    vmer: Estimate | None
    test: str | None
    items: int
    human: Estimate | None
    models: list[TimelineScore]
    best: str | None
    state: str
    solved_by: list[str]
    stage: str
    answered: list[TimelineAnswers] = field(default_factory=list)
    agreement: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Timeline(Record):
    """The rounds of a task in their order, with what people and models reach on each; *margin* is what solves one."""

    task: str
    margin: float
    rounds: list[TimelineRound]


@dataclass(frozen=True, slots=True)
class Margin(Record):
    """How much lower than that of people a model's macro F1 may be for a round to count as solved."""

    task: str
    margin: float
