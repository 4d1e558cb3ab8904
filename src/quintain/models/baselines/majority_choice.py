"""Always the position that is right most often."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl

from quintain.models.contract import BASELINES, Batch, Progress
from quintain.models.options import Floats, OptionBaseline


@BASELINES.register("majority-choice")
class MajorityChoice(OptionBaseline):
    """Score an option by its position alone."""

    name: ClassVar[str] = "majority-choice"
    title: ClassVar[str] = "Most frequent position"
    about: ClassVar[str] = (
        "It scores an option by its position: how often the first, second, … option was right in the training data. "
        "It reads nothing. Where it beats chance, the positions give answers away."
    )

    def fit(self, table: pl.DataFrame, *, seed: int, progress: Progress) -> None:
        """Count how often each position was right, with one right and one wrong answer added to each."""
        counts = table[self.options_field].list.len().fill_null(0).to_numpy()
        positions = np.concatenate([np.arange(count) for count in counts]).astype(np.int64)
        right, size = self.right(table), int(counts.max()) if len(counts) else 0
        seen = np.bincount(positions, minlength=size) + 2
        share = (np.bincount(positions, right, minlength=size) + 1) / seen
        self.arrays["scores"] = np.log(share / (1 - share)) if self.several else np.log(share)

    def scores(self, batch: Batch) -> Floats:
        """Return for each option the score of its position; positions never met get the lowest."""
        known = self.arrays["scores"]
        lowest = known.min(initial=0.0)
        counts = [len(self.options(example)) for example in batch]
        return np.concatenate([np.append(known, np.full(max(0, n - len(known)), lowest))[:n] for n in counts])
