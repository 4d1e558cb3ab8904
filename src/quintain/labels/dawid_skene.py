"""Dawid and Skene (1979): each worker has a table of what they say given what is true."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior, shares
from quintain.stats.bootstrap import FloatArray
from quintain.stats.judgements import Judgements, softmax

PART = 16384  # items at a time, which stay in the cache
CACHED = 100_000  # numbers in the workers' tables that stay in the cache too, whatever the order of the votes


@dataclass(frozen=True, slots=True)
class EmStep:
    """Where EM is after an iteration."""

    posterior: FloatArray
    tables: FloatArray
    share: FloatArray
    iterations: int
    converged: bool
    likelihood: float


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
        if judgements.sizes().max() < 2:  # without two views of an item any tables fit, and those found would be noise
            nothing = np.full(len(judgements.workers), np.nan)
            posterior = shares(judgements.counts())
            return from_posterior(judgements, posterior, seed, accuracy=nothing, details={"iterations": 0})
        *_, step = self._steps(judgements, self._most(judgements, seed))
        accuracy = np.einsum("wcc,c->w", step.tables.reshape(-1, *2 * step.tables.shape[1:]), step.share)
        details = {"iterations": step.iterations, "converged": step.converged, "log_likelihood": step.likelihood}
        return from_posterior(judgements, step.posterior, seed, accuracy=accuracy, details=details)

    def _most(self, judgements: Judgements, seed: int) -> int:
        """Return how many iterations to do at most."""
        return self.iterations

    def _steps(self, judgements: Judgements, most: int) -> Iterator[EmStep]:
        """Alternate: the E-step is (items × worker·label) @ (worker·label × classes), the M-step its transpose."""
        posterior = shares(judgements.counts())
        votes = _votes(judgements)
        share, tables = posterior.mean(axis=0), self._tables(votes.T @ posterior)
        gain, done, likelihood = np.inf, 0, -np.inf
        while done < most and gain > self.tolerance:
            done, before = done + 1, likelihood
            posterior = votes @ np.log(tables)
            share, likelihood = _expect(posterior, share)
            gain = (likelihood - before) / len(judgements)
            tables = self._tables(votes.T @ posterior)
            yield EmStep(posterior, tables, share, done, bool(gain <= self.tolerance), likelihood)

    def _tables(self, counts: FloatArray) -> FloatArray:
        """Make P(label | worker, class) from expected counts, as a (worker·label × class) table."""
        classes = counts.shape[1]
        tables = counts.reshape(-1, classes, classes)
        pool = tables.sum(axis=0) + 0.01
        tables = tables + self.smoothing * (pool / pool.sum(axis=0))
        tables /= tables.sum(axis=1, keepdims=True)
        return np.asarray(tables.reshape(-1, classes), dtype=np.float64)


def _votes(judgements: Judgements) -> Any:
    """Return the sparse matrix item × (worker · label) with a 1 for each vote, in an order kind to the cache.

    A product walks through the votes in their order. Where the workers' tables are too large for the cache, the votes
    on PART items are put in the order of workers: then the tables are read from front to end, and only the PART items
    here and there. That costs more per vote than going item by item, but no more with ten million votes.
    """
    classes, workers = len(judgements.classes), max(len(judgements.workers), 1)
    if workers * classes**2 <= CACHED:
        return judgements.by_cell()
    near = (judgements.worker * 2**16 // workers).astype(np.uint16)  # 16 bits are sorted without comparing
    ends = np.searchsorted(judgements.item, np.arange(0, len(judgements.items) + PART, PART))
    order = np.concatenate([start + near[start:end].argsort(kind="stable") for start, end in pairwise(ends)])
    small = np.int32 if max(workers * classes, len(judgements.items)) < 2**31 else np.int64
    cells = (judgements.worker * classes + judgements.label)[order].astype(small)
    places = (judgements.item[order].astype(small), cells)
    return scipy.sparse.coo_array((np.ones(len(order)), places), shape=(len(judgements.items), workers * classes))


def _expect(scores: FloatArray, share: FloatArray) -> tuple[FloatArray, float]:
    """Turn *scores* into the items' posteriors, in place; give the classes' shares and the log likelihood."""
    prior = np.log(np.maximum(share, 1e-12))[:, None]
    total, likelihood = np.zeros(len(share)), 0.0
    for start in range(0, len(scores), PART):
        part = scores[start : start + PART]
        posterior, gained = softmax(np.ascontiguousarray(part.T) + prior)
        part[:] = posterior.T
        total += posterior.sum(axis=1)
        likelihood += gained
    return total / len(scores), likelihood
