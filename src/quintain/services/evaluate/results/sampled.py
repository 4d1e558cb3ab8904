"""Several answers to the same example as rows that metrics can score, and how much they differ.

The rows of one example stay together when intervals are drawn: ten answers to it are no ten examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from quintain.core.task import Task
from quintain.metrics.aligned import align
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.metrics.evaluate import SlicedRows, evaluate_metrics, metric_named
from quintain.tasks.contract import kind_of

SAMPLES = "samples"
MEAN, ANY_RIGHT = "mean", "pass@k"
ITEM = "item"  # which example a row is of
MOST_VALUES = 20  # samples of which each metric is told


def as_scored(
    task: Task, table: pl.DataFrame, slices: Mapping[str, SlicedRows], reduce: str
) -> tuple[pl.DataFrame, Mapping[str, SlicedRows]]:
    """Return the rows of *table* as *reduce* has them scored, and the rows of *slices* among them.

    A mean has a row for each sample. For `pass@k`, the sample that is nearest to right stands for its example. By any
    other rule, the answer that was made of the samples stands.
    """
    if SAMPLES not in table.columns:
        return table, slices
    whole = table.drop(SAMPLES)
    if reduce == MEAN:
        counts = table[SAMPLES].list.len().to_numpy()
        begins = np.concatenate([[0], np.cumsum(counts)])
        rows = _exploded(table)
        moved = {
            name: SlicedRows(
                (value, np.concatenate([np.arange(begins[row], begins[row + 1]) for row in parts]))
                for value, parts in values
            )
            for name, values in slices.items()
        }
        return rows.drop("probabilities", strict=False), moved
    if reduce == ANY_RIGHT:
        rows = _exploded(table)
        best = rows.with_columns(score=pl.Series(_scores(task, rows)), place=pl.int_range(pl.len()))
        best = best.sort("score", descending=True, maintain_order=True, nulls_last=True)
        best = best.unique(ITEM, keep="first", maintain_order=True).sort(ITEM)
        return best.drop("score", "place").drop("probabilities", strict=False), slices
    return whole, slices


def spread(task: Task, table: pl.DataFrame, names: Sequence[str]) -> dict[str, Any] | None:
    """Return how much the samples of *table* differ: in how many examples, and in each metric called *names*."""
    if SAMPLES not in table.columns or table.is_empty():
        return None
    rows = _exploded(table)
    answers = kind_of(task).answers.normalised(rows["prediction"], task.language)
    kinds = rows.select(ITEM).with_columns(answer=_comparable(answers)).group_by(ITEM).agg(pl.col("answer").n_unique())
    samples = rows.with_columns(number=pl.int_range(pl.len()).over(ITEM))
    plain = [name for name in names if not set(METRICS.get(name).needs) & {"probabilities", "distributions"}]
    values: dict[str, list[float | None]] = {name: [] for name in plain}
    for number in range(min(MOST_VALUES, int(samples["number"].max()) + 1)):  # type: ignore[arg-type]
        part = samples.filter(pl.col("number") == number)
        figures = evaluate_metrics(task, part["answer"], part["prediction"], plain, resamples=0).metrics
        for name in plain:
            values[name].append(figures[name].estimate.value)
    return {"examples": kinds.height, "differ": float((kinds["answer"] > 1).mean() or 0.0), "values": values}  # type: ignore[arg-type]


def _exploded(table: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each sample, with its answer and outcome in place of the example's."""
    rows = table.with_row_index(ITEM).drop("prediction", "outcome", "failure", strict=False).explode(SAMPLES)
    fields = [name for name in ("prediction", "outcome") if name in _fields(table)]
    return rows.with_columns(pl.col(SAMPLES).struct.field(name) for name in fields).drop(SAMPLES)


def _fields(table: pl.DataFrame) -> list[str]:
    inner = table.schema[SAMPLES].inner  # type: ignore[attr-defined]
    return [field.name for field in inner.fields]


def _scores(task: Task, rows: pl.DataFrame) -> Any:
    """Score each row by the first of the task's metrics that scores examples one by one, else by being equal."""
    kind = kind_of(task)
    for name in task.metrics:
        metric = metric_named(name, kind.answer_type) if name in METRICS else None
        if isinstance(metric, MeanMetric) and metric.needs == ("answers",):
            data = align(kind.answer_type, rows["answer"], rows["prediction"], labels=task.label_names or None)
            return metric.scores(data)
    golds = kind.answers.golds(rows["answer"])
    return (kind.answers.predictions(rows["prediction"]) == golds).fill_null(False).cast(pl.Float64).to_numpy()


def _comparable(answers: pl.Series) -> pl.Series:
    return answers if not answers.dtype.is_nested() else pl.Series([str(value) for value in answers.to_list()])
