"""Predictions scored against gold answers: overall, by tag, and which label was answered by which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from quintain.core.example import Role
from quintain.core.task import Task
from quintain.metrics.contract import METRICS
from quintain.metrics.evaluate import SlicedRows, evaluate_metrics, one_label_slices, slice_rows
from quintain.services.data.label_shares import label_shares
from quintain.services.evaluate.results.dataset_results import FEWEST_SHOWN
from quintain.services.evaluate.results.sampled import as_scored, spread
from quintain.tasks.contract import kind_of

MOST_TAGS = 40
CONSISTENCY = "consistency"
GOLD_COLUMNS = ("id", "answer", "tags", "group", "meta")  # the columns that scoring needs


@dataclass(frozen=True, slots=True)
class GoldExamples:
    """The examples of a data set that have a gold answer, and the rows that share a tag."""

    examples: pl.DataFrame
    slices: Mapping[str, SlicedRows]


def make_gold(examples: pl.DataFrame) -> GoldExamples:
    """Keep of *examples* what predictions are scored against."""
    columns = [name for name in GOLD_COLUMNS if name in examples.columns]
    table = examples.select(columns).filter(pl.col("answer").is_not_null())
    common = table["tags"].explode().drop_nulls().value_counts(sort=True).head(MOST_TAGS).get_column("tags").to_list()
    if not common:
        return GoldExamples(table.drop("tags"), {})
    tags = table.select(pl.col("tags").list.filter(pl.element().is_in(common))).to_series()
    return GoldExamples(table.drop("tags"), {"tag": slice_rows("tag", tags, table.height)})


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """How answers of models that are asked in words enter figures.

    *reduce* says what is made of several samples of an example; with *apart*, what was refused is left out of metrics.
    """

    reduce: str = ""
    apart: bool = False


def score_table(
    task: Task, examples: pl.DataFrame, predictions: pl.DataFrame, *, role: str = "", rules: ScoringRules | None = None
) -> dict[str, Any]:
    """Score *predictions* against the gold answers of *examples*, which are of a *role*, overall and by tag."""
    return score_on(task, make_gold(examples), predictions, role=role, rules=rules)


def score_on(
    task: Task, gold: GoldExamples, predictions: pl.DataFrame, *, role: str = "", rules: ScoringRules | None = None
) -> dict[str, Any]:
    """Score *predictions* on examples that were read before; see `score_table`."""
    rules = rules or ScoringRules()
    whole = beside(gold.examples, predictions)
    if whole.is_empty():
        return {"metrics": {}, "slices": [], "examples": 0}
    items = whole.height
    more_spread = (
        {} if (differences := spread(task, whole, metric_names(task, role))) is None else {"spread": differences}
    )
    whole, slices = as_scored(task, whole, gold.slices, rules.reduce)
    table, slices = _without_refused(whole, slices) if rules.apart else (whole, slices)
    if table.is_empty():
        return {"metrics": {}, "slices": [], "examples": items, **more_spread}
    more = _beside_answers(task, table)
    names = _known_metrics(task, more, role)
    evaluated = evaluate_metrics(task, table["answer"], table["prediction"], names, by=slices, **more)
    scores = evaluated.as_dict()
    if kind_of(task).answers.named:
        scores["uneven"] = uneven_slices(table["answer"], slices)
        alone = set(one_label_slices(table["answer"], slices, evaluated.metrics))
        for part in scores["slices"]:
            if (part["by"], part["value"]) in alone:
                part["one_label"] = True
    if whole.height != table.height:
        more = _beside_answers(task, whole)
    bounds = failure_bounds(task, whole, names, more)
    return scores | {"examples": items, "confusion": confusion(task, table)} | bounds | more_spread


def _beside_answers(task: Task, table: pl.DataFrame) -> dict[str, Any]:
    """Return what metrics are computed from beside the answers: probabilities, people's labels, what belongs together.

    The rows of one example belong together.
    """
    more: dict[str, Any] = {}
    if "probabilities" in table.columns:
        answered = table.filter(pl.col("prediction").is_not_null())["probabilities"]
        if len(answered) and answered.null_count() == 0:  # where it failed there are none, and it counts as wrong
            more["probabilities"] = table["probabilities"].struct.unnest()
    people = label_shares(task, metric_names(task), table["meta"]) if "meta" in table.columns else None
    if people is not None:
        more["distributions"] = people
    if table["group"].null_count() < table.height or table["id"].n_unique() < table.height:
        more["groups"] = table["group"].fill_null(table["id"])
    return more


def _known_metrics(task: Task, more: Mapping[str, Any], role: str) -> list[str]:
    """Name the metrics that can be computed.

    A model that gives no probabilities has no log loss, and examples that nobody voted on no soft metric.
    """
    absent = {"probabilities", "distributions"} - more.keys()
    return [name for name in metric_names(task, role) if not absent & set(METRICS.get(name).needs)]


def _without_refused(
    table: pl.DataFrame, slices: Mapping[str, SlicedRows]
) -> tuple[pl.DataFrame, Mapping[str, SlicedRows]]:
    """Leave out what was refused, and number the rows of *slices* anew."""
    if "outcome" not in table.columns:
        return table, slices
    stays = (table["outcome"] != "refused").fill_null(True).to_numpy()
    number = np.cumsum(stays) - 1
    moved = {
        name: SlicedRows((value, number[rows[stays[rows]]]) for value, rows in parts if stays[rows].any())
        for name, parts in slices.items()
    }
    return table.filter(pl.Series(stays)), moved


def uneven_slices(answers: pl.Series, slicings: Mapping[str, SlicedRows]) -> list[list[str]]:
    """Return the slices, by slicing and value, of whose gold answers fewer than ten are not the most frequent one."""
    return [
        [name, value]
        for name, parts in slicings.items()
        for value, rows in parts
        if len(rows) - max(answers.gather(rows).value_counts()["count"].to_list(), default=0) < FEWEST_SHOWN
    ]


def failure_bounds(task: Task, table: pl.DataFrame, names: Sequence[str], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return each metric's value with the failed examples of *table* all wrong and all right; empty without failures.

    Failed are those to which no answer came, because the model or its server failed, its reply broke off, or it was
    refused. What was answered in words that hold no answer is wrong, and no more than that is possible.
    """
    failed = _failed(table)
    if failed is None or not failed.any():
        return {}
    by_answers = [name for name in names if not set(METRICS.get(name).needs) & {"probabilities"}]
    beside = {name: value for name, value in more.items() if name != "probabilities"}
    right = kind_of(task).answers.right(table["answer"])
    filled = table.select(pl.when(failed).then(right.alias("right")).otherwise("prediction").alias("prediction"))
    ends = [
        evaluate_metrics(task, table["answer"], predictions, by_answers, resamples=0, **beside).metrics
        for predictions in (table["prediction"], filled["prediction"])
    ]
    bounds = {}
    for name in by_answers:
        values = [value for end in ends if (value := end[name].estimate.value) is not None]
        if len(values) == len(ends):
            bounds[name] = {"examples": int(failed.sum()), "low": min(values), "high": max(values)}
    return {"bounds": bounds}


