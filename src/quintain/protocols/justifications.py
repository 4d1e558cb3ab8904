"""Whether a justification says something: trivial ones, and those that repeat another.

Nangia, Sugawara et al. (2021), section 5.3, found about half of the justifications to be near duplicates of others,
most of them trivial ("Good and deep knowledge is needed to answer this question").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.core.words import tokens
from quintain.stats.near_duplicates import find_nearest, find_pairs, squeeze
from quintain.stats.workers import wilson_share

LEAST_WORDS = 6
LEAST_OWN = 3  # words that are no stock of such explanations
ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class JustificationQuality:
    """How good the justifications of an arm are: how many there are, and which shares repeat others or say nothing."""

    texts: int
    duplicates: Estimate
    trivial: Estimate


def is_trivial(text: str) -> bool:
    """Whether a justification is too short, or says nothing about the item in question.

    >>> is_trivial("Good and deep knowledge is needed to answer this question.")
    True
    >>> is_trivial("Only the first is discussed in that last paragraph; zero-sum is paraphrased as one's gain.")
    False
    """
    words = tokens(squeeze(text))
    return len(words) < LEAST_WORDS or len(set(words) - _stock_words()) < LEAST_OWN


@cache
def _stock_words() -> frozenset[str]:
    return frozenset(files("quintain.protocols").joinpath("stock_words.txt").read_text("utf-8").split())


def repeats(text: str, others: Sequence[str]) -> bool:
    """Whether a justification nearly repeats one of *others*.

    >>> repeats("You have to read the whole text!", ["you have to read the whole text"])
    True
    """
    return bool(others) and bool(find_nearest([text], others, threshold=ALIKE).index[0] >= 0)


def quality(texts: Sequence[str]) -> JustificationQuality:
    """Look at all justifications of an arm together."""
    first, second = find_pairs(texts, threshold=ALIKE) if len(texts) > 1 else (np.zeros(0), np.zeros(0))
    twins = len(np.union1d(first, second))
    return JustificationQuality(
        len(texts), wilson_share(twins, len(texts)), wilson_share(sum(map(is_trivial, texts)), len(texts))
    )
