"""Always the most frequent label."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl

from quintain.core.task import Task
from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.labelled import LabelBaseline, Probabilities


@BASELINES.register("majority")
class MajorityBaseline(LabelBaseline):
    """Answer each example with the shares of the labels in the training data."""

    name: ClassVar[str] = "majority"
    title: ClassVar[str] = "Majority label"
    about: ClassVar[str] = (
        "It answers every example with the most frequent label of its training data, whatever the input says. "
        "It shows what can be had without reading."
    )

    @classmethod
    def finds_fields(cls, task: Task) -> bool:
        """Ask for labels only: it reads nothing."""
        return True

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Count the labels."""
        counts = np.bincount(self.targets(table), minlength=len(self.labels))
        self.arrays["shares"] = counts / counts.sum()

    def probabilities(self, batch: Batch) -> Probabilities:
        """Return the same shares for every example."""
        return np.tile(self.arrays["shares"], (len(batch), 1))
