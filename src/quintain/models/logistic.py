"""Multinomial logistic regression by L-BFGS, with an L2 penalty on the weights and none on the intercepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.models.contract import Progress, quiet
from quintain.models.softmax import softmax

Floats = npt.NDArray[np.float64]
Matrix = Any  # scipy.sparse.csr_matrix, for which there are no types, or Floats


@dataclass(frozen=True, slots=True)
class Logistic:
    """Weights (features × classes) and intercepts."""

    weights: Floats
    intercepts: Floats

    def probabilities(self, features: Matrix) -> Floats:
        """Return the probability of each class for each row."""
        return softmax(np.asarray(features @ self.weights + self.intercepts))


def fit(
    features: Matrix,
    classes: npt.NDArray[np.int64],
    count: int,
    *,
    strength: float = 1.0,
    iterations: int = 300,
    progress: Progress = quiet,
) -> Logistic:
    """Minimise Σ −log p(class) + ‖weights‖² / (2 · *strength*) over *count* classes.

    Classes without an example keep a finite, very low intercept: half an example is added to each class's prior, so
    that the minimum exists whatever the data.
    """
    target = np.zeros((features.shape[0], count))
    target[np.arange(len(target)), classes] = 1.0
    return fit_mass(features, target, strength=strength, iterations=iterations, progress=progress)


def fit_mass(
    features: Matrix,
    mass: Floats,
    *,
    strength: float = 1.0,
    iterations: int = 300,
    progress: Progress = quiet,
    start: Logistic | None = None,
    step: Callable[[int, Logistic], bool] | None = None,
) -> Logistic:
    """Do the same where a row speaks for several classes: *mass* has how much for each.

    With *start*, the weights are drawn towards those instead of zero: a model that goes on from another one keeps what
    the new examples do not speak against. After each iteration *step* gets its number and what was found so far, and
    says whether to stop.
    """
    (rows, columns), count = features.shape, mass.shape[1]
    target, totals = mass, mass.sum(axis=1, keepdims=True)
    prior = np.full(count, 0.5 / count)
    transposed = features.T.tocsr() if scipy.sparse.issparse(features) else features.T
    centre = np.zeros((columns, count)) if start is None else np.asarray(start.weights, dtype=np.float64)
    done = 0

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights, intercepts = flat[: columns * count].reshape(columns, count), flat[columns * count :]
        away = weights - centre
        scores = features @ weights + intercepts
        log_p = scores - scipy.special.logsumexp(scores, axis=1, keepdims=True)
        log_prior = intercepts - scipy.special.logsumexp(intercepts)
        value = -np.sum(target * log_p) - prior @ log_prior + np.sum(away**2) / (2 * strength)
        error = np.exp(log_p) * totals - target
        gradient = transposed @ error + away / strength
        bias = error.sum(axis=0) + np.exp(log_prior) * prior.sum() - prior
        return float(value) / rows, np.concatenate([np.asarray(gradient).ravel(), bias]) / rows

    def found(flat: Floats) -> Logistic:
        return Logistic(flat[: columns * count].reshape(columns, count), flat[columns * count :])

    def after(flat: Floats) -> None:
        nonlocal done
        done += 1
        progress(min(0.99, done / iterations))
        if step is not None and step(done, found(flat)):
            raise StopIteration

    intercepts = np.zeros(count) if start is None else np.asarray(start.intercepts, dtype=np.float64)
    begin = np.concatenate([centre.ravel(), intercepts])
    options = {"maxiter": iterations, "gtol": 1e-5, "ftol": 1e-8}
    return found(scipy.optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", callback=after, options=options).x)
