"""How varied texts are, on samples of the same size: entropy of n-grams, and how near each text is to its nearest.

Both grow or shrink with the number of texts, so that data sets of unlike sizes are compared on as many texts of each,
drawn several times; a figure is the mean over the draws, its ends are their quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quintain.core.records.figures import Estimate
from quintain.stats.artefacts.features import hashed
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.diversity import CutTexts, words_of

DRAWS = 20
MOST_TEXTS = 1000  # in a draw
LENGTHS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Variety:
    """Of draws of *texts* texts: entropy of n-grams in bits by n, and the mean similarity to the nearest other text."""

    texts: int
    entropy: dict[int, Estimate]
    nearest: Estimate


def variety(texts: Sequence[str], size: int, *, draws: int = DRAWS, seed: int = 0) -> Variety:
    """Measure draws of *size* texts, without replacement."""
    size = min(size, len(texts), MOST_TEXTS)
    words, rng = words_of(texts), np.random.default_rng(seed)
    vectors = hashed(texts, pairs=False)
    bits: dict[int, list[float]] = {n: [] for n in LENGTHS}
    near: list[float] = []
    for _ in range(draws if size < len(texts) else 1):
        chosen = np.sort(rng.choice(len(texts), size, replace=False))
        for n in LENGTHS:
            bits[n].append(entropy_of(ngrams(words, chosen, n)))
        near.append(_nearest(vectors[chosen]))
    return Variety(size, {n: _over(values) for n, values in bits.items()}, _over(near))


def ngrams(words: CutTexts, chosen: IntArray, n: int) -> IntArray:
    """Return the codes of the runs of *n* words in some texts; none goes over the end of a text.

    >>> len(ngrams(words_of(["a b c", "d"]), np.array([0, 1]), 2))
    2
    """
    counts = words.counts[chosen]
    runs = np.maximum(counts - n + 1, 0)
    starts = np.repeat(words.starts[chosen], runs)
    within = np.arange(int(runs.sum())) - np.repeat(np.cumsum(runs) - runs, runs)
    at = starts + within
    codes = np.zeros(len(at), dtype=np.uint64)
    for step in range(n):
        with np.errstate(over="ignore"):
            codes = codes * np.uint64(0x9E3779B97F4A7C15) + words.codes[at + step].astype(np.uint64) + np.uint64(1)
            codes ^= codes >> np.uint64(31)
    return codes.view(np.int64)


def entropy_of(codes: IntArray) -> float:
    """Return the entropy of what occurs, in bits.

    >>> entropy_of(np.array([1, 1, 2, 2]))
    1.0
    """
    if not len(codes):
        return 0.0
    share = np.unique(codes, return_counts=True)[1] / len(codes)
    return float(-(share * np.log2(share)).sum())


def _nearest(vectors: Any) -> float:
    """Return the mean cosine of each text with its nearest other."""
    alike: FloatArray = (vectors @ vectors.T).toarray()
    np.fill_diagonal(alike, 0.0)
    return float(alike.max(axis=1).mean()) if len(alike) > 1 else 0.0


def _over(values: Sequence[float]) -> Estimate:
    if len(values) < 2:
        return Estimate(values[0])
    low, high = np.quantile(values, [0.025, 0.975])
    return Estimate(float(np.mean(values)), float(low), float(high))
