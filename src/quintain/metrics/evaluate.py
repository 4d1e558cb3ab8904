"""From gold answers and predictions to figures with intervals, overall and by slice."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import numpy as np
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate
from quintain.core.task import AnswerType, Task
from quintain.metrics.aligned import Aligned, Rows, align
from quintain.metrics.contract import METRICS, Metric
from quintain.stats.bootstrap import IntArray, Tally
from quintain.stats.posterior import Draws
from quintain.tasks.answer_kinds.contract import Values, answers_of
from quintain.tasks.contract import kind_of


@dataclass(frozen=True, slots=True)
class MetricResult:
    """A metric's estimate and, where it has them, those of its parts (such as the classes)."""

    estimate: Estimate
    parts: Mapping[str, Estimate] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        shape = self.estimate.as_dict()
        return shape | {"parts": {name: part.as_dict() for name, part in self.parts.items()}} if self.parts else shape


@dataclass(frozen=True, slots=True)
class Slice:
    """The results on the examples that share one value, such as a tag."""

    by: str
    value: str
    examples: int
    metrics: Mapping[str, MetricResult]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results on all examples, then by slice."""

    examples: int
    answered: int
    metrics: Mapping[str, MetricResult]
    slices: tuple[Slice, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {
            "examples": self.examples,
            "answered": self.answered,
            "metrics": {name: result.as_dict() for name, result in self.metrics.items()},
            "slices": [
                {
                    "by": part.by,
                    "value": part.value,
                    "examples": part.examples,
                    "metrics": {name: result.as_dict() for name, result in part.metrics.items()},
                }
                for part in self.slices
            ],
        }


class SlicedRows(list[tuple[str, IntArray]]):
    """The values of a slicing in order, each with the rows that have it."""


class Beside(TypedDict, total=False):
    """What may be known beside the answers; see `align`."""

    labels: Sequence[str] | None
    probabilities: Rows | None
    distributions: Rows | None
    groups: Values | None
    language: str


def default_metrics(answer_type: AnswerType) -> tuple[str, ...]:
    """List the metrics that are computed when none is asked for."""
    return answers_of(answer_type).metrics


def metric_named(name: str, answer_type: AnswerType) -> Metric:
    """Return the metric called *name*, where `f1` is the F1 for *answer_type*; refuse one that does not suit it."""
    metric = METRICS.get(answers_of(answer_type).f1 or name if name == "f1" else name)()
    if answer_type not in metric.answer_types:
        suited = [other for other, kind in METRICS.items() if answer_type in kind.answer_types]
        raise BadInput(
            "The metric '{name}' is not for answers of type '{answer_type}'.",
            name=name,
            answer_type=answer_type,
            known=", ".join(suited),
            remedy="Use: {known}.",
        )
    return metric


def evaluate_metrics(
    what: Task | AnswerType,
    gold: Values,
    predictions: Values,
    names: Sequence[str] = (),
    *,
    by: Mapping[str, Values | SlicedRows] | None = None,
    seed: int = 0,
    resamples: int = 1000,
    **beside: Unpack[Beside],
) -> Evaluation:
    """Compute the metrics called *names*, each with a bootstrap interval, overall and for each value in *by*.

    *by* maps the name of a slicing to one value or one list of values (tags) per example, or to what `slice_rows` has
    made of them, for predictions that are scored on the same examples one after the other. *resamples* of 0 leaves the
    intervals out. *labels*, *probabilities*, *distributions*, *groups* and *language* are as in `align`; a task
    says its labels and its language itself.

    >>> result = evaluate_metrics("label", ["a", "b", "a"], ["a", "b", "b"], ["accuracy"])
    >>> round(result.metrics["accuracy"].estimate.value, 3)
    0.667
    """
    answer_type: AnswerType = kind_of(what).answer_type if isinstance(what, Task) else what
    if isinstance(what, Task):
        beside["labels"] = beside.get("labels") or what.label_names or None
        beside.setdefault("language", what.language)
        names = names or what.metrics
    data = align(answer_type, gold, predictions, **beside)
    return evaluate_aligned(data, names, by=by, seed=seed, resamples=resamples)


def evaluate_aligned(
    data: Aligned,
    names: Sequence[str] = (),
    *,
    by: Mapping[str, Values | SlicedRows] | None = None,
    seed: int = 0,
    resamples: int = 1000,
) -> Evaluation:
    """Compute the metrics called *names* on examples that are aligned already; see `evaluate_metrics`."""
    if len(data) == 0:
        raise BadInput("There are no examples to score.")
    metrics = {name: metric_named(name, data.answer_type) for name in names or default_metrics(data.answer_type)}
    check_needs(data, metrics)
    tallies = {name: metric.tally(data) for name, metric in metrics.items()}
    slices = []
    for slicing, values in (by or {}).items():
        for value, rows in _rows_of(slicing, values, len(data)):
            parts = {name: metric.tally_slice(data, tallies[name], rows) for name, metric in metrics.items()}
            # Tallies that metrics share are shared in the slice too, and so are drawn once.
            parts = {name: _same(tallies, parts, name) for name in parts}
            groups = None if data.groups is None else data.groups[rows]
            results = _results(data, metrics, parts, groups, seed, resamples)
            slices.append(Slice(slicing, value, len(rows), results))
    overall = _results(data, metrics, tallies, data.groups, seed, resamples)
    return Evaluation(len(data), len(data) - data.predictions.null_count(), overall, tuple(slices))


def _rows_of(slicing: str, values: Values | SlicedRows, n: int) -> SlicedRows:
    return values if isinstance(values, SlicedRows) else slice_rows(slicing, values, n)


def _same(tallies: Mapping[str, Tally], parts: Mapping[str, Tally], name: str) -> Tally:
    first = next(other for other in tallies if tallies[other] is tallies[name])
    return parts[first]


def check_needs(data: Aligned, metrics: Mapping[str, Metric]) -> None:
    """Refuse *metrics* that need probabilities or distributions where there are none; raises BadInput."""
    for name, metric in metrics.items():
        if "probabilities" in metric.needs and data.probabilities is None:
            raise BadInput(
                "The metric '{name}' needs probabilities, and the predictions have none.",
                name=name,
                remedy="Give a column of probabilities by class, or leave the metric out.",
            )
        if "distributions" in metric.needs and data.distributions is None:
            raise BadInput(
                "The metric '{name}' needs the distribution of people's labels, and the gold answers have none.",
                name=name,
                remedy="Give a column `distribution` with shares by class, or leave the metric out.",
            )


def _results(
    data: Aligned,
    metrics: Mapping[str, Metric],
    tallies: Mapping[str, Tally],
    groups: IntArray | None,
    seed: int,
    resamples: int,
) -> dict[str, MetricResult]:
    drawn: dict[int, Draws] = {}
    results = {}
    for name, metric in metrics.items():
        tally = tallies[name]
        # Every tally starts from the same seed, so that asking for one more metric changes no other.
        draws = drawn.setdefault(id(tally), Draws(tally, groups, seed=seed, resamples=resamples))
        results[name] = _result(data, metric, draws)
    return results


def _result(data: Aligned, metric: Metric, draws: Draws) -> MetricResult:
    return MetricResult(
        draws.estimate(metric.value, metric.undefined(data)),
        draws.estimates(lambda totals: metric.parts(data, totals), lambda name: f"'{name}' does not occur"),
    )


# A mean over classes: every label that is predicted is a class with an F1 of 0 where gold has another one alone.
AVERAGED = frozenset({"macro_f1", "class_f1", "balanced_accuracy"})


def one_label_slices(
    gold: pl.Series, slicings: Mapping[str, SlicedRows], metrics: Collection[str]
) -> list[tuple[str, str]]:
    """Return the slices, by slicing and value, whose gold answers are one label, where *metrics* average over classes.

    There such an average says something else than elsewhere: accuracy says how many are right.
    """
    if not AVERAGED.intersection(metrics):
        return []
    return [
        (name, value) for name, parts in slicings.items() for value, rows in parts if gold.gather(rows).n_unique() == 1
    ]


def slice_rows(slicing: str, values: Values, n: int) -> SlicedRows:
    """List the values of a slicing in order, each with the rows that have it."""
    column = values if isinstance(values, pl.Series) else pl.Series(slicing, list(values), strict=False)
    if len(column) != n:
        raise BadInput(
            "There are {n} examples and {values} values of '{slicing}'.", n=n, values=len(column), slicing=slicing
        )
    frame = pl.DataFrame({"value": column}).with_row_index("row")
    if isinstance(column.dtype, pl.List):
        frame = frame.explode("value")
    frame = frame.drop_nulls("value").unique().with_columns(pl.col("value").cast(pl.String))
    grouped = frame.group_by("value").agg(pl.col("row").sort()).sort("value")
    return SlicedRows([(value, np.asarray(rows, dtype=np.int64)) for value, rows in grouped.iter_rows()])
