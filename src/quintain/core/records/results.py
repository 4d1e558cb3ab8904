"""How a model did on a data set: metrics, slices, confusions, what perturbations change, what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintain.core.records.base import Record, left_out
from quintain.core.records.figures import Gap, KeptEstimate, Machine, RunCounts


@dataclass(frozen=True, slots=True)
class MetricEstimate(KeptEstimate):
    """A metric and, where it has them, its *parts*, such as the classes."""

    parts: Mapping[str, KeptEstimate] | None = left_out()


@dataclass(frozen=True, slots=True)
class ResultSlice(Record):
    """The metrics on the *examples* that share one value, such as a tag.

    *one_label* is true where all of them have the same gold label, so that a macro average says something else.
    """

    by: str
    value: str
    examples: int
    metrics: Mapping[str, MetricEstimate]
    one_label: bool | None = left_out()


@dataclass(frozen=True, slots=True)
class LabelConfusion(Record):
    """How often each label (row) was answered by each (column), and how often each went unanswered."""

    labels: list[str]
    counts: list[list[int]]
    unanswered: list[int]


@dataclass(frozen=True, slots=True)
class FamilyShare(KeptEstimate):
    """The share of unchanged answers under one perturbation, or of one group, over so many *rows* (0: not known)."""

    rows: int = 0


@dataclass(frozen=True, slots=True)
class UnchangedShare(Record):
    """The share of answers that stay the same under perturbations: robustness, or fairness.

    It rests on *rows* of answers to *examples*, of so many *kinds* of change. *families* has each perturbation, also
    those that stand *beside* the figure, *groups* groups of people, *broken* those on which the model broke its run.
    """

    share: KeptEstimate
    rows: int
    examples: int
    kinds: int
    flips: int
    families: Mapping[str, FamilyShare]
    all_rows: KeptEstimate | None = left_out()
    groups: Mapping[str, FamilyShare] | None = left_out()
    beside: list[str] | None = left_out()
    broken: list[str] | None = left_out()


@dataclass(frozen=True, slots=True)
class Measurements(Record):
    """What was measured while a model answered in batches of its own size: examples per second, seconds, GiB.

    Nothing stands here before it was measured. Latency is that of requests for one example. The *half* of a figure is
    half of its 95 % interval, over repeats and *sessions*, which are processes of the model; *busy* is the share of the
    processors that others used meanwhile, *slowed* the share of its pace that the machine lost. *later* is how many
    times as much work an example took after those that were timed, on large data. *asked_again* are examples that were
    asked for once more, *unstable* those of them that were answered otherwise then. *layers* of the sandbox are those
    that held; *unlike_scored* counts, of those *compared*, the examples that were answered otherwise than in the run
    that is scored: where that is more than a changing mind explains, the figures are withheld, and only these counts
    are told.
    """

    throughput: float | None = left_out()
    throughput_spread: float | None = left_out()
    throughput_half: float | None = left_out()
    throughput_repeats: list[float] | None = left_out()
    latency_p50: float | None = left_out(without="throughput")
    latency_p95: float | None = left_out(without="throughput")
    memory: float | None = left_out(without="throughput")
    memory_spread: float | None = left_out()
    memory_half: float | None = left_out()
    memory_loading: float | None = left_out()
    memory_peak: float | None = left_out(without="throughput")
    memory_samples: int | None = left_out()
    memory_interval: float | None = left_out()
    cpu_seconds_per_example: float | None = left_out()
    joules_per_example: float | None = left_out(without="throughput")
    busy: float | None = left_out()
    slowed: float | None = left_out()
    later: float | None = left_out()
    sessions: int | None = left_out()
    examples: int | None = left_out()
    warm_up: int | None = left_out()
    batch_size: int | None = left_out()
    batch_differs: int | None = left_out()
    failed: int | None = left_out()
    asked_again: int | None = left_out()
    unstable: int | None = left_out()
    machine: Machine | str | None = left_out()
    machine_class: str | None = left_out()
    layers: list[str] | None = left_out()
    compared: int | None = left_out()
    unlike_scored: int | None = left_out()


@dataclass(frozen=True, slots=True)
class FailureBounds(Record):
    """Between which values a metric lies, as *examples* that failed are all wrong or all right."""

    examples: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SampleSpread(Record):
    """How much the answers to the same example differ: the share of *examples* with samples that do, and each metric.

    *values* are, of each metric, its value on the first sample of all examples, the second, and so on.
    """

    examples: int
    differ: float
    values: Mapping[str, list[float | None]]


@dataclass(frozen=True, slots=True)
class AskingFacts(Record):
    """How a model elsewhere was asked, what became of it and what that cost.

    *outcomes* counts the answers: answered, refused, cut (off before the answer), unreadable, failed; with several
    *samples* of an example each counts, and *reduce* says what was made of them. *method* is how answers come about.
    *served* counts replies by what the server calls its model, *fingerprints* by its version of it; *called* are the
    first and the last moment of the calls. *reasoning_tokens* are those of the tokens received that were thoughts.
    """

    outcomes: Mapping[str, int]
    requests: int
    cost: float
    samples: int
    method: str
    reduce: str | None = left_out()
    input_tokens: int | None = left_out()
    output_tokens: int | None = left_out()
    reasoning_tokens: int | None = left_out()
    served: Mapping[str, int] | None = left_out()
    fingerprints: Mapping[str, int] | None = left_out()
    called: list[str] | None = left_out()
    omitted: list[str] | None = left_out()
    spread: SampleSpread | None = left_out()


@dataclass(frozen=True, slots=True)
class DatasetResult(Record):
    """A model's results on one data set version. Rates are fractions, memory is in GiB.

    *examples* are those of its *rows* that have a gold answer, on which the metrics rest. *failed* counts, by variant,
    the examples that the model gave no usable answer to: they count as wrong, and as changed. *bounds* say, of each
    metric, what it would be with those that failed all wrong, and all right. *gaps* say of each axis without a figure
    why it has none, and *runs* how many of the runs behind the axes are done. *asked* is there of models elsewhere that
    are asked in words; *refusals* is `apart` where what was refused is left out of the metrics, and in their bounds.
    """

    dataset: str
    role: str
    rows: int
    examples: int
    hidden: bool
    metrics: Mapping[str, MetricEstimate]
    slices: list[ResultSlice]
    confusion: LabelConfusion | None
    measurements: Measurements
    robustness: UnchangedShare | None
    fairness: UnchangedShare | None
    states: Mapping[str, str]
    cells: Mapping[str, int]
    failed: Mapping[str, int] = field(default_factory=dict)
    bounds: Mapping[str, FailureBounds] = field(default_factory=dict)
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    runs: RunCounts = field(default_factory=RunCounts)
    asked: AskingFacts | None = left_out()
    refusals: str | None = left_out()


@dataclass(frozen=True, slots=True)
class ModelResults(Record):
    """A model's results on every data set version that it has been run on."""

    model: str
    datasets: list[DatasetResult]
