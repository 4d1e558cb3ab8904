"""How surely strengths are known, and their ranks: robust errors, by judge where judges are known.

The sandwich of Huber and White holds also where votes do not follow the model; votes of one judge are alike, so they
count as one (Liang and Zeger, 1986). A rank's interval is made of differences that hold together (Mogstad, Romano,
Shaikh and Wilhelm, 2024): it has the model's rank in it with the chance that was asked for, among however many models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.paired_comparisons import Comparisons, Slopes, Strengths, gram

DRAWS, TOGETHER = 2000, 4096


@dataclass(frozen=True, slots=True)
class StrengthErrors:
    """Covariances of what was estimated: the largest variance counts; *freedom* is that of t, None for the normal."""

    covariances: Sequence[FloatArray]
    freedom: int | None

    def factor(self, confidence: float) -> float:
        """Return by how many standard errors an interval goes to each side."""
        tail = 0.5 + confidence / 2
        return float(scipy.special.ndtri(tail) if self.freedom is None else scipy.special.stdtrit(self.freedom, tail))

    def errors(self) -> FloatArray:
        """Return the standard errors."""
        return _root(np.max([np.diag(part) for part in self.covariances], axis=0))

    def errors_apart(self, size: int) -> FloatArray:
        """Return the standard errors of the differences between any two of the first *size*."""
        parts = [part[:size, :size] for part in self.covariances]
        own = [np.diag(part) for part in parts]
        return _root(
            np.max([one[:, None] + one[None, :] - 2 * part for one, part in zip(own, parts, strict=True)], axis=0)
        )


def _root(values: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum(values, 0.0)), dtype=np.float64)


def spread_of(strengths: Strengths, votes: float, *, held: bool = False) -> StrengthErrors:
    """Return the robust covariances, from so many *votes*: by judge where they are known.

    Few judges tell too little of how they differ, and so do votes that are *held* together by added ones: there the
    model's own errors count, too, where they are larger.
    """
    table = strengths.votes
    bread = np.linalg.inv(strengths.information)
    judges = table.judges
    several = judges is not None and judges.shape[0] > 1
    meat = _by_judge(strengths) if several else _by_vote(strengths)
    count = judges.shape[0] if several and judges is not None else votes
    few = count / (count - 1) if several else votes / max(votes - table.parameters, 1)
    covariances = [few * bread @ meat @ bread]
    if several or held:
        gauge = np.zeros(table.parameters)
        gauge[: table.size] = 1.0
        own = bread - np.outer(gauge, gauge) * float(gauge @ bread @ gauge) / table.size**2
        covariances.append(own * float(table.squares.sum() / table.weight.sum()))
    return StrengthErrors(covariances, int(count) - 1 if several else None)


def _by_vote(strengths: Strengths) -> FloatArray:
    votes = strengths.votes
    apart, tie = strengths.chances.scores(votes.outcome)
    return gram(votes, Slopes(*(votes.squares * part for part in (apart**2, apart * tie, tie**2))))


def _by_judge(strengths: Strengths) -> FloatArray:
    """Add up the outer products of each judge's scores, some thousand judges at a time."""
    judges, scores = strengths.votes.judges, _scores(strengths)
    total = np.zeros((scores.shape[1], scores.shape[1]))
    if judges is None:
        return total
    for start in range(0, judges.shape[0], TOGETHER):
        block = (judges[start : start + TOGETHER] @ scores).toarray()
        total += block.T @ block
    return total


def _scores(strengths: Strengths) -> scipy.sparse.csr_array:
    """Return the scores of one vote of each row."""
    votes: Comparisons = strengths.votes
    apart, tie = strengths.chances.scores(votes.outcome)
    rows = np.arange(len(apart))
    sides = scipy.sparse.csr_array(
        (np.concatenate([apart, -apart]), (np.tile(rows, 2), np.concatenate([votes.left, votes.right]))),
        shape=(len(apart), votes.size),
    )
    more = [votes.covariates * apart[:, None]] + ([tie[:, None]] if votes.ties else [])
    return scipy.sparse.hstack([sides, *(scipy.sparse.csr_array(part) for part in more)], "csr")


def ranks(strengths: FloatArray) -> IntArray:
    """Return the ranks, 1 for the strongest; equals share the better one.

    >>> ranks(np.array([0.5, -1.0, 0.5])).tolist()
    [1, 3, 1]
    """
    return np.asarray(1 + (strengths[None, :] > strengths[:, None] + 1e-9).sum(axis=1), dtype=np.int64)


def rank_intervals(
    strengths: FloatArray, spread: StrengthErrors, rng: np.random.Generator, confidence: float = 0.95
) -> tuple[IntArray, IntArray]:
    """Return the best and the worst rank that each may have.

    A model is surely behind another where their difference is larger than the largest that chance makes of all
    differences to that model, in *confidence* of the draws.
    """
    n = len(strengths)
    errors = spread.errors_apart(n)
    safe = np.where(errors > 0, errors, np.inf)
    drawn = _draws(np.mean([part[:n, :n] for part in spread.covariances], axis=0), spread.freedom, rng)
    low, high = np.ones(n, dtype=np.int64), np.full(n, n, dtype=np.int64)
    for at in range(n):
        largest = (np.abs(drawn - drawn[:, at : at + 1]) / safe[at]).max(axis=1)
        needed = np.quantile(largest, confidence) * errors[at]
        ahead = strengths - strengths[at]
        others = np.arange(n) != at
        low[at] += ((ahead > needed) & others).sum()
        high[at] -= ((-ahead > needed) & others).sum()
    return low, high


def _draws(covariance: FloatArray, freedom: int | None, rng: np.random.Generator) -> FloatArray:
    values, vectors = np.linalg.eigh(covariance)
    drawn = rng.standard_normal((DRAWS, len(values))) @ (vectors * _root(values)).T
    if freedom is not None:
        drawn /= np.sqrt(rng.chisquare(freedom, DRAWS) / freedom)[:, None]
    return np.asarray(drawn, dtype=np.float64)
