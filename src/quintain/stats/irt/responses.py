"""Responses as a table: who got which item right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import total_by


@dataclass(frozen=True, slots=True)
class Responses:
    """*correct* is respondents × items: 1, 0, or NaN where there is no response; *weight* is how often a row occurs.

    *tests* says which test each item is of, where there are several.
    """

    respondents: Sequence[str]
    items: Sequence[str]
    correct: FloatArray
    weight: FloatArray
    tests: Sequence[str] = ()

    @property
    def total(self) -> float:
        """How many respondents there are, each row as often as it occurs."""
        return float(self.weight.sum())

    def patterns(self) -> tuple[Responses, IntArray]:
        """Put rows that are alike together; also give the place of each old row among the new ones."""
        rows, place = np.unique(np.nan_to_num(self.correct, nan=-1.0), axis=0, return_inverse=True)
        weight = total_by(place.ravel(), self.weight, len(rows))
        names = [str(at) for at in range(len(rows))]
        correct = np.where(rows < 0, np.nan, rows)
        return replace(self, respondents=names, correct=correct, weight=weight), place.ravel().astype(np.int64)
