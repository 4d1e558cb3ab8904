"""A linear learner for partial inputs: multinomial for labels, one set of weights over the options for choices.

It is no strong model, and need not be: what it finds without reading the whole input, anybody can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quintain.stats.artefacts.descent import descend
from quintain.stats.bootstrap import FloatArray, IntArray

PENALTY = 1e-5  # on the squared weights, beside the mean loss
ITERATIONS = 40


def grouped_folds(groups: IntArray, folds: int, seed: int) -> IntArray:
    """Deal groups out over folds, so that no group is in two, the large first to where there is least.

    >>> fold = grouped_folds(np.array([0, 0, 1, 2, 2]), 2, seed=0)
    >>> bool(fold[0] == fold[1] and fold[3] == fold[4])
    True
    """
    values, code, counts = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(values))
    order = order[np.argsort(-counts[order], kind="stable")]
    if len(values) > 20 * folds and counts.max() * folds < counts.sum() / 4:
        place = np.empty(len(values), dtype=np.int64)
        place[order] = np.arange(len(values)) % folds
        return place[code]
    filled, place = np.zeros(folds), np.zeros(len(values), dtype=np.int64)
    for one in order.tolist():
        fold = int(filled.argmin())
        place[one] = fold
        filled[fold] += counts[one]
    return place[code]


def predict_labels(features: Any, answer: IntArray, classes: int, fold: IntArray) -> IntArray:
    """Predict each row's label by a regression that has seen no row of its fold."""
    found = np.zeros(len(answer), dtype=np.int64)
    for one in np.unique(fold).tolist():
        held = fold == one
        weights = _fit_labels(features[~held], answer[~held], classes)
        found[held] = np.asarray(features[held] @ weights[:-1] + weights[-1]).argmax(axis=1)
    return found


def _fit_labels(features: Any, answer: IntArray, classes: int) -> FloatArray:
    rows, columns = features.shape
    target = np.zeros((rows, classes), dtype=np.float32)
    target[np.arange(rows), answer] = 1
    turned = features.T.tocsr()
    share = np.log((target.sum(axis=0) + 0.5) / (rows + 0.5 * classes))

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.astype(np.float32).reshape(columns + 1, classes)
        scores = features @ weights[:-1] + weights[-1]
        scores -= scores.max(axis=1, keepdims=True)
        likely = np.exp(scores)
        whole = likely.sum(axis=1, keepdims=True)
        error = (likely / whole - target) / rows
        value = float((np.log(whole[:, 0]) - (scores * target).sum(axis=1)).mean(dtype=np.float64))
        slope = np.empty((columns + 1, classes), dtype=np.float64)
        slope[:-1] = turned @ error + PENALTY * weights[:-1]
        slope[-1] = error.sum(axis=0)
        return value + PENALTY / 2 * float(np.square(weights[:-1]).sum(dtype=np.float64)), slope.ravel()

    start = np.zeros((columns + 1, classes))
    start[-1] = share
    return descend(loss, start.ravel(), turns=ITERATIONS).reshape(columns + 1, classes)


def predict_options(features: Any, example: IntArray, right: IntArray, fold: IntArray) -> IntArray:
    """Choose an option for each example: rows of *features* are options, *example* says whose, in order.

    *right* is 1 where an option is right. Given is the row that is chosen for each example.
    """
    scores = np.zeros(features.shape[0])
    for one in np.unique(fold).tolist():
        held = fold[example] == one
        weights = _fit_options(features[~held], example[~held], right[~held])
        scores[held] = features[held] @ weights
    order = np.lexsort((-scores, example))
    first = np.concatenate([[True], np.diff(example[order]) != 0])
    return np.asarray(order[first], dtype=np.int64)


def _fit_options(features: Any, example: IntArray, right: IntArray) -> FloatArray:
    _, whose = np.unique(example, return_inverse=True)
    number = int(whose.max()) + 1
    begins = np.flatnonzero(np.concatenate([[True], np.diff(whose) != 0]))
    turned = features.T.tocsr()
    target = right.astype(np.float32)

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.astype(np.float32)
        scores = features @ weights
        top = np.maximum.reduceat(scores, begins)
        likely = np.exp(scores - top[whose])
        whole = np.add.reduceat(likely, begins)
        value = float((np.log(whole) + top).sum(dtype=np.float64) - np.einsum("i,i->", scores, target)) / number
        slope = turned @ ((likely / whole[whose] - target) / number) + PENALTY * weights
        return value + PENALTY / 2 * float(np.square(weights).sum(dtype=np.float64)), np.asarray(
            slope, dtype=np.float64
        )

    return descend(loss, np.zeros(features.shape[1]), turns=ITERATIONS)
