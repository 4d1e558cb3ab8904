"""Texts as words, over columns (polars) and over single texts (regex).

A trained model knows words as they were cut when it learned them, so it goes on cutting that way: `Cutting` has
the rule of each format. Models of format 1 took what stands between spaces and signs for a word in every script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from quintain.core.words import TERM, TERM_WORD, composed, find_all

FORMAT = 2  # goes up when texts are cut otherwise than a trained model has learned; older ones stay as they are
MAX_TERMS = 200_000
_WORDS_OF_FORMAT_1 = re.compile(r"\w+(?:['’]\w+)*")
_TERMS_OF_FORMAT_1 = r"\w+(?:['’]\w+)*|[^\w\s]"


def listed(text: str) -> frozenset[str]:
    """Return the words of a word list that is written as one text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Cutting:
    """How texts are cut by models of a format, its *version*."""

    version: int = FORMAT

    def words(self, text: str) -> list[str]:
        """List the words of one text in lower case, without punctuation.

        >>> Cutting().words("It isn't bad!")
        ['it', "isn't", 'bad']
        """
        if self.version == 1:
            return _WORDS_OF_FORMAT_1.findall(text.lower())
        return find_all(TERM_WORD, composed(text).lower())

    def tokens(self, texts: Sequence[str]) -> pl.DataFrame:
        """Return all words and marks of *texts* in lower case, as columns `row` and `term`, in their order."""
        table = pl.DataFrame({"term": pl.Series(texts, dtype=pl.String)}).with_row_index("row")
        term, rule = pl.col("term").str.normalize("NFC"), TERM
        if self.version == 1:
            term, rule = pl.col("term"), _TERMS_OF_FORMAT_1
        return table.with_columns(term.str.to_lowercase().str.extract_all(rule)).explode("term").drop_nulls()

    def terms(self, texts: Sequence[str], *, prefix: str = "") -> pl.DataFrame:
        """Return the words, marks and pairs of neighbouring ones in *texts*, as columns `row` and `term`."""
        single = self.tokens(texts)
        follower = pl.col("term").shift(-1)
        pairs = single.select("row", term=pl.concat_str("term", follower, separator=" "), same=pl.col("row").shift(-1))
        pairs = pairs.filter(pl.col("row") == pl.col("same")).select("row", "term")
        both = pl.concat([single, pairs])
        return both.with_columns(pl.lit(prefix) + pl.col("term")) if prefix else both


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The terms that a model knows, with their inverse document frequencies."""

    terms: tuple[str, ...]
    idf: npt.NDArray[np.float64]

    @classmethod
    def learn(cls, occurrences: pl.DataFrame, documents: int, *, least: int) -> Vocabulary:
        """Keep the terms that stand in at least *least* of the documents; the most frequent ones if too many do.

        The inverse document frequency is smoothed as if one more document held every term once.
        """
        counts = occurrences.group_by("term").agg(pl.col("row").n_unique().alias("documents"))
        counts = counts.filter(pl.col("documents") >= least)
        counts = counts.sort(["documents", "term"], descending=[True, False]).head(MAX_TERMS).sort("term")
        idf = np.log((1 + documents) / (1 + counts["documents"].to_numpy())) + 1
        return cls(tuple(counts["term"].to_list()), idf)

    def vectors(self, occurrences: pl.DataFrame, rows: int) -> scipy.sparse.csr_matrix:
        """Weigh terms by tf-idf (1 + log tf, as in `sublinear`) and scale each row to length one."""
        known = pl.DataFrame({"term": pl.Series(self.terms, dtype=pl.String)}).with_row_index("column")
        counted = occurrences.join(known, on="term").group_by("row", "column").len().sort("row", "column")
        columns = counted["column"].to_numpy().astype(np.int32)
        values = (1 + np.log(counted["len"].to_numpy())) * self.idf[columns]
        matrix = scipy.sparse.csr_matrix(
            (values, (counted["row"].to_numpy().astype(np.int32), columns)), shape=(rows, len(self.terms))
        )
        lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
        return scipy.sparse.csr_matrix(scipy.sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ matrix)


class Rarity:
    """How rare words are, by their inverse document frequencies; a word that was never met counts as *unseen*."""

    def __init__(self, words: Iterable[str], idf: Iterable[float], unseen: float) -> None:
        self._known = dict(zip(words, idf, strict=True))
        self._unseen = unseen

    def of(self, word: str) -> float:
        """Return the rarity of one word."""
        return float(self._known.get(word, self._unseen))

    def total(self, words: Iterable[str]) -> float:
        """Add up the rarities of words, in one order, so that sums are the same each time."""
        return sum(self.of(word) for word in sorted(words))