def _failed(table: pl.DataFrame) -> pl.Series | None:
    """Mark the examples that failed; in files of older versions, all that have no usable answer."""
    if "outcome" in table.columns:
        return table["outcome"].is_in(["failed", "refused", "cut"]).fill_null(False)
    return table["failure"].is_not_null() if "failure" in table.columns else None


def beside(examples: pl.DataFrame, predictions: pl.DataFrame) -> pl.DataFrame:
    """Put predictions beside their examples; in most files they stand in the same order."""
    if examples.height == predictions.height and examples["id"].equals(predictions["id"]):
        return examples.hstack(predictions.drop(examples.columns, strict=False))
    return examples.join(predictions, on="id", how="left", maintain_order="left")


def confusion(task: Task, table: pl.DataFrame) -> dict[str, Any] | None:
    """Count which label (row) was answered by which (column), and was not; None where answers are not labels."""
    if not kind_of(task).needs_labels:
        return None
    labels = list(task.label_names)
    places = {label: place for place, label in enumerate(labels)}
    counts, unanswered = [[0] * len(labels) for _ in labels], [0] * len(labels)
    for answer, prediction, number in table.group_by("answer", "prediction").len().iter_rows():
        if answer in places and prediction in places:
            counts[places[answer]][places[prediction]] = number
        elif answer in places:
            unanswered[places[answer]] += number
    return {"labels": labels, "counts": counts, "unanswered": unanswered}


def metric_names(task: Task, role: str = "") -> tuple[str, ...]:
    """List the metrics that are computed for *task*: its own, as far as they come from predictions.

    Contrast sets are also scored by whether they are right as a whole, where the type of answers allows it.
    """
    own = tuple(name for name in task.metrics if name in METRICS)
    suits = kind_of(task).answer_type in METRICS.get(CONSISTENCY).answer_types
    return (*own, CONSISTENCY) if role == Role.CONTRAST and suits and CONSISTENCY not in own else own
