"""Gold answers and predictions side by side: what every metric is computed from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from quintain.core.errors import BadInput
from quintain.core.label_form import LabelNames
from quintain.core.languages import ENGLISH
from quintain.core.task import AnswerType
from quintain.core.texts import Text
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.label_columns import in_names, names_in
from quintain.tasks.answer_kinds.contract import AnswerKind, Values, answers_of

T = TypeVar("T")

Rows = pl.DataFrame | pl.Series | Sequence[Mapping[str, float] | None]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Gold answers and predictions of the same examples in the same order.

    Answers are in the shapes of `quintain.core.example`: labels as strings, choices and tokens as integers, several
    choices as lists of integers, golds of spans and texts as lists of strings and their predictions as strings. A
    null prediction was not given, and counts as wrong. *classes* are the answers that score, in order; the columns of
    *probabilities* (by the model) and *distributions* (of people's labels) follow them. *groups* numbers the clusters
    that are resampled together. *language* is what texts are compared in: articles are other words in each.
    """

    answer_type: AnswerType
    gold: pl.Series
    predictions: pl.Series
    classes: tuple[str, ...] = ()
    probabilities: FloatArray | None = None
    distributions: FloatArray | None = None
    groups: IntArray | None = None
    language: str = ENGLISH
    _made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.gold)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what *make* returns, computed once for these examples: several metrics share a confusion matrix."""
        if name not in self._made:
            self._made[name] = make()
        value: T = self._made[name]
        return value

    def take(self, rows: IntArray) -> Aligned:
        """Keep the examples at *rows*."""
        return Aligned(
            self.answer_type,
            self.gold[rows],
            self.predictions[rows],
            self.classes,
            None if self.probabilities is None else self.probabilities[rows],
            None if self.distributions is None else self.distributions[rows],
            None if self.groups is None else self.groups[rows],
            self.language,
        )

    def gold_codes(self) -> IntArray:
        """Return the position of each gold answer among the classes."""
        return self.once("gold_codes", lambda: encode(self.gold, self.classes))

    def prediction_codes(self) -> IntArray:
        """Return the position of each prediction among the classes, -1 for one that is none of them."""
        return self.once("prediction_codes", lambda: encode(self.predictions, self.classes))


def encode(values: pl.Series, classes: Sequence[str]) -> IntArray:
    """Return the position of each value among *classes*, -1 where it is none of them."""
    if not classes:
        return np.full(len(values), -1, dtype=np.int64)
    codes = values.cast(pl.String).cast(pl.Enum(list(classes)), strict=False).to_physical()
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()


def align(
    answer_type: AnswerType,
    gold: Values,
    predictions: Values,
    *,
    labels: Sequence[str] | None = None,
    probabilities: Rows | None = None,
    distributions: Rows | None = None,
    groups: Values | None = None,
    language: str = ENGLISH,
) -> Aligned:
    """Put gold answers and predictions side by side.

    *labels* are the classes that score; without them, all that occur. Labels are compared by their form (`1.0` is `1`;
    see `core.label_form`), and called as *labels*, or else the gold answers, call them. *probabilities* and
    *distributions* are one mapping from class to number per example. *groups* names the cluster of each example, such
    as its contrast set. *language* says which articles do not count in texts.

    >>> len(align("label", ["yes", "no"], ["yes", None]))
    2
    """
    answers = answers_of(answer_type)
    gold, predictions = answers.golds(gold), answers.predictions(predictions)
    if len(gold) != len(predictions):
        raise BadInput(
            "There are {n} gold answers and {predictions} predictions.", n=len(gold), predictions=len(predictions)
        )
    if gold.null_count():
        missing = int(gold.is_null().arg_true()[0])
        raise BadInput(
            "Example {missing} has no gold answer.", missing=missing + 1, remedy="Leave out examples without one."
        )
    beliefs = None if probabilities is None else _frame(probabilities)
    people = None if distributions is None else _frame(distributions)
    if answers.named:
        names = LabelNames(labels) if labels is not None else names_in(gold)
        labels = None if labels is None else list(dict.fromkeys(names.find(label) or label for label in labels))
        gold, predictions = in_names(gold, names), in_names(predictions, names)
        beliefs, people = (None if frame is None else _named_columns(frame, names) for frame in (beliefs, people))
    classes = _classes(answers, gold, predictions, labels, beliefs, people)
    return Aligned(
        answer_type,
        gold,
        predictions,
        classes,
        None if beliefs is None else _believed(beliefs, classes, gold, predictions),
        None if people is None else _matrix(Text("label distribution"), people, classes, len(gold)),
        None if groups is None else _group_codes(groups, len(gold)),
        language,
    )


def _classes(
    answers: AnswerKind,
    gold: pl.Series,
    predictions: pl.Series,
    labels: Sequence[str] | None,
    *more: pl.DataFrame | None,
) -> tuple[str, ...]:
    if labels is not None:
        strange = sorted(set(gold.cast(pl.String).unique()) - set(labels)) if answers.is_class else []
        if strange:
            raise BadInput("Gold answer '{label}' is not one of {labels}.", label=strange[0], labels=", ".join(labels))
        return tuple(labels)
    if not answers.is_class:
        return ()
    answered = pl.concat([gold.rename("a"), predictions.rename("a")]).drop_nulls().unique().sort()
    classes = answered.cast(pl.String).to_list()
    for frame in more:
        if frame is not None:
            classes += sorted(name for name in frame.columns if name and name not in classes)
    return tuple(classes)


def _named_columns(frame: pl.DataFrame, names: LabelNames) -> pl.DataFrame:
    """Call the columns of shares by class as the answers do, where no two of them become one."""
    called = names.renamed([name for name in frame.columns if name])
    return frame.rename(called) if len(set(called.values())) == len(called) else frame


def _frame(values: Rows) -> pl.DataFrame:
    """Make a table with one column per class from mappings, a struct column or such a table."""
    if isinstance(values, pl.DataFrame):
        return values
    if isinstance(values, pl.Series) and isinstance(values.dtype, pl.Struct):
        return values.struct.unnest()
    rows = [{str(name): number for name, number in (row or {}).items()} for row in values]
    return (
        pl.DataFrame(rows, infer_schema_length=None, strict=False)
        if any(rows)
        else pl.DataFrame({"": [None] * len(rows)})
    )


def _matrix(what: str, frame: pl.DataFrame, classes: Sequence[str], n: int) -> FloatArray:
    """Make one row per example and one column per class; each row must be a distribution."""
    if len(frame) != n:
        raise BadInput("There are {n} examples and {rows} rows of {what}.", n=n, rows=len(frame), what=what)
    strange = [name for name in frame.columns if name and name not in classes]
    if strange:
        raise BadInput(
            "There are {what} for '{label}', which is not one of {classes}.",
            what=what,
            label=strange[0],
            classes=", ".join(classes),
        )
    numbers = frame.select(pl.all().cast(pl.Float64)).to_numpy()
    filled = ~frame.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
    nulls = frame.select(pl.all().is_null()).to_numpy()
    matrix = np.zeros((n, len(classes)))
    places = [position for position, name in enumerate(frame.columns) if name]
    matrix[:, [classes.index(frame.columns[place]) for place in places]] = np.where(nulls, 0.0, numbers)[:, places]
    _check_rows(what, matrix, filled)
    # A model that gave none is taken to have said nothing: every class alike.
    matrix[~filled] = 1.0 / max(len(classes), 1)
    return matrix / matrix.sum(axis=1, keepdims=True) if len(classes) else matrix


def _believed(frame: pl.DataFrame, classes: Sequence[str], gold: pl.Series, predictions: pl.Series) -> FloatArray:
    """Return the model's probabilities; where it said nothing of an example, its gold answer has none."""
    matrix = _matrix("probabilities", frame, classes, len(gold))
    silent = predictions.is_null() & frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    rows = np.flatnonzero(silent.to_numpy())
    if len(rows):
        matrix[rows] = 1.0 / max(len(classes) - 1, 1)
        matrix[rows, encode(gold, classes)[rows]] = 0.0
    return matrix


