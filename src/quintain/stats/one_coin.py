"""The one-coin model: each worker is right with one probability, and wrong evenly among the other classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import Judgements, mean_move, softmax, total_by

SURE = 1.6449  # standard errors: 95 % of a normal distribution are below
PART = 100_000  # votes that are looked at together: what is computed of a million would take much memory
EVEN = 0.1  # of what is known of fitted shares: evenly spread
NEARLY = 0.005  # shares of votes that are so near to even ones make no difference


@dataclass(frozen=True, slots=True)
class OneCoin:
    """The fitted model: items' posteriors, and each worker's accuracy as a Beta distribution.

    *prior* is how probable each class was taken to be beforehand.
    """

    posterior: FloatArray
    right: FloatArray
    wrong: FloatArray
    iterations: int
    converged: bool
    prior: FloatArray

    @property
    def accuracy(self) -> FloatArray:
        """Each worker's accuracy: the mean of the Beta distribution."""
        return np.asarray(self.right / (self.right + self.wrong), dtype=np.float64)

    def accuracy_quantile(self, share: float) -> FloatArray:
        """Return the accuracy below which each worker's true one lies with probability *share*."""
        return np.asarray(scipy.special.betaincinv(self.right, self.wrong, share), dtype=np.float64)


def vote_log_odds(accuracy: FloatArray, classes: int) -> FloatArray:
    """Return how much a vote of this *accuracy* speaks for its class: 0 at chance, below it negative."""
    sure = np.clip(accuracy, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(sure * max(classes - 1, 1) / (1 - sure)), dtype=np.float64)


def fit_one_coin(
    judgements: Judgements,
    *,
    right: float = 2.0,
    wrong: float = 1.0,
    iterations: int = 200,
    tolerance: float = 1e-5,
) -> OneCoin:
    """Fit the model by EM from the shares of votes, with the prior Beta(*right*, *wrong*) on every accuracy.

    Beforehand all classes are equally probable; or as frequent as they are among the votes, or as frequent as they
    come out, where that surely foretells each vote better from the others on its item. Where workers err, votes make
    classes look more alike than they are, and only the fitted shares see it; but there they may also let one class
    swallow the others, which votes that are foretold worse give away.

    It ends when an item's posterior moves by no more than *tolerance* on average.
    """
    classes = len(judgements.classes)
    even = np.full(classes, 1 / max(classes, 1))
    votes = (np.bincount(judgements.label, minlength=classes) + 1.0) / (len(judgements) + classes)
    options: dict[str, Any] = {"right": right, "wrong": wrong, "iterations": iterations, "tolerance": tolerance}
    compared = np.flatnonzero(judgements.sizes()[judgements.item] > 1)
    alike = np.abs(even - votes).max(initial=0.0) < NEARLY
    if alike or not len(compared):
        return _fit(judgements, even, **options)
    best = _fit(judgements, even, **options)
    foretold = _foretold(judgements, compared, best)
    for rival in (_fit(judgements, votes, **options), _fit(judgements, votes, fitted=True, **options)):
        rival_foretold = _foretold(judgements, compared, rival)
        if _is_sure(total_by(judgements.item[compared], rival_foretold - foretold, len(judgements.items))):
            best, foretold = rival, rival_foretold
    return best


def _is_sure(gains: FloatArray) -> bool:
    """Whether the mean of the items' *gains* is above 0, with 95 % confidence."""
    mean, error = float(gains.mean()), float(gains.std() / np.sqrt(len(gains)))
    return mean > SURE * error


def _foretold(judgements: Judgements, rows: IntArray, fit: OneCoin) -> FloatArray:
    """Return the log probability of some votes, given all others on their items and how often workers are right."""
    parts = [_foretold_some(judgements, rows[start : start + PART], fit) for start in range(0, len(rows), PART)]
    return np.concatenate(parts)


def _foretold_some(judgements: Judgements, rows: IntArray, fit: OneCoin) -> FloatArray:
    item, label, classes = judgements.item[rows], judgements.label[rows], len(judgements.classes)
    accuracy, belief = fit.accuracy[judgements.worker[rows]], fit.posterior[item, label]
    without = belief * np.exp(-vote_log_odds(accuracy, classes))
    without /= 1 - belief + without
    probability = without * accuracy + (1 - without) * (1 - accuracy) / max(classes - 1, 1)
    return np.asarray(np.log(np.maximum(probability, 1e-300)), dtype=np.float64)


def _fit(
    judgements: Judgements,
    prior: FloatArray,
    *,
    right: float,
    wrong: float,
    iterations: int,
    tolerance: float,
    fitted: bool = False,
) -> OneCoin:
    """Fit the model with these shares of the classes; *fitted* ones begin there and follow the items."""
    workers, slots = len(judgements.workers), judgements.slots()
    votes = np.bincount(judgements.worker, minlength=workers).astype(np.float64)
    counts = judgements.counts().T
    posterior = np.ascontiguousarray(counts / np.maximum(counts.sum(axis=0), 1))
    agreed, moved, done = np.zeros(workers), np.inf, 0
    while done < iterations and moved > tolerance:
        done += 1
        agreed = total_by(judgements.worker, posterior.ravel()[slots], workers)
        weights = vote_log_odds((agreed + right) / (votes + right + wrong), len(judgements.classes))
        if fitted:
            prior = (posterior.mean(axis=1) + EVEN / len(prior)) / (1 + EVEN)
        new, _ = softmax(judgements.add_up(weights[judgements.worker], slots) + np.log(prior)[:, None])
        moved = mean_move(posterior, new)
        posterior = new
    agreed = total_by(judgements.worker, posterior.ravel()[slots], workers)
    # Sums of many posteriors may pass the number of votes by a rounding error.
    agreed = np.minimum(agreed, votes)
    return OneCoin(posterior.T, agreed + right, votes - agreed + wrong, done, moved <= tolerance, prior)
