"""MACE (Hovy et al. 2013): a worker either knows the label, or spams from a habit of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import Judgements, softmax, total_by


@dataclass(frozen=True, slots=True)
class _Fit:
    posterior: FloatArray
    known: FloatArray
    likelihood: float
    iterations: int


@AGGREGATORS.register("mace")
@dataclass(frozen=True)
class Mace(Aggregator):
    """Variational EM from several random starts, each with a seed of its own; the likeliest fit is kept.

    *known*, *spam* and *habit* are the prior counts of knowing, of spamming, and of each label of a spammer's habit.
    A start ends when its log likelihood moves by no more than *tolerance* per judgement.
    """

    name = "mace"
    title = "Workers either know or spam from a habit; variational EM, best of several starts (Hovy et al. 2013)"

    restarts: int = 10
    iterations: int = 50
    tolerance: float = 1e-5
    noise: float = 0.5
    known: float = 0.5
    spam: float = 0.5
    habit: float = 10.0

    def __post_init__(self) -> None:
        if self.restarts < 1 or self.iterations < 1:
            raise BadInput("MACE needs at least one start and one iteration.")

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Fit from each start and keep the best."""
        cells = judgements.worker * len(judgements.classes) + judgements.label
        width = len(judgements.workers) * len(judgements.classes)
        given = np.bincount(cells, minlength=width).astype(np.float64).reshape(-1, len(judgements.classes))
        slots = judgements.slots()
        sources = np.random.SeedSequence(seed).spawn(self.restarts)
        best: _Fit | None = None
        tried: list[float] = []
        for source in sources:
            fit = self._fit(judgements, cells, slots, given, np.random.default_rng(source))
            tried.append(fit.likelihood)
            if best is None or fit.likelihood > best.likelihood + 1e-9 * abs(best.likelihood):
                best = fit
        assert best is not None  # noqa: S101 - there is at least one start
        details = {"iterations": best.iterations, "log_likelihood": best.likelihood, "starts": tried}
        return from_posterior(judgements, best.posterior.T, seed, accuracy=best.known, details=details)

    def _fit(
        self,
        judgements: Judgements,
        cells: IntArray,
        slots: IntArray,
        given: FloatArray,
        rng: np.random.Generator,
    ) -> _Fit:
        """Run one start.

        A vote for l weighs θ[l is true] + (1 − θ)ξ(l): up to a constant it adds log(1 + θ / ((1 − θ)ξ(l))) to its own
        class and nothing to the others, so that both steps are one weighted count of the votes.
        """
        workers, classes = given.shape
        made = given.sum(axis=1)
        know = 1 + self.noise * rng.random(workers)
        guess = 1 + self.noise * rng.random(workers)
        habit = 1 + self.noise * rng.random((workers, classes))
        knows = np.asarray(know / (know + guess), dtype=np.float64)
        spams = 1 - knows
        habit /= habit.sum(axis=1, keepdims=True)
        posterior, gain, total, done = np.zeros((classes, 0)), np.inf, -np.inf, 0
        while done < self.iterations and gain > self.tolerance:
            done, before = done + 1, total
            spamming = spams[:, None] * habit
            ratio = knows[:, None] / spamming
            posterior, total = softmax(judgements.add_up(np.log1p(ratio).ravel()[cells], slots))
            total += float((given * np.log(spamming)).sum()) - posterior.shape[1] * np.log(classes)
            gain = abs(total - before) / len(judgements)
            agreed = total_by(cells, posterior.ravel()[slots], given.size).reshape(workers, classes)
            informed = agreed * (ratio / (1 + ratio))
            right = informed.sum(axis=1)
            knows, spams = _expected(right + self.known, made - right + self.spam)
            habit = np.exp(special.digamma(given - informed + self.habit))
            habit /= np.exp(special.digamma((given - informed).sum(axis=1, keepdims=True) + classes * self.habit))
        return _Fit(posterior, knows / (knows + spams), float(total), done)


def _expected(right: FloatArray, wrong: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give exp E[log p] and exp E[log(1 − p)] for p ~ Beta(right, wrong)."""
    whole = special.digamma(right + wrong)
    return np.exp(special.digamma(right) - whole), np.exp(special.digamma(np.maximum(wrong, 1e-9)) - whole)
