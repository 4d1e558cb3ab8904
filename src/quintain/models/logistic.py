"""Multinomial logistic regression by L-BFGS, with an L2 penalty on the weights and none on the intercepts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.models.contract import Progress, quiet

Floats = npt.NDArray[np.float64]
Matrix = Any  # scipy.sparse.csr_matrix, for which there are no types, or Floats


@dataclass(frozen=True, slots=True)
class Logistic:
    """Weights (features × classes) and intercepts."""

    weights: Floats
    intercepts: Floats

    def probabilities(self, features: Matrix) -> Floats:
        """Give the probability of each class for each row."""
        return np.asarray(scipy.special.softmax(features @ self.weights + self.intercepts, axis=1))


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
    rows, columns = features.shape
    target = np.zeros((rows, count))
    target[np.arange(rows), classes] = 1.0
    prior = np.full(count, 0.5 / count)
    transposed = features.T.tocsr() if scipy.sparse.issparse(features) else features.T
    done = 0

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights, intercepts = flat[: columns * count].reshape(columns, count), flat[columns * count :]
        scores = features @ weights + intercepts
        log_p = scores - scipy.special.logsumexp(scores, axis=1, keepdims=True)
        log_prior = intercepts - scipy.special.logsumexp(intercepts)
        value = -np.sum(target * log_p) - prior @ log_prior + np.sum(weights**2) / (2 * strength)
        error = np.exp(log_p) - target
        gradient = transposed @ error + weights / strength
        bias = error.sum(axis=0) + np.exp(log_prior) * prior.sum() - prior
        return float(value) / rows, np.concatenate([np.asarray(gradient).ravel(), bias]) / rows

    def step(_: Any) -> None:
        nonlocal done
        done += 1
        progress(min(0.99, done / iterations))

    start = np.zeros((columns + 1) * count)
    options = {"maxiter": iterations, "gtol": 1e-5, "ftol": 1e-8}
    found = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B", callback=step, options=options).x
    return Logistic(found[: columns * count].reshape(columns, count), found[columns * count :])
