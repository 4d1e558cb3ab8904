"""How well an attribute predicts the label: logistic regression, cross-validated, against always saying the commonest.

An attribute that says more than chance gives the label away: a model can be right for the wrong reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import IntArray

FloatArray = npt.NDArray[np.float64]

FOLDS = 5
PENALTY = 1.0  # on the squared weights, as of one example; keeps weights finite where a value has one label only
MOST_NEWTON = 120  # weights up to which their second derivatives are computed: a few steps are enough then
MOST_CELLS = 1_000_000  # weights times rows, for the same
LEAST_CURVATURE = 1e-6
MOST_STEPS, CLOSE = 50, 1e-9
MOST_VALUES = 200  # of a category; the others are one


@dataclass(frozen=True, slots=True)
class Gain:
    """The share that was predicted rightly, *chance*, and what the one is above the other."""

    accuracy: float
    chance: float

    @property
    def gain(self) -> float:
        """What the attribute is worth: never below 0, since one need not look at it."""
        return max(0.0, self.accuracy - self.chance)


def gain_over_chance(features: FloatArray, label: IntArray, seed: int, *, folds: int = FOLDS) -> Gain:
    """Predict *label* from *features* (rows × columns) by regressions that have not seen the rows they predict.

    >>> label = np.tile([0, 1], 50)
    >>> gain_over_chance(label[:, None].astype(float), label, seed=1).gain
    0.5
    >>> gain_over_chance(np.zeros((100, 1)), label, seed=1).gain
    0.0
    """
    classes, code = np.unique(label, return_inverse=True)
    counts = np.bincount(code, minlength=len(classes))
    chance = float(counts.max() / len(code)) if len(code) else 1.0
    if len(classes) < 2 or len(code) < folds:
        return Gain(chance, chance)
    fold = _folds(code, folds, np.random.default_rng(seed))
    right = 0
    for number in range(folds):
        held = fold == number
        weights = _fit(features[~held], code[~held], len(classes))
        right += int((_scores(features[held], weights).argmax(axis=1) == code[held]).sum())
    return Gain(right / len(code), chance)


def one_hot(codes: IntArray, *, most: int = MOST_VALUES) -> FloatArray:
    """Return a column for each of the *most* common values; rarer ones, and -1, share the last.

    >>> one_hot(np.array([0, 1, 0])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    values, counts = np.unique(codes[codes >= 0], return_counts=True)
    common = np.sort(values[np.argsort(-counts, kind="stable")[:most]])
    column = np.searchsorted(common, codes)
    known = (column < len(common)) & (codes >= 0)
    known[known] = common[column[known]] == codes[known]
    columns = np.zeros((len(codes), len(common) + 1))
    columns[np.arange(len(codes)), np.where(known, column, len(common))] = 1
    return columns


def _folds(code: IntArray, folds: int, rng: np.random.Generator) -> IntArray:
    """Deal the rows of each class out over the folds, so that each fold has its share of every class."""
    order = rng.permutation(len(code))
    order = order[np.argsort(code[order], kind="stable")]
    fold = np.empty(len(code), dtype=np.int64)
    fold[order] = np.arange(len(code)) % folds
    return fold


def _scores(features: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray(features @ weights[1:] + weights[0])


def _fit(features: FloatArray, code: IntArray, classes: int) -> FloatArray:
    """Fit a multinomial regression: an intercept for each class in the first row, then a row for each feature."""
    shape = (features.shape[1] + 1, classes)
    problem = _Regression(features, code, classes)
    weights = shape[0] * classes
    if weights > MOST_NEWTON or weights * len(code) > MOST_CELLS:
        solution = scipy.optimize.minimize(
            problem.loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200}
        )
        return np.asarray(solution.x).reshape(shape)
    return _newton(problem, np.zeros(shape).ravel()).reshape(shape)


@dataclass(frozen=True, slots=True)
class _Regression:
    features: FloatArray
    code: IntArray
    classes: int

    def loss(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return the penalised loss of the weights, which are in one row, and its slope."""
        weights, shares = flat.reshape(-1, self.classes), self.shares(flat)
        rows = np.arange(len(self.code))
        likelihood = np.log(np.maximum(shares[rows, self.code], np.finfo(float).tiny)).sum()
        shares[rows, self.code] -= 1
        slope = np.concatenate([shares.sum(axis=0, keepdims=True), self.features.T @ shares])
        slope[1:] += PENALTY * weights[1:]
        return float(PENALTY / 2 * (weights[1:] ** 2).sum() - likelihood), slope.ravel()

    def shares(self, flat: FloatArray) -> FloatArray:
        """Return the probabilities of the classes by row."""
        scores = _scores(self.features, flat.reshape(-1, self.classes))
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def curvature(self, flat: FloatArray) -> FloatArray:
        """Return the second derivatives of the loss."""
        shares = self.shares(flat)
        rows = np.concatenate([np.ones((len(self.features), 1)), self.features], axis=1)
        between = np.eye(self.classes) * shares[:, None, :] - shares[:, :, None] * shares[:, None, :]
        size = rows.shape[1] * self.classes
        second = np.einsum("rp,rkl,rq->pkql", rows, between, rows, optimize=True).reshape(size, size)
        # One intercept too many: the little on the diagonal keeps their sum where it is.
        penalty = np.full(size, PENALTY)
        penalty[: self.classes] = LEAST_CURVATURE
        return np.asarray(second + np.diag(penalty))


def _newton(problem: _Regression, flat: FloatArray) -> FloatArray:
    """Minimise by Newton's steps, halved while they overshoot."""
    value, slope = problem.loss(flat)
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(problem.curvature(flat), slope)
        if float(slope @ step) < CLOSE:
            break
        length = 1.0
        while (tried := problem.loss(flat - length * step))[0] > value and length > CLOSE:
            length /= 2
        flat, (value, slope) = flat - length * step, tried
    return flat
