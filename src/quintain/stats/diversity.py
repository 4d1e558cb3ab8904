"""How texts differ: how far from what they were made of, how long, with how many different words.

Vocabulary grows with the number of tokens, so that sizes of vocabularies say nothing about texts of unlike lengths
(Baayen 2001). `vocabulary_sizes` compares what is comparable, as DynaSent does (Potts et al. 2021): it draws 100 texts
and five words of each, 500 times, and counts the different words of every draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from quintain.core.words import WORD
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.word_columns import word_lists

SAMPLES = 500
TEXTS = 100
WORDS = 5


@dataclass(frozen=True, slots=True)
class CutTexts:
    """The words of texts as codes, one text after the other; those of text i begin at *starts[i]*."""

    codes: IntArray
    starts: IntArray

    @property
    def counts(self) -> IntArray:
        """How many words each text has."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True)
class Binned:
    """What share of each series falls between *edges*; the last bin also has all that is beyond it."""

    edges: FloatArray
    shares: Mapping[str, FloatArray]
    beyond: bool


def edit_shares(before: Sequence[str], after: Sequence[str]) -> FloatArray:
    """Return each pair's edit distance as a share of the longer text: 0 is the same, 1 nothing in common.

    >>> edit_shares(["a good film", ""], ["a god film", ""]).round(3).tolist()
    [0.091, 0.0]
    """
    if not len(before):
        return np.zeros(0)
    return np.asarray(cpdist(before, after, scorer=Levenshtein.normalized_distance), dtype=np.float64)


def count_words(texts: Sequence[str]) -> IntArray:
    """Count the words of each text.

    >>> count_words(["It wasn't well-made!", ""]).tolist()
    [3, 0]
    """
    counts = pl.Series(texts, dtype=pl.String()).str.count_matches(WORD)
    return counts.fill_null(0).to_numpy().astype(np.int64)


def words_of(texts: Sequence[str]) -> CutTexts:
    """Cut texts into words, whose case does not count."""
    lists = word_lists(pl.Series(texts, dtype=pl.String()))
    lengths = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    flat = lists.explode().drop_nulls()
    codes = flat.rank("dense").to_numpy().astype(np.int64) if len(flat) else np.zeros(0, dtype=np.int64)
    return CutTexts(codes, np.concatenate([[0], np.cumsum(lengths)]))


def vocabulary_sizes(
    words: CutTexts, *, samples: int = SAMPLES, texts: int = TEXTS, per_text: int = WORDS, seed: int = 0
) -> IntArray:
    """Count the different words in each of *samples* draws: *texts* texts with replacement, so many words of each.

    The words of a text are drawn without replacement, and a text with fewer gives all it has. Texts without a word
    are not drawn.
    """
    usable = np.flatnonzero(words.counts)
    if not len(usable):
        return np.zeros(0, dtype=np.int64)
    rng = np.random.default_rng(seed)
    drawn = usable[rng.integers(0, len(usable), size=samples * texts)]
    size = words.counts[drawn]
    picked = np.zeros((per_text, len(drawn)), dtype=np.int64)
    for turn in range(per_text):
        # A place among those that are left; each earlier pick at or before it moves it on by one.
        position = (rng.random(len(drawn)) * np.maximum(size - turn, 1)).astype(np.int64)
        for earlier in np.sort(picked[:turn], axis=0):
            position += position >= earlier
        picked[turn] = position
    exists = picked < size
    codes = np.where(exists, words.codes[np.minimum(words.starts[drawn] + picked, len(words.codes) - 1)], -1)
    rows = np.sort(codes.reshape(per_text, samples, texts).transpose(1, 0, 2).reshape(samples, -1), axis=1)
    different = (np.diff(rows, axis=1) != 0).sum(axis=1) + 1
    return np.asarray(different - (rows[:, 0] < 0), dtype=np.int64)


def binned(
    series: Mapping[str, FloatArray], *, bins: int = 40, bounds: tuple[float, float] | None = None, whole: bool = False
) -> Binned:
    """Cut the values of all series into the same bins, up to where the longest tail would squeeze the rest.

    *whole* numbers get bins of whole width. Without *bounds* the last bin has what is above the 99.5th percentile.
    """
    values = np.concatenate([np.zeros(0), *series.values()])
    if bounds is None:
        low, high = (float(values.min()), float(np.quantile(values, 0.995))) if len(values) else (0.0, 1.0)
        bounds = (low, max(high, low + 1.0))
    low, high = bounds
    width = (high - low) / bins
    if whole:
        low, width = float(np.floor(low)), float(max(1.0, np.ceil(width)))
        bins = int(np.ceil((high - low + 1) / width))
    edges = low + width * np.arange(bins + 1, dtype=np.float64)
    shares = {}
    for name, numbers in series.items():
        counts = np.bincount(np.clip(((numbers - low) / width).astype(np.int64), 0, bins - 1), minlength=bins)
        shares[name] = counts / max(len(numbers), 1)
    return Binned(np.asarray(edges, dtype=np.float64), shares, bool(len(values)) and bool(values.max() > edges[-1]))
