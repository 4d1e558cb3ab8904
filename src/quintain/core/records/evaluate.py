"""How models did: answers, comparisons, overlap, and the runs behind results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Estimate

SIGNIFICANT = 0.05
AnswerState = Literal["right", "wrong", "failed", "answered"]


@dataclass(frozen=True, slots=True)
class CostEstimate(Record):
    """How many calls runs will make at most, and what they cost: about, with replies of a word, and at most."""

    calls: int
    input_tokens: int
    cost: float
    cost_at_most: float
    budget: float | None = None

    def __str__(self) -> str:
        """Return it as a sentence."""
        sentence = f"up to {self.calls:,} calls with about {self.input_tokens:,} tokens of prompts"
        if self.cost_at_most:
            sentence += f", which cost about {self.cost:.4g}, and {self.cost_at_most:.4g} at most"
        return sentence if self.budget is None else f"{sentence}; the budget is {self.budget:.4g}"


@dataclass(frozen=True, slots=True)
class Flip(Record):
    """An example whose answer changed with its wording: where it changed, and from which answer to which.

    Each of *fields* is cut into pieces that stayed, went or came. For those who may not read what a perturbation made
    of it, it is whole, as it was before; *after* is then None unless it is a label or a number.
    """

    id: str
    family: str
    group: str | None
    fields: Mapping[str, list[tuple[Literal["same", "removed", "added"], str]]]
    inputs: Mapping[str, Any]
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Flips(Record):
    """A page of flips, how many there are, and by which families and groups they can be filtered.

    *texts* says whether who asks may read what perturbations made of the examples: the task's owners do.
    """

    flips: list[Flip]
    total: int
    families: list[str]
    groups: list[str]
    texts: bool = True


@dataclass(frozen=True, slots=True)
class GivenSample(Record):
    """One of several answers to the same example; what is in words is None for those who may not read the log."""

    answer: Any
    outcome: str
    reason: str | None = None
    reply: str | None = None
    thoughts: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class GivenAnswer(Record):
    """What a model made of one example. *gold* and *score* are None for those who may not see the label.

    *state* is `answered` where right and wrong are not known, or not told; *outcome* tells refusals, replies that were
    cut off and those that hold no answer from failures. *reason*, *prompt*, *reply* and *thoughts* are in the model's
    words, or its builder's, and None for those who may not read its log. *samples* are the single answers, in the order
    in which they were asked, where there are several.
    """

    id: str
    inputs: Mapping[str, Any]
    state: AnswerState
    answer: Any
    gold: Any = None
    score: float | None = None
    probabilities: Mapping[str, float | None] | None = None
    reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    prompt: str | None = None
    reply: str | None = None
    outcome: str | None = left_out()
    thoughts: str | None = left_out()
    samples: list[GivenSample] | None = left_out()


@dataclass(frozen=True, slots=True)
class Answers(Record):
    """Some answers of a model; *total* is how many fit the filters, *gold* whether one may see what is right."""

    answers: list[GivenAnswer]
    total: int
    offset: int
    gold: bool = False


@dataclass(frozen=True, slots=True)
class PairedEstimate(Estimate):
    """A difference with its interval, and the two-sided bootstrap p-value of there being none."""

    p_value: float = 1.0


@dataclass(frozen=True, slots=True)
class McNemar(Record):
    """How many examples only the first and only the second model has right, and the exact two-sided p-value."""

    first_only: int
    second_only: int
    p_value: float


@dataclass(frozen=True, slots=True)
class DatasetComparison(Record):
    """Two models on one data set: what each reached, their difference, what tests say of it.

    *more_examples_needed* would settle it, *examples_needed* in all.
    """

    dataset: str
    hidden: bool
    rows: int
    metric: str
    first: float | None
    second: float | None
    difference: PairedEstimate
    mcnemar: McNemar
    examples_needed: int | None
    more_examples_needed: int | None
    answers_differ: int

    @property
    def separated(self) -> bool:
        """Whether the paired bootstrap tells the two apart at the five-percent level."""
        return self.difference.p_value < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Comparison(Record):
    """Two models on every data set that both have been run on."""

    task: str
    first: str
    second: str
    datasets: list[DatasetComparison]


@dataclass(frozen=True, slots=True)
class AnswerDifference(Record):
    """One example that two models answer differently."""

    id: str
    inputs: Mapping[str, Any]
    gold: Any
    first: Any
    second: Any
    first_score: float
    second_score: float


@dataclass(frozen=True, slots=True)
class AnswerDifferences(Record):
    """Examples that two models answer differently, and how many there are."""

    examples: list[AnswerDifference]
    total: int


@dataclass(frozen=True, slots=True)
class AlikePair(Record):
    """An evaluation example and the training example that it is like."""

    test: str
    train: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Overlap(Record):
    """How many of the evaluation examples are in the training data, exactly or nearly, and the *share* of both."""

    train: str
    test: str
    train_rows: int
    test_rows: int
    exact: int
    near: int
    share: float
    threshold: float
    pairs: list[AlikePair] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Overlaps(Record):
    """How much of each evaluation set is in a model's training data."""

    model: str
    overlaps: list[Overlap]


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
    waits_for: str
    worker: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Runs(Record):
    """Some runs of a task; *total* is how many fit the filters."""

    cells: list[Run]
    total: int
    offset: int

    @property
    def runs(self) -> list[Run]:
        """The runs, which JSON calls cells."""
        return self.cells


@dataclass(frozen=True, slots=True)
class RunEvent(Record):
    """Something that happened to a run; its text is for those who may read the log."""

    at: datetime
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class RunReport(Record):
    """A run, why it is as it is, its place in the queue, and what happened to it."""

    summary: str
    cell: Run | None = None
    ahead: int | None = None
    wait_seconds: float | None = None
    events: list[RunEvent] = field(default_factory=list)

    @property
    def run(self) -> Run | None:
        """The run, which JSON calls a cell."""
        return self.cell
