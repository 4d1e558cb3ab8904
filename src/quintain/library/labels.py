"""Labels, agreement, workers and human performance from judgements: tables `item, worker, label`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate
from quintain.data.in_memory import InMemoryTable, in_memory_table, source_of
from quintain.library.results import Result
from quintain.reports.charts import bar_chart, interval_chart, ranked_chart
from quintain.services.plain.labels.aggregation import (
    AggregateReport,
    Aggregating,
    Expanded,
    Expanding,
    Measuring,
    aggregate_source,
    agreement_of_source,
    expand_source,
    label_frame,
    workers_of_source,
)
from quintain.services.plain.labels.human import HumanStudy, human_performance
from quintain.services.plain.labels.judgements import JudgementReading, Repeats
from quintain.stats.agreement import STATISTICS, Level

JUDGEMENTS = ("item", "worker", "label")
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, repr=False)
class AggregatedLabels(Result):
    """One label for each item."""

    title = "Labels"
    report: AggregateReport

    @property
    def table(self) -> pl.DataFrame:
        """`item, label, confidence` and the share of each class, in the order of the judgements."""
        return label_frame(self.report.order, self.report.result)

    def content(self) -> Mapping[str, Any]:
        """Return the counts, and what the method tells beside the labels."""
        return self.report.as_dict()

    def chart(self) -> Mapping[str, Any]:
        """Draw how many items have each label."""
        return bar_chart(self.report.as_dict()["labels"], category="label", value="items")

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        counts = self.report.as_dict()
        yield f"{counts['items']:,} items by {counts['method']}"
        yield f"{counts['judgements']:,} judgements of {counts['workers']:,} workers"
        if counts["no_label"]:
            yield f"{counts['no_label']:,} without a label"


def aggregate(
    judgements: Any,
    method: str = "majority",
    *,
    gold: Any = None,
    writer: Any = None,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    repeats: Repeats = "refuse",
    everything: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> AggregatedLabels:
    """Return one label for every item, with its confidence and the share of each class.

    *judgements* is a table `item, worker, label`; *columns* maps these names to others. *method* is one of
    `quintain labels methods`, and *options* are its own, such as `minimum=3` votes of a majority. *gold* and *writer*
    are labels that are known: the name of a column, a table `item, label`, or a mapping from items to labels.

    >>> votes = [("a", "ann", "yes"), ("a", "bob", "yes"), ("a", "cy", "no"), ("b", "ann", "no")]
    >>> aggregate(votes).table["label"].to_list()
    ['yes', 'no']
    """
    aggregating = Aggregating(method, options, _known(gold, "gold"), _known(writer, "writer"), seed)
    reading = JudgementReading(columns or {}, labels, as_repeats(repeats), everything)
    callbacks = {"progress": progress} if progress else {}
    return AggregatedLabels(aggregate_source(_judgements(judgements), aggregating, reading, **callbacks))


@dataclass(frozen=True, slots=True, repr=False)
class TrainingRows(Result):
    """One row for each judgement."""

    title = "Training rows"
    report: Expanded

    @property
    def table(self) -> pl.DataFrame:
        """`item, label`, as often as it was judged so."""
        return self.report.frame

    def content(self) -> Mapping[str, Any]:
        """Return the counts."""
        return self.report.as_dict()

    def chart(self) -> Mapping[str, Any]:
        """Draw how many rows have each label."""
        return bar_chart(self.report.labels, category="label", value="rows")


def expand(
    judgements: Any,
    *,
    mixed: str | None = None,
    into: Sequence[str] = ("positive", "negative"),
    times: int = 1,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    repeats: Repeats = "refuse",
    everything: bool = False,
) -> TrainingRows:
    """Return one training row per judgement; a judgement *mixed* becomes one row of each *into*.

    >>> expand([("a", "ann", "yes"), ("a", "bob", "no")]).table.height
    2
    """
    reading = JudgementReading(columns or {}, labels, as_repeats(repeats), everything)
    return TrainingRows(expand_source(_judgements(judgements), Expanding(mixed, into, times), reading))


@dataclass(frozen=True, slots=True, repr=False)
class AgreementFound(Result):
    """How much people agree."""

    title = "Agreement"
    found: Mapping[str, Any]

    @property
    def table(self) -> pl.DataFrame:
        """Each statistic with its interval, over all and by slice."""
        parts = [("", "", self.found), *((one["by"], one["value"], one) for one in self.found["slices"])]
        rows = [
            {"statistic": name, "by": by, "slice": value, **_figure(part[name])}
            for by, value, part in parts
            for name in STATISTICS
        ]
        table = pl.DataFrame(rows, infer_schema_length=None)
        return table if self.found["slices"] else table.drop("by", "slice")

    def content(self) -> Mapping[str, Any]:
        """Return all statistics."""
        return self.found

    def chart(self) -> Mapping[str, Any]:
        """Draw the statistics with their intervals."""
        figures = [
            (name.replace("_", " "), "", _estimate(self.found[name]), self.found["items"]) for name in STATISTICS
        ]
        return interval_chart(figures, row="statistic", series="", value="agreement")

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{self.found['items']:,} items"
        yield f"{self.found['workers']:,} workers"
        yield f"{self.found['judgements']:,} judgements"


def agreement(
    judgements: Any,
    *,
    level: Level = "nominal",
    order: Sequence[str] = (),
    by: Sequence[str] = (),
    pairs: int = 0,
    resamples: int = 1000,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    repeats: Repeats = "refuse",
    everything: bool = False,
) -> AgreementFound:
    """Measure how much the workers agree, with intervals over resampled items.

    *order* lists ordinal labels from low to high; *by* are columns by whose values to slice; *pairs* is for how many
    pairs of workers Cohen's κ is given.

    >>> votes = [("a", "ann", "yes"), ("a", "bob", "yes"), ("b", "ann", "no"), ("b", "bob", "no")]
    >>> agreement(votes, resamples=0).to_dict()["krippendorff_alpha"]["value"]
    1.0
    """
    if level not in get_args(Level):
        raise BadInput(
            "There is no level '{level}'.", level=level, levels=", ".join(get_args(Level)), remedy="Use {levels}."
        )
    measuring = Measuring(level, order, by, pairs, seed, resamples)
    reading = JudgementReading(columns or {}, labels, as_repeats(repeats), everything)
    return AgreementFound(agreement_of_source(_judgements(judgements), measuring, reading))


@dataclass(frozen=True, slots=True, repr=False)
class WorkersFound(Result):
    """What each worker did."""

    title = "Workers"
    found: Mapping[str, Any]

    @property
    def table(self) -> pl.DataFrame:
        """A row for each worker, those who agree least first."""
        rows = [
            {
                "worker": worker["worker"],
                "judgements": worker["judgements"],
                "agreement": worker["agreement"]["value"],
                "low": worker["agreement"]["low"],
                "high": worker["agreement"]["high"],
                "accuracy": worker["accuracy"]["value"],
                "seconds": worker["median_seconds"],
                "patterns": ", ".join(worker["patterns"]),
            }
            for worker in self.found["workers"]
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def content(self) -> Mapping[str, Any]:
        """Return the workers."""
        return self.found

    def chart(self) -> Mapping[str, Any]:
        """Draw how much each agrees with the others."""
        agreed = [
            worker["agreement"]["value"] for worker in self.found["workers"] if worker["agreement"]["value"] is not None
        ]
        return ranked_chart(agreed, rank="worker", value="agreement with the others", form=".0%", top=1)

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{len(self.found['workers']):,} on {self.found['items']:,} items"


def workers(
    judgements: Any,
    *,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    repeats: Repeats = "refuse",
    everything: bool = False,
) -> WorkersFound:
    """Describe each worker: agreement with the majority of the others, accuracy, time, suspicious patterns.

    >>> workers([("a", "ann", "yes"), ("a", "bob", "yes")]).table["judgements"].to_list()
    [1, 1]
    """
    reading = JudgementReading(columns or {}, labels, as_repeats(repeats), everything)
    return WorkersFound(workers_of_source(_judgements(judgements), reading))


@dataclass(frozen=True, slots=True, repr=False)
class HumanFound(Result):
    """How well people do."""

    title = "Human performance"
    found: Mapping[str, Any]

    @property
    def table(self) -> pl.DataFrame:
        """Precision, recall and F1 of synthetic annotators, by slice of agreement."""
        rows = [
            {
                "items_that": name,
                "items": one["items"],
                "figure": kind,
                **_figure(one[kind]),
                "spread": one[kind]["spread"],
            }
            for name, one in self.found["synthetic_annotators"].items()
            for kind in ("precision", "recall", "f1")
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def content(self) -> Mapping[str, Any]:
        """Return all figures."""
        return self.found

    def chart(self) -> Mapping[str, Any]:
        """Draw F1 by slice, with its spread over the draws."""
        figures = [
            (name.replace("_", " "), "", _estimate(figures["f1"]), figures["items"])
            for name, figures in self.found["synthetic_annotators"].items()
        ]
        return interval_chart(figures, row="items", series="", value="F1")

    def facts(self) -> Iterator[str]:
        """Return what it rests on."""
        yield f"{self.found['items']:,} items, gold: {self.found['gold']}"


def human(
    judgements: Any,
    *,
    gold: Any = None,
    writer: Any = None,
    sample: int = 4,
    exclude: Sequence[str] = (),
    seeds: int = 100,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    repeats: Repeats = "refuse",
    everything: bool = False,
) -> HumanFound:
    """Estimate human performance from judgements, with its spread over many draws.

    Without *gold*, the majority sets it. With the *writer*'s labels, *sample* judgements beside the writer's set it,
    and the majority of those held out is scored.
    """
    study = HumanStudy(_known(gold, "gold"), _known(writer, "writer"), sample, exclude, seed, seeds)
    reading = JudgementReading(columns or {}, labels, as_repeats(repeats), everything)
    return HumanFound(human_performance(_judgements(judgements), study, reading))


def _judgements(value: Any) -> Any:
    return source_of(value, JUDGEMENTS, name="the judgements")


def _known(value: Any, name: str) -> str | InMemoryTable | None:
    """Return known labels as the services take them: a column or path by name, or a table `item, label`."""
    if value is None or isinstance(value, str | InMemoryTable):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping) and not {"item", "label"} <= set(value):
        value = {"item": list(value), "label": list(value.values())}
    return in_memory_table(value, ("item", "label"), name=f"the {name} labels")


def as_repeats(value: str) -> Repeats:
    """Return what is to be done where a worker judged an item twice; BadInput where it is none of the ways."""
    for known in get_args(Repeats):
        if value == known:
            return cast(Repeats, known)
    raise BadInput(
        "'{repeats}' is not a way to treat repeats.",
        repeats=value,
        known=", ".join(get_args(Repeats)),
        remedy="Use {known}.",
    )


def _figure(statistic: Mapping[str, Any]) -> dict[str, Any]:
    return {name: statistic[name] for name in ("value", "low", "high")}


def _estimate(statistic: Mapping[str, Any]) -> Estimate:
    return Estimate(statistic["value"], statistic["low"], statistic["high"])
