"""GLAD (Whitehill et al. 2009): the chance to be right grows with the worker's ability and the item's ease."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior, shares
from quintain.stats.bootstrap import FloatArray
from quintain.stats.judgements import Judgements, mean_move, softmax, total_by
from quintain.stats.one_coin import fit_one_coin

# The furthest that one step moves an ability or a log ease: Newton's step may be wild where curvature is small.
_STRIDE = 1.0


@AGGREGATORS.register("glad")
@dataclass(frozen=True)
class Glad(Aggregator):
    """EM in which P(right) = σ(ability · ease): workers differ in ability, items in ease.

    Abilities and log eases have normal priors with mean 1 and deviation 1. The M-step is a Newton step for the
    abilities, then one for the log eases.
    """

    name = "glad"
    title = "EM with an ability for each worker and an ease for each item (Whitehill et al. 2009)"

    iterations: int = 100
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise BadInput("GLAD needs at least one iteration.")

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Alternate between labels, abilities and eases until items hardly move."""
        items, classes, slots = len(judgements.items), len(judgements.classes), judgements.slots()
        counts = judgements.counts()
        # How frequent the classes are is told by the one-coin model, which looks at what foretells votes better.
        prior = fit_one_coin(judgements).prior
        chance = np.log(max(classes - 1, 1)) * counts.T + np.log(prior)[:, None]
        posterior = np.ascontiguousarray(shares(counts).T)
        ability, ease = np.ones(len(judgements.workers)), np.ones(items)
        moved, done = np.inf, 0
        while done < self.iterations and moved > self.tolerance:
            done += 1
            right = posterior.ravel()[slots]
            ability = _ability_step(judgements, right, ability, ease)
            ease = _ease_step(judgements, right, ability, ease)
            strength = judgements.add_up(ability[judgements.worker], slots) * np.exp(ease)
            new, _ = softmax(strength + chance)
            moved = mean_move(posterior, new)
            posterior = new
        votes_by_worker = np.bincount(judgements.worker, minlength=len(ability))
        typical = _sigmoid(ability * np.exp(np.median(ease)))
        details = {"iterations": done, "converged": moved <= self.tolerance, "ease": ease, "ability": ability}
        accuracy = np.where(votes_by_worker > 0, typical, np.nan)
        return from_posterior(judgements, posterior.T, seed, accuracy=accuracy, details=details)


def _sigmoid(values: FloatArray) -> FloatArray:
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * values), dtype=np.float64)  # several times faster than expit


def _ability_step(judgements: Judgements, right: FloatArray, ability: FloatArray, ease: FloatArray) -> FloatArray:
    easy = np.exp(ease)[judgements.item]
    chance = _sigmoid(ability[judgements.worker] * easy)
    slope = total_by(judgements.worker, (right - chance) * easy, len(ability)) - (ability - 1)
    bend = total_by(judgements.worker, chance * (1 - chance) * easy * easy, len(ability)) + 1
    return np.asarray(ability + np.clip(slope / bend, -_STRIDE, _STRIDE), dtype=np.float64)


def _ease_step(judgements: Judgements, right: FloatArray, ability: FloatArray, ease: FloatArray) -> FloatArray:
    pull = ability[judgements.worker] * np.exp(ease)[judgements.item]
    chance = _sigmoid(pull)
    slope = total_by(judgements.item, (right - chance) * pull, len(ease)) - (ease - 1)
    bend = total_by(judgements.item, chance * (1 - chance) * pull * pull, len(ease)) + 1
    return np.asarray(ease + np.clip(slope / bend, -_STRIDE, _STRIDE), dtype=np.float64)
