"""Figures from a machine's labels of all items and people's of some, on plain files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from quintain.core.errors import BadInput, Fault
from quintain.core.records.machines import CountedEstimate, EstimateBeside, JudgedMore
from quintain.core.texts import Text
from quintain.data.in_memory import Source
from quintain.data.tables import FAULT_LIMIT, read_table
from quintain.services.plain.labels.judgements import JudgementFile, JudgementReading, clean_names, read_judgements
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.label_columns import in_names
from quintain.stats.label_hints import label_warnings
from quintain.stats.prediction_powered import (
    Parts,
    Powered,
    judgements_needed,
    powered_macro_f1,
    powered_mean,
)
from quintain.stats.utility import BoolArray

EstimatedMetric = Literal["share", "accuracy", "macro_f1"]


@dataclass(frozen=True, slots=True)
class Estimating:
    """Which figure: the share of a *label*, or how a model with *predictions* does; and ± what it is wanted.

    Several people's labels of an item count as their plurality, ties shared; with *votes*, as shares of votes.
    """

    metric: EstimatedMetric = "share"
    label: str | None = None
    predictions: Source | None = None
    half_width: float = 0.01
    votes: bool = False


@dataclass(frozen=True, slots=True)
class _Labels:
    """Everything in codes: people's label of some items as shares of classes, the machine's and the model's of all.

    *rows* are the places of people's items among all; the model's codes are empty where none is scored.
    """

    classes: list[str]
    people: FloatArray
    rows: IntArray
    machine: IntArray
    predicted: IntArray


def estimate_with_machine(
    people: Source, machine: Source, estimating: Estimating, reading: JudgementReading | None = None
) -> EstimateBeside:
    """Return a figure from people alone and from both, with intervals.

    *people* is a table `item, worker, label` of some items, drawn at random from those of *machine*, which is a table
    `item, label`; predictions are `id, prediction`. Refused: items with two labels, and labels that nobody gave.
    """
    _check(estimating)
    table = read_judgements(people, reading or JudgementReading())
    labels, notes, warnings = _read(table, machine, estimating)
    alone, both = _estimate(labels, estimating)
    needed = judgements_needed(alone, len(labels.machine), estimating.half_width)
    if not both.weight:
        notes.append(Text("The machine's labels do not help here: the figure rests on people alone."))
    return EstimateBeside(
        estimating.metric,
        CountedEstimate(alone.value, alone.low, alone.high, len(labels.rows)),
        CountedEstimate(both.value, both.low, both.high, len(labels.rows), len(labels.machine)),
        both.weight,
        JudgedMore(estimating.half_width, *needed),
        notes,
        warnings,
        estimating.label if estimating.metric == "share" else None,
    )


def _check(estimating: Estimating) -> None:
    if estimating.metric not in get_args(EstimatedMetric):
        known = ", ".join(get_args(EstimatedMetric))
        raise BadInput("There is no metric '{name}' here.", name=estimating.metric, known=known, remedy="Use {known}.")
    if estimating.metric != "share" and estimating.predictions is None:
        raise BadInput(
            "Whose {metric} is not said.",
            metric=estimating.metric,
            remedy="Give the model's answers: --predictions FILE.",
        )
    if not 0 < estimating.half_width < 1:
        raise BadInput(
            "An interval of ± {half_width} is none.", half_width=estimating.half_width, remedy="Use 0.01 for ± 1 point."
        )


def _estimate(labels: _Labels, estimating: Estimating) -> tuple[Powered, Powered]:
    elsewhere = np.ones(len(labels.machine), dtype=bool)
    elsewhere[labels.rows] = False
    return _FIGURES[estimating.metric](labels, elsewhere, estimating.label or "")


def _share(labels: _Labels, elsewhere: BoolArray, label: str) -> tuple[Powered, Powered]:
    code = labels.classes.index(label)
    return _mean(labels, labels.people[:, code], labels.machine == code, elsewhere)


def _accuracy(labels: _Labels, elsewhere: BoolArray, label: str) -> tuple[Powered, Powered]:
    right = labels.people[np.arange(len(labels.rows)), labels.predicted[labels.rows]]
    return _mean(labels, right, labels.machine == labels.predicted, elsewhere)


def _mean(labels: _Labels, people: FloatArray, machine: BoolArray, elsewhere: BoolArray) -> tuple[Powered, Powered]:
    scores = machine.astype(np.float64)
    return powered_mean(Parts(people, scores[labels.rows], scores[elsewhere], float(len(people))))


def _macro_f1(labels: _Labels, elsewhere: BoolArray, label: str) -> tuple[Powered, Powered]:
    beside = (labels.machine[labels.rows], labels.predicted[labels.rows])
    return powered_macro_f1(labels.people, *beside, (labels.machine[elsewhere], labels.predicted[elsewhere]))


_FIGURES: Mapping[EstimatedMetric, Callable[[_Labels, BoolArray, str], tuple[Powered, Powered]]] = {
    "share": _share,
    "accuracy": _accuracy,
    "macro_f1": _macro_f1,
}


def _read(table: JudgementFile, machine: Source, estimating: Estimating) -> tuple[_Labels, list[str], list[str]]:
    judgements, notes = table.judgements, list(table.notes)
    frame = _labels_of(machine, "item", "label", judgements.classes)
    warnings: list[str] = list(_strangers(frame["label"], judgements.classes, Text("machine labels")))
    if estimating.predictions is not None:
        answers = _labels_of(estimating.predictions, "id", "prediction", judgements.classes)
        warnings += _strangers(answers["label"], judgements.classes, Text("predictions"))
        frame = frame.join(answers.rename({"label": "prediction"}), on="item", how="left", maintain_order="left")
        missing = frame["prediction"].null_count()
        if missing:
            notes.append(Text("Items without a prediction, left out: {n:,}.", n=missing))
            frame = frame.drop_nulls("prediction")
    columns = [name for name in ("label", "prediction") if name in frame.columns]
    more = {name for column in columns for name in frame[column].unique().to_list()} - set(judgements.classes)
    classes = [*judgements.classes, *sorted(more)]
    if estimating.metric == "share":
        _need_label(estimating.label, classes)
    codes = {column: _codes(frame[column], classes) for column in columns}
    places = pl.DataFrame({"item": judgements.items}).join(
        frame.select("item").with_row_index("at"), on="item", how="left", maintain_order="left"
    )["at"]
    known = places.is_not_null().to_numpy()
    if not known.all():
        notes.append(Text("Items that people judged and the other files lack, left out: {n:,}.", n=int((~known).sum())))
    people = _people(judgements.counts()[known], len(classes), votes=estimating.votes)
    rows = places.drop_nulls().to_numpy().astype(np.int64)
    nobody = np.empty(0, dtype=np.int64)
    return _Labels(classes, people, rows, codes["label"], codes.get("prediction", nobody)), notes, warnings


def _need_label(label: str | None, classes: list[str]) -> None:
    known = ", ".join(classes[:12])
    if label is None:
        raise BadInput("The share of which label is not said.", known=known, remedy="Use --label with one of: {known}.")
    if label not in classes:
        raise BadInput(
            "Nobody gave the label '{label}'.", label=label, known=known, remedy="Use --label with one of: {known}."
        )


def _people(counts: IntArray, size: int, *, votes: bool) -> FloatArray:
    """Return each item's label as shares of classes."""
    counted = counts if votes else (counts == counts.max(axis=1, keepdims=True, initial=0)) & (counts > 0)
    shares = counted / counted.sum(axis=1, keepdims=True)
    return np.pad(np.asarray(shares, dtype=np.float64), ((0, 0), (0, size - counts.shape[1])))


