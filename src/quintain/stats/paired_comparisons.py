"""Strengths from votes between two: Bradley and Terry (1952), with ties as in Davidson (1970), and covariates.

With *d* the difference of two strengths and what covariates add to it, the odds of left, right and tie are
exp(d / 2) : exp(-d / 2) : tie. Votes that are alike are one row, so that without covariates ten million of them are a
table of pairs. The likelihood is concave; Newton's steps reach its top.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray

STEPS, PRECISION, FARTHEST = 100, 1e-10, 60.0
HELD = 0.5  # votes each way that hold a model which won or lost all of its own
PRIOR = 1 / 100  # of covariates: a spread of ten logits
SHARE_OF_ITS_OWN = 1e-8  # of a covariate, below which it is told by the models and those before it


@dataclass(frozen=True)
class Comparisons:
    """Votes between pairs of *size* competitors: each row stands for votes that are alike.

    *outcome* is 1 for left, 0 for a tie and -1 for right. *weight* and *squares* are the sums of the votes' weights
    and of their squares. *covariates* are what left has more than right. *judges* has a row for each judge, with the
    weight of their votes in each row here.
    """

    size: int
    left: IntArray
    right: IntArray
    outcome: IntArray
    weight: FloatArray
    squares: FloatArray
    covariates: FloatArray
    judges: scipy.sparse.csr_array | None = None

    @cached_property
    def ties(self) -> bool:
        """Whether there is a tie."""
        return bool((self.outcome == 0).any())

    @property
    def parameters(self) -> int:
        """How many numbers are estimated, strengths first, then covariates, then the tie's."""
        return int(self.size + self.covariates.shape[1] + self.ties)

    def components(self, *, strong: bool = False) -> IntArray:
        """Return to which part each belongs, of those that votes join.

        In a *strong* part each has beaten the others, or tied with them, by way of some.
        """
        won, lost = self.outcome >= 0, self.outcome <= 0
        start = np.concatenate([self.left[won], self.right[lost]])
        end = np.concatenate([self.right[won], self.left[lost]])
        joined = scipy.sparse.coo_array((np.ones(len(start)), (start, end)), shape=(self.size, self.size))
        kind = "strong" if strong else "weak"
        parts = scipy.sparse.csgraph.connected_components(joined, directed=True, connection=kind)[1]
        return np.asarray(parts, dtype=np.int64)

    def held(self, parts: IntArray) -> Comparisons:
        """Add half a vote each way to every pair that was compared across *parts*, so that strengths stay finite."""
        across = parts[self.left] != parts[self.right]
        pairs = np.unique(self.left[across] * self.size + self.right[across])
        left, right = np.divmod(np.concatenate([pairs, pairs]), self.size)
        weight = np.full(len(left), HELD * float(self.squares.sum() / self.weight.sum()))
        judges = self.judges
        if judges is not None:
            judges = scipy.sparse.hstack([judges, scipy.sparse.csr_array((judges.shape[0], len(left)))], "csr")
        return Comparisons(
            self.size,
            np.concatenate([self.left, left]),
            np.concatenate([self.right, right]),
            np.concatenate([self.outcome, np.repeat([1, -1], len(pairs))]),
            np.concatenate([self.weight, weight]),
            np.concatenate([self.squares, weight**2]),
            np.concatenate([self.covariates, np.zeros((len(left), self.covariates.shape[1]))]),
            judges,
        )

    def identified(self) -> npt.NDArray[np.bool_]:
        """Return which covariates say something that the models and the covariates before do not."""
        width = self.covariates.shape[1]
        none = np.zeros(len(self.weight))
        own = gram(self, Slopes(self.weight, none, none))[: self.size + width, : self.size + width]
        own[: self.size, : self.size] += 1.0
        known = np.zeros(width, dtype=bool)
        for at in range(width):
            before = np.concatenate([np.arange(self.size), self.size + np.flatnonzero(known)])
            here = self.size + at
            shared = own[here, before] @ np.linalg.lstsq(own[np.ix_(before, before)], own[before, here])[0]
            known[at] = own[here, here] - shared > SHARE_OF_ITS_OWN * max(own[here, here], 1e-300)
        return known

    def with_covariates(self, chosen: npt.NDArray[np.bool_]) -> Comparisons:
        """Return the same with some of the covariates."""
        return replace(self, covariates=self.covariates[:, chosen])


@dataclass(frozen=True, slots=True)
class Slopes:
    """For each row what belongs to its difference twice, to difference and tie, and to the tie twice."""

    twice: FloatArray
    mixed: FloatArray
    tie: FloatArray


