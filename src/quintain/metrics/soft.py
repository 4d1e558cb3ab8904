"""Metrics against the distribution of people's labels, for examples on which people differ."""

from __future__ import annotations

import numpy as np
import scipy

from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.metrics.probabilistic import FLOOR, given_probabilities
from quintain.stats.bootstrap import FloatArray


def given_distributions(data: Aligned) -> FloatArray:
    """Return people's distributions; `evaluate_metrics` has made sure that they are there."""
    return data.distributions if data.distributions is not None else np.zeros((len(data), len(data.classes)))


@METRICS.register("soft_cross_entropy")
class SoftCrossEntropy(MeanMetric):
    """The cross-entropy of the model's probabilities under people's distribution, in nats."""

    name = "soft_cross_entropy"
    title = "Soft cross-entropy"
    answer_types = ("label", "choice", "token")
    better = "lower"
    needs = ("probabilities", "distributions")
    range = (0.0, float(-np.log(FLOOR)))

    def scores(self, data: Aligned) -> FloatArray:
        """Weigh minus the logarithms by how many people gave each label."""
        believed = np.clip(given_probabilities(data), FLOOR, 1.0)
        return np.asarray(-scipy.special.xlogy(given_distributions(data), believed).sum(axis=1) + 0.0, dtype=np.float64)


@METRICS.register("jensen_shannon")
class JensenShannon(MeanMetric):
    """The Jensen–Shannon divergence between the model's and people's distribution, base 2: 0 the same, 1 disjoint."""

    name = "jensen_shannon"
    title = "Jensen–Shannon divergence"
    answer_types = ("label", "choice", "token")
    better = "lower"
    needs = ("probabilities", "distributions")

    def scores(self, data: Aligned) -> FloatArray:
        """Average both sides' divergence from their mean."""
        model, people = given_probabilities(data), given_distributions(data)
        middle = (model + people) / 2
        nats = (
            scipy.special.rel_entr(model, middle).sum(axis=1) + scipy.special.rel_entr(people, middle).sum(axis=1)
        ) / 2
        return np.asarray(np.clip(nats / np.log(2), 0.0, 1.0), dtype=np.float64)
