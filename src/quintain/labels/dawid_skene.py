"""Dawid and Skene (1979): each worker has a table of what they say given what is true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior, shares
from quintain.stats.bootstrap import FloatArray
from quintain.stats.judgements import Judgements, softmax


@AGGREGATORS.register("dawid-skene")
@dataclass(frozen=True)
class DawidSkene(Aggregator):
    """EM over items' labels and workers' confusion tables, begun from the shares of votes.

    A worker's table begins with *smoothing* judgements of each class, spread as everybody's are, so that little work
    does not make a certain table. It ends when an iteration gains no more than *tolerance* in log likelihood
    per judgement.
    """

    name = "dawid-skene"
    title = "EM with a confusion table for each worker (Dawid and Skene 1979)"

    iterations: int = 300
    tolerance: float = 1e-6
    smoothing: float = 1.0

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.smoothing <= 0:
            raise BadInput("Dawid–Skene needs at least one iteration and a smoothing above 0.")

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Alternate: the E-step is (items × worker·label) @ (worker·label × classes), the M-step its transpose."""
        votes = judgements.by_cell()
        back = votes.T  # by columns: its scattered sums stay in the cache, scattered reads of posteriors would not
        posterior = np.ascontiguousarray(shares(judgements.counts()).T)
        told = self._tables(back @ np.ascontiguousarray(posterior.T))
        gain, done, likelihood = np.inf, 0, -np.inf
        while done < self.iterations and gain > self.tolerance:
            done += 1
            prior = np.log(np.maximum(posterior.mean(axis=1), 1e-12))
            before = likelihood
            posterior, likelihood = softmax(np.ascontiguousarray((votes @ np.log(told)).T) + prior[:, None])
            gain = (likelihood - before) / len(judgements)
            told = self._tables(back @ np.ascontiguousarray(posterior.T))
        accuracy = np.einsum("wcc,c->w", told.reshape(-1, *2 * told.shape[1:]), posterior.mean(axis=1))
        details = {"iterations": done, "converged": gain <= self.tolerance, "log_likelihood": likelihood}
        return from_posterior(judgements, posterior.T, seed, accuracy=accuracy, details=details)

    def _tables(self, counts: FloatArray) -> FloatArray:
        """Make P(label | worker, class) from expected counts, as a (worker·label × class) table."""
        classes = counts.shape[1]
        tables = counts.reshape(-1, classes, classes)
        pool = tables.sum(axis=0) + 0.01
        tables = tables + self.smoothing * (pool / pool.sum(axis=0))
        tables /= tables.sum(axis=1, keepdims=True)
        return np.asarray(tables.reshape(-1, classes), dtype=np.float64)
