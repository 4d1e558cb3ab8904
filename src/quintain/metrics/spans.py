"""Metrics of answers that are pieces of text, by SQuAD's rules: the nearest of several right answers counts."""

from __future__ import annotations

import numpy as np

from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.stats.bootstrap import FloatArray
from quintain.stats.text import exact_match, token_f1


@METRICS.register("exact_match")
class ExactMatch(MeanMetric):
    """The share of answers that are a gold answer but for case, punctuation, articles and spaces."""

    name = "exact_match"
    title = "Exact match"
    answer_types = ("span", "text")

    def scores(self, data: Aligned) -> FloatArray:
        """Return 1 where the answer is one of the golds."""
        pairs = zip(data.predictions, data.gold.to_list(), strict=True)
        return np.array(
            [said is not None and exact_match(said, golds, data.language) for said, golds in pairs], dtype=np.float64
        )


@METRICS.register("token_f1")
class TokenF1(MeanMetric):
    """The mean F1 of the answers' words against the nearest gold answer's."""

    name = "token_f1"
    title = "Token F1"
    answer_types = ("span", "text")

    def scores(self, data: Aligned) -> FloatArray:
        """Return each answer's F1."""
        pairs = zip(data.predictions, data.gold.to_list(), strict=True)
        return np.array([0.0 if said is None else token_f1(said, golds, data.language) for said, golds in pairs])
