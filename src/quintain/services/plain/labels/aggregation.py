"""Labels, agreement and workers from plain files: no workspace, no account, no server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.texts import Text
from quintain.data.in_memory import InMemoryTable, Source
from quintain.labels.contract import AGGREGATORS, Aggregated, Known, make_aggregator
from quintain.labels.mixed_as_two import copies
from quintain.services.plain.labels.judgements import (
    JudgementFile,
    JudgementReading,
    gold_warnings,
    labels_of_items,
    read_judgements,
)
from quintain.stats.agreement import Agreement, Level, measure_agreement
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.pairs import pair_kappas
from quintain.stats.workers import describe_workers

_OWN = ("item", "label", "confidence")


@dataclass(frozen=True, slots=True)
class AggregateReport:
    """What came out of an aggregation, in numbers."""

    method: str
    result: Aggregated
    order: IntArray
    judgements: int
    workers: int
    notes: tuple[str, ...]
    set_aside: int = 0
    warnings: tuple[Text, ...] = ()

    @property
    def unlabelled(self) -> int:
        """Count the items without a label."""
        return int((self.result.label < 0).sum())

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        counts = np.bincount(self.result.label[self.result.label >= 0], minlength=len(self.result.classes))
        plain = {name: value for name, value in self.result.details.items() if not isinstance(value, np.ndarray)}
        return {
            "method": self.method,
            "items": len(self.result.items),
            "workers": self.workers,
            "judgements": self.judgements,
            "set_aside": self.set_aside,
            "no_label": self.unlabelled,
            "labels": dict(zip(self.result.classes, counts.tolist(), strict=True)),
            "details": plain,
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class Aggregating:
    """Which method, its options, and where the labels that it needs come from (a column or a file)."""

    method: str = "majority"
    options: Mapping[str, Any] = field(default_factory=dict)
    gold: str | InMemoryTable | None = None
    writer: str | InMemoryTable | None = None
    seed: int = 0


def _no_progress(what: str, done: int, total: int) -> None:
    """Tell nobody."""


def aggregate_source(
    path: Source,
    aggregating: Aggregating,
    reading: JudgementReading | None = None,
    progress: Callable[[str, int, int], None] = _no_progress,
) -> AggregateReport:
    """Aggregate the judgements at *path*; *progress* is told what is done, how much of it, and of how much."""
    reading = reading or JudgementReading()
    aggregator = make_aggregator(aggregating.method, **aggregating.options)
    progress("Reading", 0, 1)
    table = read_judgements(path, reading)
    count = len(table.judgements)
    progress("Reading", count, count)
    known: dict[str, Any] = {}
    for need in ("writer", "gold"):
        source = getattr(aggregating, need)
        if source is not None:
            table, _ = labels_of_items(table, source, need, reading.columns)
    for need in ("writer", "gold"):  # again, now that all classes are known
        source = getattr(aggregating, need)
        if source is not None:
            table, known[need] = labels_of_items(table, source, need, reading.columns)
    progress("Aggregating", 0, count)
    result = aggregator.aggregate(table.judgements, seed=aggregating.seed, known=Known(**known))
    progress("Aggregating", count, count)
    notes = table.notes
    if result.accuracy is not None and table.judgements.sizes().max() < 2:
        notes = (*notes, "No item has two judgements: they say nothing about who is right how often.")
    warnings = gold_warnings(table, known["gold"]) if "gold" in known else []
    return AggregateReport(
        aggregating.method,
        result,
        table.order,
        count,
        len(table.judgements.workers),
        notes,
        table.set_aside,
        tuple(warnings),
    )


def label_frame(order: IntArray, result: Aggregated) -> pl.DataFrame:
    """Return `item, label, confidence` and a column per class, in the *order* of the file."""
    names = {name: f"class_{name}" if name in _OWN else name for name in result.classes}
    classes = pl.Series(result.classes, dtype=pl.String())
    label = pl.Series(np.where(result.label < 0, len(result.classes), result.label))
    frame = pl.DataFrame(
        {
            "item": pl.Series(result.items, dtype=pl.String()),
            "label": classes.extend(pl.Series([None], dtype=pl.String()))[label],
            "confidence": result.confidence,
            **{names[name]: result.distribution[:, place] for place, name in enumerate(result.classes)},
        }
    )
    return frame[order]


def aggregation_methods() -> list[dict[str, Any]]:
    """List the methods with what they are and what they need."""
    return [{"method": name, "title": kind.title, "needs": list(kind.needs)} for name, kind in AGGREGATORS.items()]


@dataclass(frozen=True, slots=True)
class Expanding:
    """How judgements become training rows: which label is split into which, and how often all is repeated."""

    mixed: str | None = None
    into: Sequence[str] = ("positive", "negative")
    times: int = 1


@dataclass(frozen=True, slots=True)
class Expanded:
    """Training rows, how many there are of each label, and what was left out."""

    frame: pl.DataFrame
    labels: Mapping[str, int]
    set_aside: int
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        rows = sum(self.labels.values())
        return {"rows": rows, "labels": dict(self.labels), "set_aside": self.set_aside, "notes": list(self.notes)}


def expand_source(path: Source, expanding: Expanding, reading: JudgementReading | None = None) -> Expanded:
    """Return one row `item, label` per judgement, as distributional training data, and count them by label."""
    if expanding.times < 1:
        raise BadInput("The rows cannot be repeated {times} times.", times=expanding.times)
    table = read_judgements(path, reading)
    judgements = table.judgements
    counts = judgements.counts()
    if expanding.mixed is not None:
        counts = copies(counts, judgements.classes, expanding.mixed, tuple(expanding.into))
    counts = counts[table.order] * expanding.times
    item, label = np.nonzero(counts)
    times = counts[item, label]
    items = pl.Series(judgements.items, dtype=pl.String())[table.order]
    frame = pl.DataFrame(
        {
            "item": items[np.repeat(item, times)],
            "label": pl.Series(judgements.classes, dtype=pl.String())[np.repeat(label, times)],
        }
    )
    total = zip(judgements.classes, counts.sum(axis=0).tolist(), strict=True)
    return Expanded(frame, {name: count for name, count in total if count}, table.set_aside, table.notes)


@dataclass(frozen=True, slots=True)
class Measuring:
    """How agreement is measured: the level, the order of the labels, by which columns, for how many pairs."""

    level: Level = "nominal"
    order: Sequence[str] = ()
    by: Sequence[str] = ()
    pairs: int = 0
    seed: int = 0
    resamples: int = 1000


def agreement_of_source(
    path: Source, measuring: Measuring | None = None, reading: JudgementReading | None = None
) -> dict[str, Any]:
    """Measure how much the workers of the file at *path* agree, over all and by slice."""
    measuring = measuring or Measuring()
    table = read_judgements(path, reading)
    absent = [name for name in measuring.by if name not in table.rows.columns]
    if absent:
        raise BadInput(
            faults=[Fault("there is no column '{name}'", name=absent[0], file=path.name)],
            columns=", ".join(table.rows.columns[1:]),
            remedy="The file has: {columns}.",
        )
    values = _values(table, measuring)
    options: dict[str, Any] = {"level": measuring.level, "values": values}
    drawing: dict[str, Any] = {"seed": measuring.seed, "resamples": measuring.resamples}
    judgements = table.judgements
    report = measure_agreement(judgements, **options, **drawing).as_dict()
    if measuring.pairs:
        report["pairs"] = [
            {
                "workers": [judgements.workers[pair.first], judgements.workers[pair.second]],
                "items": pair.items,
                "cohen_kappa": pair.kappa.as_dict(),
                **({} if pair.weighted is None else {"weighted_kappa": pair.weighted.as_dict()}),
            }
            for pair in pair_kappas(judgements, values=values, most=measuring.pairs, **drawing)
        ]
    report["slices"] = [
        {"by": name, "value": value, **found.as_dict()}
        for name in measuring.by
        for value, found in _slices(table, name, {**options, **drawing})
    ]
    drawn = {"seed": measuring.seed, "resamples": measuring.resamples}
    return report | {**drawn, "set_aside": table.set_aside, "notes": list(table.notes)}


def _slices(table: JudgementFile, name: str, options: Mapping[str, Any]) -> list[tuple[str | None, Agreement]]:
    column = table.rows[name].cast(pl.String())
    return [
        (value, measure_agreement(table.judgements.take(column.eq_missing(value).to_numpy()), **options))
        for value in column.unique().sort(nulls_last=True).to_list()
    ]


def _values(table: JudgementFile, measuring: Measuring) -> FloatArray | None:
    """Return the number of each class: its place in the order that was named, or itself where it is a number."""
    classes = table.judgements.classes
    if measuring.level == "nominal":
        return None
    if measuring.level == "ordinal" and measuring.order:
        missing = [name for name in classes if name not in measuring.order]
        if missing:
            raise BadInput(
                "The label '{missing}' is not in the order.",
                missing=missing[0],
                labels=", ".join(classes),
                remedy="Labels here: {labels}.",
            )
        return np.array([list(measuring.order).index(name) for name in classes], dtype=np.float64)
    numbers = pl.Series(classes, dtype=pl.String()).cast(pl.Float64(), strict=False)
    bad = ~numbers.is_finite().fill_null(False)
    if bad.any():
        remedy = Text("Name the order with --order low,middle,high.") if measuring.level == "ordinal" else None
        raise BadInput(
            "{name}: the label '{label}' is not a number, as the {level} level needs.",
            name=table.path.name,
            label=classes[bad.arg_true()[0]],
            level=measuring.level,
            remedy=remedy,
        )
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def workers_of_source(path: Source, reading: JudgementReading | None = None) -> dict[str, Any]:
    """Describe each worker of the file at *path*, those who agree least first."""
    table = read_judgements(path, reading)
    judgements = table.judgements
    seconds = table.rows["seconds"].to_numpy().astype(np.float64) if "seconds" in table.rows.columns else None
    described = describe_workers(judgements, seconds)
    order = np.lexsort((-described.judgements, np.nan_to_num(described.agreement, nan=2.0)))
    rows = [
        {
            "worker": judgements.workers[code],
            "judgements": int(described.judgements[code]),
            "agreement": _interval(described.agreement, described.agreement_low, described.agreement_high, code),
            "compared": int(described.compared[code]),
            "accuracy": _interval(described.accuracy, described.accuracy_low, described.accuracy_high, code),
            "median_seconds": None if described.median_time is None else _number(described.median_time[code]),
            "top_share": _number(described.top_share[code]),
            "patterns": list(described.patterns[code]),
        }
        for code in order.tolist()
    ]
    return {
        "workers": rows,
        "items": len(judgements.items),
        "judgements": len(judgements),
        "set_aside": table.set_aside,
        "notes": list(table.notes),
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(value: FloatArray, low: FloatArray, high: FloatArray, code: int) -> dict[str, float | None]:
    return {"value": _number(value[code]), "low": _number(low[code]), "high": _number(high[code])}
