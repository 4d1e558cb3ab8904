"""Metrics of single answers from a fixed set: labels, choices, tokens.

All of them are made from three numbers per class: how often it was right, how often it is gold, how often it was
predicted. A prediction that is no class (null, or outside the task's labels) is wrong and is predicted for no class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import scipy

from quintain.core.task import AnswerType
from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, Metric
from quintain.stats.bootstrap import FloatArray, Tally
from quintain.stats.by_class import class_prior

_SINGLE: tuple[AnswerType, ...] = ("label", "choice", "token")


class ConfusionMetric(Metric):
    """A metric made from the confusion matrix, drawn anew cell by cell for the interval."""

    answer_types: ClassVar[tuple[AnswerType, ...]] = ("label",)

    def tally(self, data: Aligned) -> Tally:
        """Count right answers, golds and predictions of each class."""
        return data.once("confusion", lambda: _confusion_tally(data))


def _confusion_tally(data: Aligned) -> Tally:
    size = len(data.classes)
    gold, predicted = data.gold_codes(), data.prediction_codes()
    cells, codes = np.unique(gold * (size + 1) + np.where(predicted < 0, size, predicted), return_inverse=True)
    rows, columns = np.divmod(cells, size + 1)
    number = np.arange(len(cells))
    right, answered = rows == columns, columns < size
    places = (
        np.concatenate([number[right], number, number[answered]]),
        np.concatenate([rows[right], size + rows, 2 * size + columns[answered]]),
    )
    table = scipy.sparse.coo_array((np.ones(len(places[0])), places), shape=(len(cells), 3 * size)).tocsr()
    return Tally(codes.astype(np.int64), table, class_prior(size))


def _by_class(totals: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Split totals into right answers, golds and predictions by class."""
    size = totals.shape[-1] // 3
    return totals[..., :size], totals[..., size : 2 * size], totals[..., 2 * size :]


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, with NaN where there is nothing to divide by."""
    out = np.full(np.shape(denominator), np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out


def _class_f1(totals: FloatArray) -> FloatArray:
    right, gold, predicted = _by_class(totals)
    return _divide(2 * right, gold + predicted)


def _mean_defined(values: FloatArray) -> FloatArray:
    defined = ~np.isnan(values)
    return _divide(np.where(defined, values, 0.0).sum(axis=-1), defined.sum(axis=-1))


@METRICS.register("accuracy")
class Accuracy(ConfusionMetric):
    """The share of right answers."""

    name = "accuracy"
    title = "Accuracy"
    answer_types = _SINGLE

    def value(self, totals: FloatArray) -> FloatArray:
        """Divide the right answers by all examples."""
        right, gold, _ = _by_class(totals)
        return _divide(right.sum(axis=-1), gold.sum(axis=-1))


@METRICS.register("macro_f1")
class MacroF1(ConfusionMetric):
    """The mean of the classes' F1, over the classes that occur as gold or prediction."""

    name = "macro_f1"
    title = "Macro F1"

    def value(self, totals: FloatArray) -> FloatArray:
        """Average the classes' F1."""
        return _mean_defined(_class_f1(totals))


@METRICS.register("class_f1")
class ClassF1(MacroF1):
    """The F1 of each class; its own value is their mean."""

    name = "class_f1"
    title = "F1 by class"

    def parts(self, data: Aligned, totals: FloatArray) -> Mapping[str, FloatArray]:
        """Return the F1 of each class."""
        values = _class_f1(totals)
        return {name: values[..., position] for position, name in enumerate(data.classes)}


@METRICS.register("micro_f1")
class MicroF1(ConfusionMetric):
    """F1 over all decisions pooled: accuracy, unless some examples went unanswered."""

    name = "micro_f1"
    title = "Micro F1"

    def value(self, totals: FloatArray) -> FloatArray:
        """Pool the classes' counts."""
        right, gold, predicted = _by_class(totals)
        return _divide(2 * right.sum(axis=-1), gold.sum(axis=-1) + predicted.sum(axis=-1))


@METRICS.register("weighted_f1")
class WeightedF1(ConfusionMetric):
    """The classes' F1 weighted by how often they are gold."""

    name = "weighted_f1"
    title = "Weighted F1"

    def value(self, totals: FloatArray) -> FloatArray:
        """Average the classes' F1 by support."""
        _, gold, _ = _by_class(totals)
        scores = np.nan_to_num(_class_f1(totals))
        return _divide((scores * gold).sum(axis=-1), gold.sum(axis=-1))


@METRICS.register("balanced_accuracy")
class BalancedAccuracy(ConfusionMetric):
    """The mean of the classes' recall, over the classes that occur as gold."""

    name = "balanced_accuracy"
    title = "Balanced accuracy"

    def value(self, totals: FloatArray) -> FloatArray:
        """Average the classes' recall."""
        right, gold, _ = _by_class(totals)
        return _mean_defined(_divide(right, gold))


@METRICS.register("mcc")
class Matthews(ConfusionMetric):
    """Matthews' correlation for any number of classes; 0 when all predictions are one class."""

    name = "mcc"
    title = "Matthews correlation"
    range = (-1.0, 1.0)

    def value(self, totals: FloatArray) -> FloatArray:
        """Correlate gold and prediction; undefined where only one class is gold."""
        right, gold, predicted = _by_class(totals)
        n = gold.sum(axis=-1)
        # Unanswered examples form one more predicted class, which no gold answer is in.
        unanswered = n - predicted.sum(axis=-1)
        covariance = right.sum(axis=-1) * n - (gold * predicted).sum(axis=-1)
        spread_gold = n**2 - (gold**2).sum(axis=-1)
        spread_predicted = n**2 - (predicted**2).sum(axis=-1) - unanswered**2
        value = np.nan_to_num(_divide(covariance, np.sqrt(spread_gold * spread_predicted)))
        return np.asarray(np.where(spread_gold > 0, value, np.nan), dtype=np.float64)

    def undefined(self, data: Aligned) -> str:
        """Return that there is nothing to correlate with."""
        return "all gold answers are of one class"
