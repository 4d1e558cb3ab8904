"""Rules by which judges are unqualified: whom they catch, and how surely they would catch a random clicker."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from quintain.core.records.judging import RulePower
from quintain.core.validation import UnqualifyRule
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.workers import wilson

PRIOR_RIGHT, PRIOR_WRONG = 2.0, 1.0  # the one-coin model's prior on accuracies


def catches(
    rule: UnqualifyRule,
    hits: IntArray,
    total: IntArray,
    right: FloatArray | None = None,
    wrong: FloatArray | None = None,
) -> npt.NDArray[np.bool_]:
    """Return of each judge whether *rule* catches them.

    *hits* of *total* agree with the majority of the others or, for the rule `gold`, are right. The rule `posterior`
    looks at Beta(*right*, *wrong*), which follows from the hits where it is not given.

    >>> catches(UnqualifyRule(limit=0.8), np.array([1, 3]), np.array([10, 10])).tolist()
    [True, False]
    """
    enough = total >= rule.least
    share = hits / np.maximum(total, 1)
    if rule.rule == "disagreement":
        caught = 1 - share > rule.limit + 1e-12
    elif rule.rule == "gold":
        caught = share < rule.limit - 1e-12
    elif rule.rule == "wilson":
        # One-sided: surely below the limit means that the upper bound is.
        caught = np.nan_to_num(wilson(hits, total, 2 * rule.confidence - 1)[1], nan=1.0) < rule.limit
    else:
        good = hits + PRIOR_RIGHT if right is None else right
        bad = total - hits + PRIOR_WRONG if wrong is None else wrong
        caught = scipy.special.betainc(good, bad, rule.limit) >= rule.confidence
    return np.asarray(enough & caught)


def power(rule: UnqualifyRule, judgements: int, *, labels: int, honest: float) -> RulePower:
    """Compute how often *rule* catches a clicker on one of *labels*, and a judge who agrees at the rate *honest*.

    A clicker agrees with any majority once in *labels* times, so the number of agreements is binomial.

    >>> round(power(UnqualifyRule(limit=0.8), 100, labels=4, honest=0.9).clicker, 2)
    0.1
    """
    hits = np.arange(judgements + 1)
    caught = catches(rule, hits, np.full_like(hits, judgements))
    chance = [_binomial(hits, judgements, rate) for rate in (1 / max(labels, 1), honest)]
    return RulePower(judgements, *(float(np.clip(some[caught].sum(), 0, 1)) for some in chance))


def _binomial(hits: IntArray, total: int, rate: float) -> FloatArray:
    """Return the probability of each number of *hits*: scipy.stats has it too, and takes a second to import."""
    ways = scipy.special.gammaln(total + 1) - scipy.special.gammaln(hits + 1) - scipy.special.gammaln(total - hits + 1)
    chances = np.exp(ways + scipy.special.xlogy(hits, rate) + scipy.special.xlog1py(total - hits, -rate))
    return np.asarray(chances, dtype=np.float64)


def judgements_needed(rule: UnqualifyRule, *, labels: int, probability: float = 0.95, most: int = 500) -> int | None:
    """Return after how many judgements *rule* catches a random clicker by this *probability*; None for never."""
    for count in range(rule.least, most + 1):
        if power(rule, count, labels=labels, honest=1.0).clicker >= probability:
            return count
    return None
