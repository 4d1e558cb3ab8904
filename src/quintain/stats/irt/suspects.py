"""Items that the strong get wrong and the weak right: their labels want a second look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.irt.fit import CELLS, IrtFit
from quintain.stats.irt.responses import Responses
from quintain.stats.multiplicity import step_up

RATE = 0.05  # of false alarms among those that are listed


@dataclass(frozen=True, slots=True)
class Suspects:
    """Items for review, the most suspicious first; *z* is far below 0 where the stronger are right less often.

    *strong_wrong* and *weak_right* are shares within the third of the most able and the third of the least able.
    """

    items: IntArray
    z: FloatArray
    strong_wrong: FloatArray
    weak_right: FloatArray


def suspicious(responses: Responses, fit: IrtFit, *, rate: float = RATE) -> Suspects:
    """Find items on which being right falls with ability, with at most *rate* false ones among them on average.

    An item is held against one with the same share of right responses that ability says nothing about: the score test
    of no slope, one-sided, with the multiplicity of items controlled (Benjamini and Hochberg).
    """
    items = responses.correct.shape[1]
    z = np.zeros(items)
    width = max(1, CELLS // max(len(fit.ability), 1))
    ability, weight = fit.ability[:, None], responses.weight[:, None]
    for start in range(0, items, width):
        correct = responses.correct[:, start : start + width]
        answered = ~np.isnan(correct) * weight
        number = np.maximum(answered.sum(axis=0), 1e-9)
        share = (np.nan_to_num(correct) * weight).sum(axis=0) / number
        away = (ability - (ability * answered).sum(axis=0) / number) * answered
        spread = np.square(away).sum(axis=0) * share * (1 - share)
        score = (np.nan_to_num(correct) * away).sum(axis=0)
        z[start : start + width] = np.divide(score, np.sqrt(spread), out=np.zeros_like(score), where=spread > 1e-12)
    suspects = np.flatnonzero(step_up(scipy.special.ndtr(z), rate) & (z < 0))
    suspects = suspects[np.argsort(z[suspects], kind="stable")]
    low, high = np.quantile(fit.ability, [1 / 3, 2 / 3])
    strong, weak = (
        responses.correct[fit.ability >= high][:, suspects],
        responses.correct[fit.ability <= low][:, suspects],
    )
    return Suspects(suspects, z[suspects], 1 - _mean(strong), _mean(weak))


def _mean(correct: FloatArray) -> FloatArray:
    answered = ~np.isnan(correct)
    return np.asarray(np.nan_to_num(correct).sum(axis=0) / np.maximum(answered.sum(axis=0), 1), dtype=np.float64)
