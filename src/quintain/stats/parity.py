"""Whether a model does as well as people on the same items, from the people's own votes.

Nobody is measured by their own vote: each vote on an item is compared with what the *other* votes on it say (where
they are tied, with an equal share of each tied label). All votes of an item together weigh as much as one answer, so
that the figure is that of an average person. On items where at least four of five agree this is what DynaSent's
synthetic annotators are measured by (section 3.5): taking any one vote away leaves the label as it is.

Items are resampled with the model's answer and the people's votes together, so that easy items are easy for both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quintain.core.errors import BadInput
from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray, IntArray, Prior, Tally
from quintain.stats.posterior import around, is_constant, is_few, posterior_totals

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Parity:
    """Macro F1 of people and of a model on the same *items*, and how much higher that of the model is."""

    items: int
    human: Estimate
    model: Estimate
    difference: Estimate


def parity(
    label: IntArray,
    votes: IntArray,
    predicted: IntArray,
    classes: int,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
) -> Parity:
    """Compare the answers *predicted* (-1: none) with the people's *votes* (items × labels, the *classes* first).

    *label* is what the items are labelled. Items with fewer than two votes say nothing about people and are left out.

    >>> votes = np.array([[5, 0], [4, 1], [0, 5], [0, 5]])
    >>> found = parity(np.array([0, 0, 1, 1]), votes, np.array([0, 0, 1, 0]), 2)
    >>> round(found.human.value, 3), round(found.model.value, 3)
    (0.95, 0.733)
    """
    if not len(label) == len(votes) == len(predicted):
        raise BadInput("People and model are compared on the same items.")
    judged = votes.sum(axis=1) >= 2
    label, votes, predicted = label[judged], votes[judged], predicted[judged]
    if not len(label):
        nothing = Estimate(None, reason="no item has two votes")
        return Parity(0, nothing, nothing, nothing)
    rows = np.hstack([human_rows(votes, classes), answer_rows(label, predicted, classes)])
    parts = (slice(3 * classes), slice(3 * classes, None))
    total = rows.sum(axis=0)
    human, model = _drawn_f1(rows, parts, classes, seed, resamples)
    values = [float(macro_f1(total[part])) for part in parts]
    return Parity(
        len(label),
        around(values[0], human, confidence),
        around(values[1], model, confidence),
        around(values[1] - values[0], model - human, confidence),
    )


def _drawn_f1(
    rows: FloatArray, parts: tuple[slice, slice], classes: int, seed: int, resamples: int
) -> tuple[FloatArray, FloatArray]:
    """Return people's and the model's F1 on items drawn anew: by bootstrap, where that has enough to draw from."""
    if not is_few(len(rows)):
        both = Tally.of_rows(rows).resampled(resamples, np.random.default_rng(seed))
        human, model = (macro_f1(both[:, part]) for part in parts)
        if not any(is_constant(figure) for figure in (human, model, model - human)):
            return human, model
    own = [Tally.of_rows(rows[:, part], _prior(classes)) for part in parts]
    human, model = (macro_f1(totals) for totals in posterior_totals(own, seed=seed, resamples=resamples, apart=True))
    return human, model


def _prior(classes: int) -> Prior:
    """Return what an example of each class adds at best and at worst, for few items (see `stats.posterior`)."""
    own, others = np.eye(classes), (1 - np.eye(classes)) / max(classes - 1, 1)
    best = np.hstack([own, own, own])
    worst = np.hstack([np.zeros_like(own), others, own])
    return Prior(best, worst, lambda totals: _accuracy(totals, classes))


def _accuracy(totals: FloatArray, classes: int) -> FloatArray:
    """Return the share of answers that are right, from totals of hits, answers and labels."""
    hits, true = totals[..., :classes].sum(axis=-1), totals[..., 2 * classes :].sum(axis=-1)
    return np.asarray(hits / np.maximum(true, 1e-9), dtype=np.float64)


def human_rows(votes: IntArray, classes: int) -> FloatArray:
    """Return what each item adds for an average person: hits, answers, labels by class (items × 3·classes)."""
    size = votes.sum(axis=1)
    hits, answers, true = (np.zeros((len(votes), classes)) for _ in range(3))
    for code in range(votes.shape[1]):
        weight = votes[:, code] / size
        others = votes.copy()
        others[:, code] -= votes[:, code] > 0
        leading = others == others.max(axis=1, keepdims=True)
        share = leading / leading.sum(axis=1, keepdims=True)
        true += weight[:, None] * share[:, :classes]
        if code < classes:
            answers[:, code] += weight
            hits[:, code] += weight * share[:, code]
    return np.hstack([hits, answers, true])


def answer_rows(label: IntArray, predicted: IntArray, classes: int) -> FloatArray:
    """Return what each item adds for one who gives one answer: hits, answers and labels of each class."""
    names = np.arange(classes)
    answers, true = predicted[:, None] == names, label[:, None] == names
    return np.hstack([answers & true, answers, true]).astype(np.float64)


def macro_f1(totals: FloatArray) -> FloatArray:
    """Average the classes' F1 from their totals of hits, answers and labels; a class that never occurs is left out."""
    hits, answers, true = np.split(totals, 3, axis=-1)
    occurs = answers + true > 0
    f1 = np.where(occurs, 2 * hits / np.where(occurs, answers + true, 1.0), 0.0)
    count = occurs.sum(axis=-1)
    return np.asarray(np.where(count > 0, f1.sum(axis=-1) / np.maximum(count, 1), np.nan))
