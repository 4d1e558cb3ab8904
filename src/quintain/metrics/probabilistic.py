"""Metrics of the probabilities that a model gives: whether they rank well, and whether they can be believed."""

from __future__ import annotations

import numpy as np
import scipy

from quintain.core.task import AnswerType
from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric, Metric
from quintain.stats.bootstrap import FloatArray, IntArray, Prior, Tally

_CLASSES: tuple[AnswerType, ...] = ("label", "choice", "token")
# The least probability that log loss believes, so that one certain error does not make it infinite.
FLOOR = 1e-15
BINS = 15


def given_probabilities(data: Aligned) -> FloatArray:
    """Return the probabilities; `evaluate_metrics` has made sure that they are there."""
    return data.probabilities if data.probabilities is not None else np.zeros((len(data), len(data.classes)))


@METRICS.register("log_loss")
class LogLoss(MeanMetric):
    """The mean of minus the natural logarithm of the gold answer's probability, with a floor of 1e-15."""

    name = "log_loss"
    title = "Log loss"
    answer_types = _CLASSES
    better = "lower"
    needs = ("probabilities",)
    range = (0.0, float(-np.log(FLOOR)))

    def scores(self, data: Aligned) -> FloatArray:
        """Take the logarithm of what the gold answer was given."""
        chosen = given_probabilities(data)[np.arange(len(data)), data.gold_codes()]
        return np.asarray(-np.log(np.clip(chosen, FLOOR, 1.0)) + 0.0, dtype=np.float64)


@METRICS.register("calibration_error")
class CalibrationError(Metric):
    """Expected calibration error: how far confidence is from accuracy, over 15 equal bins of confidence."""

    name = "calibration_error"
    title = "Calibration error"
    answer_types = _CLASSES
    better = "lower"
    needs = ("probabilities",)

    def tally(self, data: Aligned) -> Tally:
        """Add up examples, confidence and right answers by bin."""
        return data.once("calibration", lambda: Tally.of_rows(_calibration_rows(data)))

    def value(self, totals: FloatArray) -> FloatArray:
        """Average the bins' distances by their numbers of examples."""
        count, confidence, right = (totals[..., part * BINS : (part + 1) * BINS] for part in range(3))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.abs(confidence - right).sum(axis=-1) / count.sum(axis=-1), dtype=np.float64)


def _calibration_rows(data: Aligned) -> scipy.sparse.csr_array:
    probabilities = given_probabilities(data)
    confidence = probabilities.max(axis=1)
    right = (probabilities.argmax(axis=1) == data.gold_codes()).astype(np.float64)
    # A confidence on the edge of two bins belongs to the lower one, so that 1 falls into the last.
    bins = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    rows = np.tile(np.arange(len(data)), 3)
    columns = np.concatenate([bins, BINS + bins, 2 * BINS + bins])
    values = np.concatenate([np.ones(len(data)), confidence, right])
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(len(data), 3 * BINS))


@METRICS.register("auroc")
class Auroc(Metric):
    """The area under the ROC curve, each class against the rest, averaged over the classes that occur.

    It is no sum over examples; its interval resamples the first-order approximation, in which each example adds
    the share of opposite examples that it is on the right side of (the placements of DeLong et al., 1988).
    """

    name = "auroc"
    title = "AUROC"
    answer_types = ("label",)
    needs = ("probabilities",)

    def tally(self, data: Aligned) -> Tally:
        """Add up placements and counts of both sides, and the area itself, by class."""
        return data.once("auroc", lambda: _auroc_tally(data))

    def tally_slice(self, data: Aligned, tally: Tally, rows: IntArray) -> Tally:
        """Place the examples among those of the slice only."""
        del tally
        return self.tally(data.take(rows))

    def value(self, totals: FloatArray) -> FloatArray:
        """Make each class's area from its placements, then average."""
        parts = totals.reshape(*totals.shape[:-1], -1, 5)
        inside, positives, outside, negatives, area = (parts[..., column] for column in range(5))
        with np.errstate(invalid="ignore", divide="ignore"):
            areas = inside / positives + outside / negatives - area / (positives + negatives)
        defined = np.isfinite(areas)
        number = defined.sum(axis=-1)
        mean = np.where(defined, areas, 0.0).sum(axis=-1) / np.maximum(number, 1)
        return np.asarray(np.where(number > 0, np.clip(mean, 0.0, 1.0), np.nan), dtype=np.float64)

    def undefined(self, data: Aligned) -> str:
        """Return that there is nothing to tell apart."""
        return "all gold answers are of one class"


def _auroc_tally(data: Aligned) -> Tally:
    """Tally the placements; an example that is not known is on both sides by half, rightly or wrongly placed."""
    rows = _auroc_rows(data)
    two_sided = (rows.reshape(len(rows), -1, 5)[:, :, [1, 3]].sum(axis=0) > 0).all(axis=1)
    middle = rows.reshape(len(rows), -1, 5)[:, :, 4].mean(axis=0) if len(rows) else np.zeros(0)
    best, worst = np.zeros((len(two_sided), 5)), np.zeros((len(two_sided), 5))
    best[two_sided] = [0.5, 0.5, 0.5, 0.5, 0.0]
    worst[two_sided] = [0.0, 0.5, 0.0, 0.5, 0.0]
    best[:, 4] = worst[:, 4] = np.where(two_sided, middle, 0.0)
    return Tally.of_rows(rows, Prior(best.reshape(1, -1), worst.reshape(1, -1)))


def _auroc_rows(data: Aligned) -> FloatArray:
    probabilities, gold = given_probabilities(data), data.gold_codes()
    columns = []
    for position in range(len(data.classes)):
        positive = gold == position
        columns.append(_placements(probabilities[:, position], positive))
    return np.concatenate(columns, axis=1) if columns else np.zeros((len(data), 0))


def _placements(scores: FloatArray, positive: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> FloatArray:
    """Return what each example adds: placement and count on its side, and the area (a constant)."""
    rows = np.zeros((len(scores), 5))
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    rows[:, 1], rows[:, 3] = positive, ~positive
    if not n_positive or not n_negative:
        return rows
    # Midranks among all less midranks among one's own side count the opposite side below, ties as one half.
    ranks = _midranks(scores)
    rows[positive, 0] = (ranks[positive] - _midranks(scores[positive])) / n_negative
    rows[~positive, 2] = 1 - (ranks[~positive] - _midranks(scores[~positive])) / n_positive
    rows[:, 4] = rows[positive, 0].mean()
    return rows


def _midranks(scores: FloatArray) -> FloatArray:
    """Rank scores from 1; equal ones share the mean of their ranks."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places], dtype=np.float64)
