"""Responses as a table: who got which item right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import total_by

BY_CHANCE = 0.01  # above which chance that they are all the same, respondents cannot be told apart


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
        rows, row_of = np.unique(np.nan_to_num(self.correct, nan=-1.0), axis=0, return_inverse=True)
        weight = total_by(row_of.ravel(), self.weight, len(rows))
        names = [str(at) for at in range(len(rows))]
        correct = np.where(rows < 0, np.nan, rows)
        return replace(self, respondents=names, correct=correct, weight=weight), row_of.ravel().astype(np.int64)


def chance_of_scores(responses: Responses) -> float:
    """Return the chance that equally able respondents differ in their scores as these do (Cochran's Q).

    Where it is not small, the scale of ability is one of chance alone, and so are difficulties on it.

    >>> right = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0.0]])
    >>> chance_of_scores(Responses(["a", "b", "c"], list("uvwxyz"), right, np.ones(3))) < 0.05
    True
    >>> chance_of_scores(Responses(["a", "b", "c"], list("uvw"), np.eye(3), np.ones(3)))
    1.0
    """
    answered, weight = ~np.isnan(responses.correct), responses.weight[:, None]
    right = np.nan_to_num(responses.correct)
    share = (weight * right).sum(axis=0) / np.maximum((weight * answered).sum(axis=0), 1e-9)
    away = ((right - share) * answered).sum(axis=1)
    spread = (share * (1 - share) * answered).sum(axis=1)
    known = spread > 0
    total = float(responses.weight[known].sum())
    if total <= 1:
        return 1.0
    squared = float((responses.weight[known] * away[known] ** 2 / spread[known]).sum()) * (total - 1) / total
    return float(scipy.special.chdtrc(total - 1, squared))


def are_told_apart(responses: Responses) -> bool:
    """Whether respondents differ in their scores by more than chance, so that there is a scale of ability."""
    return chance_of_scores(responses) <= BY_CHANCE
