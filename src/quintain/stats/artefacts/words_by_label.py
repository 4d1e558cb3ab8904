"""Which words go with which label: pointwise mutual information, and z-statistics with multiplicity controlled.

A word that stands in a text should say nothing of its label by itself (Gardner et al. 2021): z compares the share of a
label among the texts that have the word with the share among all. Texts come in parts, and only counts are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.exact import at_least
from quintain.stats.multiplicity import step_up
from quintain.stats.word_columns import word_lists

LEAST = 5  # texts that a word must be in
RATE = 0.01  # of false ones among the words that stand
MOST_WORDS = 2_000_000  # different words that are kept count of; beyond, those seen once are dropped


@dataclass(frozen=True, slots=True)
class WordLabels:
    """Words that go with a label beyond chance, the surest first: *example* is the place of a text that has both.

    *tested* counts the pairs of word and label that were looked at, *texts* the texts.
    """

    word: list[str]
    label: list[str]
    texts_with: IntArray
    share: FloatArray
    expected: FloatArray
    pmi: FloatArray
    z: FloatArray
    example: IntArray
    tested: int
    texts: int


def words_by_label(
    parts: Iterable[tuple[Sequence[str] | pl.Series, Sequence[str] | pl.Series]],
    *,
    least: int = LEAST,
    rate: float = RATE,
) -> WordLabels:
    """Count words by label over *parts* of texts and labels, and keep what stands.

    >>> found = words_by_label([(["not good", "not bad", "fine"] * 20, ["no", "no", "yes"] * 20)])
    >>> found.word[0], found.label[0], round(float(found.share[0]), 2)
    ('fine', 'yes', 1.0)
    """
    counts = pl.DataFrame(schema={"word": pl.String(), "label": pl.String(), "n": pl.UInt32(), "example": pl.Int64()})
    labels: dict[str, int] = {}
    done = 0
    for texts, named in parts:
        part_counts, size = _count(texts, named, done)
        counts = _merged([counts, part_counts])
        for name, number in pl.Series(named, dtype=pl.String()).value_counts().iter_rows():
            labels[str(name)] = labels.get(str(name), 0) + int(number)
        done += size
        if counts.height > MOST_WORDS:
            counts = counts.filter(pl.col("n") > 1)
    return _judged(counts, labels, done, least, rate)


def _count(texts: Sequence[str] | pl.Series, named: Sequence[str] | pl.Series, start: int) -> tuple[pl.DataFrame, int]:
    """Count in how many texts of each label each word is; once in a text is as good as twice."""
    table = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String()), "label": pl.Series(named, dtype=pl.String())})
    words = (
        table.with_columns(example=pl.int_range(start, start + table.height, dtype=pl.Int64()))
        .select(
            word_lists(pl.col("text")).list.unique().alias("word"),
            "label",
            "example",
        )
        .explode("word")
        .drop_nulls("word")
    )
    counts = words.group_by("word", "label").agg(n=pl.len().cast(pl.UInt32()), example=pl.col("example").min())
    return counts, table.height


def _merged(tables: list[pl.DataFrame]) -> pl.DataFrame:
    whole = pl.concat(tables)
    return whole.group_by("word", "label").agg(pl.col("n").sum().cast(pl.UInt32()), pl.col("example").min())


def _judged(counts: pl.DataFrame, labels: dict[str, int], texts: int, least: int, rate: float) -> WordLabels:
    seen = counts.with_columns(texts_with=pl.col("n").sum().over("word")).filter(pl.col("texts_with") >= least)
    seen = seen.sort("word", "label")  # words that are as sure as each other come in one order
    expected = np.array([labels[one] / max(texts, 1) for one in seen["label"]], dtype=np.float64)
    with_word = seen["texts_with"].to_numpy().astype(np.float64)
    share = seen["n"].to_numpy() / np.maximum(with_word, 1)
    spread = np.sqrt(np.maximum(expected * (1 - expected), 1e-12) / np.maximum(with_word, 1))
    z = (share - expected) / spread
    # Every word was held against every label, those it never met, too.
    tested = seen["word"].n_unique() * len(labels)
    number = np.array([labels[one] for one in seen["label"]], dtype=np.float64)
    p = at_least(seen["n"].to_numpy(), with_word, number, texts)
    stands = np.flatnonzero(step_up(p, rate, tested) & (z > 0))
    order = stands[np.argsort(-z[stands], kind="stable")]
    rows = seen[order.tolist()] if len(order) else seen.clear()
    with np.errstate(divide="ignore"):
        pmi = np.log2(share[order] / np.maximum(expected[order], 1e-12))
    return WordLabels(
        word=rows["word"].to_list(),
        label=rows["label"].to_list(),
        texts_with=rows["texts_with"].to_numpy().astype(np.int64),
        share=share[order],
        expected=expected[order],
        pmi=pmi,
        z=z[order],
        example=rows["example"].to_numpy().astype(np.int64),
        tested=int(tested),
        texts=texts,
    )