def _codes(column: pl.Series, classes: list[str]) -> IntArray:
    codes = column.replace_strict(classes, list(range(len(classes))), return_dtype=pl.Int64())
    return np.asarray(codes.to_numpy(), dtype=np.int64)


def _labels_of(path: Source, item: str, label: str, classes: tuple[str, ...]) -> pl.DataFrame:
    """Read a table with one label for each item, called as people call it."""
    frame = read_table(path, required=[item, label], mapped=False).select(
        pl.col(item).cast(pl.String()).alias("item"), pl.col(label).alias("label")
    )
    frame = frame.with_columns(
        clean_names(frame["item"]).alias("item"), in_names(frame["label"], classes).alias("label")
    )
    frame = frame.drop_nulls().unique(maintain_order=True)
    twice = frame.filter(pl.col("item").is_duplicated())
    if len(twice):
        names = twice["item"].unique(maintain_order=True)
        raise BadInput(
            faults=[
                Fault("item '{item}' has several labels", item=name, file=path.name, field=label)
                for name in names.head(FAULT_LIMIT).to_list()
            ],
            total=len(names),
            remedy="Keep one label for each item.",
        )
    if frame.is_empty():
        raise BadInput(faults=[Fault("no row has a label", file=path.name, field=label)])
    return frame


def _strangers(column: pl.Series, classes: tuple[str, ...], what: Text) -> list[Text]:
    """Return a warning where labels are hardly those of people."""
    return label_warnings(classes, column.to_list(), what=what)