def _check_rows(what: str, matrix: FloatArray, filled: npt.NDArray[np.bool_]) -> None:
    bad = np.asarray(~np.isfinite(matrix).all(axis=1) | (matrix < 0).any(axis=1))
    sums = matrix.sum(axis=1)
    off = filled & (bad | ~(np.abs(sums - 1) <= 0.01))
    if off.any():
        row = int(np.flatnonzero(off)[0])
        why = (
            Text("hold a number that is negative or not finite")
            if bad[row]
            else Text("add up to {sums:.4g}, not to 1", sums=sums[row])
        )
        raise BadInput(
            "Example {row}: the {what} {why}.",
            row=row + 1,
            what=what,
            why=why,
            remedy="Give one share per class that add up to 1.",
        )


def _group_codes(groups: Values, n: int) -> IntArray:
    """Return a number for each example's group; an example without one is a group of its own."""
    names = pl.Series("group", list(groups), dtype=pl.String, strict=False)
    if len(names) != n:
        raise BadInput("There are {n} examples and {groups} groups.", n=n, groups=len(names))
    codes = names.rank("dense").cast(pl.Int64).to_numpy() if n and names.null_count() < n else np.zeros(n)
    alone = names.is_null().to_numpy()
    filled = np.where(alone, 0, np.nan_to_num(codes.astype(np.float64))).astype(np.int64)
    filled[alone] = filled.max(initial=0) + 1 + np.arange(int(alone.sum()))
    return filled
