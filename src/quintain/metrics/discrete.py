"""DROP's own metrics of answers that are spans, numbers or dates; the nearest of several right answers counts."""

from __future__ import annotations

import numpy as np

from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.stats.bootstrap import FloatArray
from quintain.stats.drop import drop_exact_match, drop_f1


@METRICS.register("drop_exact_match")
class DropExactMatch(MeanMetric):
    """The share of answers that are the same spans, number or date as a gold answer, by DROP's rules."""

    name = "drop_exact_match"
    title = "Exact match (DROP)"
    answer_types = ("discrete",)

    def scores(self, data: Aligned) -> FloatArray:
        """Return 1 where the answer is one of the golds."""
        pairs = zip(data.predictions.to_list(), data.gold.to_list(), strict=True)
        return np.array(
            [said is not None and drop_exact_match(said, golds, data.language) for said, golds in pairs],
            dtype=np.float64,
        )


@METRICS.register("drop_f1")
class DropF1(MeanMetric):
    """The mean F1 of the answers' words, spans paired with the gold ones as well as they can be, by DROP's rules."""

    name = "drop_f1"
    title = "F1 (DROP)"
    answer_types = ("discrete",)

    def scores(self, data: Aligned) -> FloatArray:
        """Return each answer's F1."""
        pairs = zip(data.predictions.to_list(), data.gold.to_list(), strict=True)
        return np.array(
            [0.0 if said is None else drop_f1(said, golds, data.language) for said, golds in pairs], dtype=np.float64
        )