def gram(votes: Comparisons, slopes: Slopes) -> FloatArray:
    """Add up the outer products of the rows' designs (left minus right, covariates, tie), weighted by *slopes*."""
    n, width = votes.size, votes.covariates.shape[1]
    total = np.zeros((votes.parameters, votes.parameters))
    pairs = np.bincount(votes.left * n + votes.right, slopes.twice, n * n).reshape(n, n)
    total[:n, :n] = np.diag(pairs.sum(axis=0) + pairs.sum(axis=1)) - pairs - pairs.T
    for at in range(width):
        total[:n, n + at] = _sides(votes, slopes.twice * votes.covariates[:, at])
    weighted = votes.covariates * slopes.twice[:, None]
    total[n : n + width, n : n + width] = votes.covariates.T @ weighted
    if votes.ties:
        total[:n, -1] = _sides(votes, slopes.mixed)
        total[n : n + width, -1] = votes.covariates.T @ slopes.mixed
        total[-1, -1] = slopes.tie.sum()
    upper = np.triu(total)
    return np.asarray(upper + np.triu(upper, 1).T, dtype=np.float64)


def _sides(votes: Comparisons, values: FloatArray) -> FloatArray:
    """Add *values* to the left and take them from the right."""
    n = votes.size
    return np.asarray(np.bincount(votes.left, values, n) - np.bincount(votes.right, values, n), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Chances:
    """What strengths, covariates and the tie's parameter make of each row."""

    left: FloatArray
    tie: FloatArray
    right: FloatArray

    @property
    def lead(self) -> FloatArray:
        """Half of how much likelier left is than right."""
        return (self.left - self.right) / 2

    def information(self, weight: FloatArray) -> Slopes:
        """Return how the log-likelihood bends, row by row."""
        twice = (self.left + self.right) / 4 - self.lead**2
        return Slopes(weight * twice, -weight * self.lead * self.tie, weight * self.tie * (1 - self.tie))

    def scores(self, outcome: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return how one vote's log-likelihood rises with the difference, and with the tie's parameter."""
        return outcome / 2 - self.lead, (outcome == 0) - self.tie


def chances(votes: Comparisons, values: FloatArray) -> Chances:
    """Return the chances of left, tie and right in each row."""
    half = _differences(votes, values) / 2
    left, right = np.exp(half), np.exp(-half)
    tie = float(np.exp(values[-1])) if votes.ties else 0.0
    total = left + right + tie
    return Chances(left / total, tie / total, right / total)


def _differences(votes: Comparisons, values: FloatArray) -> FloatArray:
    n, width = votes.size, votes.covariates.shape[1]
    apart = values[votes.left] - values[votes.right]
    if width:
        apart = apart + votes.covariates @ values[n : n + width]
    return np.asarray(np.clip(apart, -FARTHEST, FARTHEST), dtype=np.float64)


def _loss(votes: Comparisons, values: FloatArray, prior: FloatArray) -> float:
    half = _differences(votes, values) / 2
    total = np.logaddexp(half, -half)
    own = votes.outcome * half
    if votes.ties:
        total = np.logaddexp(total, values[-1])
        own = own + values[-1] * (votes.outcome == 0)
    return float(votes.weight @ (total - own) + prior @ values**2 / 2)


@dataclass(frozen=True, slots=True)
class Strengths:
    """All that was estimated, *values* (strengths add up to 0), and what it takes to say how surely."""

    votes: Comparisons
    values: FloatArray
    information: FloatArray

    @property
    def chances(self) -> Chances:
        """The chances of each row."""
        return chances(self.votes, self.values)


def fit_strengths(votes: Comparisons) -> Strengths:
    """Estimate the strengths, the covariates' effects and the tie's parameter by maximum likelihood.

    Votes join all, and some of them are no ties.

    >>> left, right, outcome = (np.array(column) for column in ([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, -1]))
    >>> votes = Comparisons(2, left, right, outcome, np.ones(4), np.ones(4), np.zeros((4, 0)))
    >>> strengths = fit_strengths(votes).values
    >>> round(float(np.exp(strengths[0] - strengths[1])), 6)
    3.0
    """
    n, width = votes.size, votes.covariates.shape[1]
    values = np.zeros(votes.parameters)
    prior = np.zeros(votes.parameters)
    prior[n : n + width] = PRIOR * float(votes.squares.sum() / votes.weight.sum())
    loss = _loss(votes, values, prior)
    for _ in range(STEPS):
        now = chances(votes, values)
        step = np.linalg.solve(_bend(votes, now, prior), _rise(votes, now) - prior * values)
        share = 1.0
        while (then := _loss(votes, values + share * step, prior)) > loss and share > PRECISION:
            share /= 2
        values, loss = values + share * step, min(then, loss)
        if np.abs(step).max() < PRECISION or share <= PRECISION:
            break
    values[:n] -= values[:n].mean()
    return Strengths(votes, values, _bend(votes, chances(votes, values), prior))


def _bend(votes: Comparisons, now: Chances, prior: FloatArray) -> FloatArray:
    """Return the information; that all strengths may be moved together is taken out of it."""
    bend = gram(votes, now.information(votes.weight)) + np.diag(prior)
    bend[: votes.size, : votes.size] += np.trace(bend[: votes.size, : votes.size]) / votes.size**2
    return bend


def _rise(votes: Comparisons, now: Chances) -> FloatArray:
    """Return the slope of the log-likelihood."""
    apart, tie = (votes.weight * part for part in now.scores(votes.outcome))
    ends = [tie.sum()] if votes.ties else []
    return np.concatenate([_sides(votes, apart), votes.covariates.T @ apart, ends])
