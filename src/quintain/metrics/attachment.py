"""Unlabelled attachment on marked tokens: of the words that an example marks, whether their head was found."""

from __future__ import annotations

import numpy as np

from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.stats.bootstrap import FloatArray


@METRICS.register("attachment")
class AttachmentAccuracy(MeanMetric):
    """The share of marked tokens that are attached to the right head."""

    name = "attachment"
    title = "Unlabelled attachment"
    answer_types = ("token",)

    def scores(self, data: Aligned) -> FloatArray:
        """Return 1 where the head is right."""
        right = (data.gold == data.predictions).fill_null(False)
        return right.to_numpy().astype(np.float64)
