"""Votes weighted by how well their workers did on items with known labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quintain.core.errors import BadInput
from quintain.labels.contract import AGGREGATORS, Aggregated, Aggregator, Known, from_posterior
from quintain.stats.judgements import Judgements, softmax
from quintain.stats.one_coin import vote_log_odds


@AGGREGATORS.register("gold-weighted")
@dataclass(frozen=True)
class GoldWeighted(Aggregator):
    """A vote weighs the log odds of its worker's accuracy on gold items.

    Accuracies are drawn towards that of all workers with the weight of *shrink* gold items, so that three lucky answers
    are no proof. A worker without gold items has everybody's accuracy; one at or below chance has no say.
    """

    name = "gold-weighted"
    title = "Votes weighted by the log odds of the worker's accuracy on gold items"
    needs = ("gold",)

    shrink: float = 4.0

    def run(self, judgements: Judgements, seed: int, known: Known) -> Aggregated:
        """Weigh and add up the votes; gold items too are labelled by the votes."""
        gold = np.asarray(known.gold)[judgements.item]
        asked = gold >= 0
        if not asked.any():
            raise BadInput("No judgement is on a gold item.", remedy="Check that the gold items have the same names.")
        workers, classes = len(judgements.workers), len(judgements.classes)
        right = np.bincount(judgements.worker[asked & (gold == judgements.label)], minlength=workers)
        seen = np.bincount(judgements.worker[asked], minlength=workers)
        everybody = float(right.sum() / seen.sum())
        accuracy = (right + self.shrink * everybody) / (seen + self.shrink)
        weights = np.maximum(vote_log_odds(accuracy, classes), 0.0)
        posterior, _ = softmax(judgements.add_up(weights[judgements.worker], judgements.slots()))
        details = {"gold_judgements": int(seen.sum()), "gold_accuracy": everybody}
        return from_posterior(judgements, posterior.T, seed, accuracy=accuracy, details=details)
