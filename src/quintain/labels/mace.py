"""MACE (Hovy et al. 2013): a worker either knows the label, or spams from a habit of their own.

Unlike the paper, which takes all classes for equally frequent, the classes' shares are fitted too. Held to even shares,
the model has one way left to explain why a frequent label is said so often: everybody has a habit of saying it. Then
votes for it count for little, and one vote for a rare label carries an item. (crowd-kit's version suffers less from it
by accident: it mixes up whose habit is whose where names are not in the order of their rows.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import Judgements, softmax, total_by

TRIAL = 1e-5


@dataclass(frozen=True, slots=True)
class _Votes:
    """The judgements with what both steps need of them, made once for all starts."""

    judgements: Judgements
    cells: IntArray
    slots: IntArray
    counts: FloatArray
    compared: bool

    @classmethod
    def of(cls, judgements: Judgements) -> _Votes:
        workers, classes = len(judgements.workers), len(judgements.classes)
        cells = judgements.worker * classes + judgements.label
        counts = np.bincount(cells, minlength=workers * classes).astype(np.float64).reshape(workers, classes)
        return cls(judgements, cells, judgements.slots(), counts, bool(judgements.sizes().max() > 1))


@dataclass(frozen=True, slots=True)
class _Fit:
    """A state of one start: what is believed of the workers, and what of the items follows from it."""

    knows: FloatArray
    spams: FloatArray
    habit: FloatArray
    share: FloatArray
    posterior: FloatArray
    likelihood: float = -np.inf
    iterations: int = 0


@AGGREGATORS.register("mace")
@dataclass(frozen=True)
class Mace(Aggregator):
    """Variational EM from several random starts, each with a seed of its own; the likeliest fit is kept.

    *known*, *spam* and *habit* are the prior counts of knowing, of spamming, and of each label of a spammer's habit.
    They speak for workers who mostly know: the paper's halves take everybody with little work for either all or
    nothing, which costs accuracy wherever people are simply more or less careful. The classes' shares are fitted as if
    for each item *even* more were known, evenly spread over the classes: so that one class does not swallow the others.
    A start is tried until its log likelihood moves by no more than `TRIAL` per judgement; the best goes on from there
    until it moves by no more than *tolerance*, when its labels no longer change.
    """

    name = "mace"
    title = "Workers either know or spam from a habit; variational EM, best of several starts (Hovy et al. 2013)"

    restarts: int = 10
    iterations: int = 200
    tolerance: float = 1e-7
    noise: float = 0.5
    known: float = 2.0
    spam: float = 1.0
    habit: float = 5.0
    even: float = 0.05

    def __post_init__(self) -> None:
        if self.restarts < 1 or self.iterations < 1:
            raise BadInput("MACE needs at least one start and one iteration.")
        if self.even < 0:
            raise BadInput("The weight of even shares is {even:g}.", even=self.even, remedy="Give 0 or more.")

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Fit from each start and keep the best."""
        votes = _Votes.of(judgements)
        sources = np.random.SeedSequence(seed).spawn(self.restarts)
        best: _Fit | None = None
        tried: list[float] = []
        for source in sources:
            fit = self._climb(votes, self._start(votes, np.random.default_rng(source)), max(TRIAL, self.tolerance))
            tried.append(fit.likelihood)
            if best is None or fit.likelihood > best.likelihood + 1e-9 * abs(best.likelihood):
                best = fit
        assert best is not None  # noqa: S101 - there is at least one start
        best = self._climb(votes, best, self.tolerance)
        prior = dict(zip(judgements.classes, best.share.round(4).tolist(), strict=True))
        details = {"iterations": best.iterations, "log_likelihood": best.likelihood, "starts": tried, "prior": prior}
        knows = best.knows / (best.knows + best.spams)
        return from_posterior(judgements, best.posterior.T, seed, accuracy=knows, details=details)

    def _start(self, votes: _Votes, rng: np.random.Generator) -> _Fit:
        workers, classes = votes.counts.shape
        know = 1 + self.noise * rng.random(workers)
        guess = 1 + self.noise * rng.random(workers)
        habit = 1 + self.noise * rng.random((workers, classes))
        knows = np.asarray(know / (know + guess), dtype=np.float64)
        even = np.full(classes, 1 / classes)
        return _Fit(knows, 1 - knows, habit / habit.sum(axis=1, keepdims=True), even, np.zeros((classes, 0)))

    def _climb(self, votes: _Votes, fit: _Fit, tolerance: float) -> _Fit:
        """Iterate from *fit* until the likelihood moves by no more than *tolerance* per judgement."""
        gain = np.inf
        while fit.iterations < self.iterations and gain > tolerance:
            before = fit.likelihood
            fit = self._step(votes, fit)
            gain = abs(fit.likelihood - before) / len(votes.judgements)
        return fit

    def _step(self, votes: _Votes, fit: _Fit) -> _Fit:
        """Do both steps once.

        A vote for l weighs θ[l is true] + (1 − θ)ξ(l): up to a constant it adds log(1 + θ / ((1 − θ)ξ(l))) to its own
        class and nothing to the others, so that both steps are one weighted count of the votes.
        """
        counts, classes = votes.counts, votes.counts.shape[1]
        spamming = fit.spams[:, None] * fit.habit
        ratio = fit.knows[:, None] / spamming
        scores = votes.judgements.add_up(np.log1p(ratio).ravel()[votes.cells], votes.slots)
        posterior, total = softmax(scores + np.log(fit.share)[:, None])
        total += float((counts * np.log(spamming)).sum())
        agreed = total_by(votes.cells, posterior.ravel()[votes.slots], counts.size).reshape(counts.shape)
        informed = agreed * (ratio / (1 + ratio))
        right = informed.sum(axis=1)
        knows, spams = _expected(right + self.known, counts.sum(axis=1) - right + self.spam)
        guessed = counts - informed + self.habit
        habit = np.exp(scipy.special.digamma(guessed) - scipy.special.digamma(guessed.sum(axis=1, keepdims=True)))
        share = fit.share
        if votes.compared:  # without two views of an item, a rare vote would only look like an error
            share = (posterior.mean(axis=1) + self.even / classes) / (1 + self.even)
        return _Fit(knows, spams, habit, share, posterior, float(total), fit.iterations + 1)


def _expected(right: FloatArray, wrong: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return exp E[log p] and exp E[log(1 − p)] for p ~ Beta(right, wrong)."""
    whole = scipy.special.digamma(right + wrong)
    return np.exp(scipy.special.digamma(right) - whole), np.exp(scipy.special.digamma(np.maximum(wrong, 1e-9)) - whole)
