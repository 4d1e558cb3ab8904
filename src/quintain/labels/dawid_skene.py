"""Dawid and Skene (1979): each worker has a table of what they say given what is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior, shares
from quintain.stats.bootstrap import FloatArray
from quintain.stats.judgements import Judgements, softmax

PART = 8192  # items at a time, whose tables stay in the cache: the cost of a judgement does not grow with their number


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
        parts = _parts(votes)
        posterior = shares(judgements.counts())
        share = posterior.mean(axis=0)
        told = self._tables(back @ posterior)
        gain, done, likelihood = np.inf, 0, -np.inf
        while done < self.iterations and gain > self.tolerance:
            done, before = done + 1, likelihood
            share, likelihood = _expect(parts, told, share, posterior)
            gain = (likelihood - before) / len(judgements)
            told = self._tables(back @ posterior)
        accuracy = np.einsum("wcc,c->w", told.reshape(-1, *2 * told.shape[1:]), share)
        details = {"iterations": done, "converged": gain <= self.tolerance, "log_likelihood": likelihood}
        return from_posterior(judgements, posterior, seed, accuracy=accuracy, details=details)

    def _tables(self, counts: FloatArray) -> FloatArray:
        """Make P(label | worker, class) from expected counts, as a (worker·label × class) table."""
        classes = counts.shape[1]
        tables = counts.reshape(-1, classes, classes)
        pool = tables.sum(axis=0) + 0.01
        tables = tables + self.smoothing * (pool / pool.sum(axis=0))
        tables /= tables.sum(axis=1, keepdims=True)
        return np.asarray(tables.reshape(-1, classes), dtype=np.float64)


def _parts(votes: Any) -> list[tuple[slice, Any]]:
    """Cut the matrix of votes into runs of items, sharing its numbers."""
    found = []
    for start in range(0, votes.shape[0], PART):
        part = slice(start, min(start + PART, votes.shape[0]))
        first, last = votes.indptr[part.start], votes.indptr[part.stop]
        inner = (votes.data[first:last], votes.indices[first:last], votes.indptr[part.start : part.stop + 1] - first)
        found.append((part, sparse.csr_array(inner, shape=(part.stop - part.start, votes.shape[1]))))
    return found


def _expect(
    parts: list[tuple[slice, Any]], told: FloatArray, share: FloatArray, posterior: FloatArray
) -> tuple[FloatArray, float]:
    """Write the items' posteriors into *posterior*; give the classes' shares and the log likelihood."""
    logs, prior = np.log(told), np.log(np.maximum(share, 1e-12))[:, None]
    total, likelihood = np.zeros(len(share)), 0.0
    for part, votes in parts:
        found, gained = softmax(np.ascontiguousarray((votes @ logs).T) + prior)
        posterior[part] = found.T
        total += found.sum(axis=1)
        likelihood += gained
    return total / len(posterior), likelihood
