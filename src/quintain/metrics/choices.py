"""Metrics of questions with several right choices, compared as sets."""

from __future__ import annotations

import numpy as np
import polars as pl

from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.stats.bootstrap import FloatArray


def _sets(data: Aligned) -> pl.DataFrame:
    """Count gold, predicted and shared choices of each example."""
    gold, predicted = data.gold.list.unique(), data.predictions.list.unique()
    shared = gold.list.set_intersection(predicted)
    return pl.DataFrame({"gold": gold.list.len(), "predicted": predicted.list.len(), "shared": shared.list.len()})


@METRICS.register("set_exact_match")
class SetExactMatch(MeanMetric):
    """The share of examples whose choices are exactly the gold ones, in any order."""

    name = "set_exact_match"
    title = "Set exact match"
    answer_types = ("choices",)

    def scores(self, data: Aligned) -> FloatArray:
        """Return 1 where both sets are the same."""
        same = (pl.col("gold") == pl.col("shared")) & (pl.col("predicted") == pl.col("shared"))
        return _sets(data).select(same.fill_null(False).cast(pl.Float64)).to_series().to_numpy()


@METRICS.register("set_f1")
class SetF1(MeanMetric):
    """The mean F1 of predicted against gold choices; two empty sets agree."""

    name = "set_f1"
    title = "Set F1"
    answer_types = ("choices",)

    def scores(self, data: Aligned) -> FloatArray:
        """Return each example's F1."""
        size = pl.col("gold") + pl.col("predicted")
        score = pl.when(size == 0).then(1.0).otherwise(2 * pl.col("shared") / size)
        scores = _sets(data).select(score.fill_null(0.0)).to_series().to_numpy()
        return np.asarray(scores, dtype=np.float64)
