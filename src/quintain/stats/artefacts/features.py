"""What a linear learner reads: texts as hashed words and pairs of words, and what options look like beside others.

Texts become a sparse matrix with no loop over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy
import scipy.sparse

from quintain.stats.artefacts.examples import Examples
from quintain.stats.bootstrap import FloatArray
from quintain.stats.diversity import count_words
from quintain.stats.word_columns import word_lists

BUCKETS = 1 << 16
PART = 20_000  # texts at once


def hashed(texts: Sequence[str], *, pairs: bool = True, salt: int = 0, buckets: int = BUCKETS) -> Any:
    """Return the words of each text, and pairs of neighbours, as a matrix with rows of length 1 (float32, CSR)."""
    parts = [_part(texts[start : start + PART], pairs, salt, buckets) for start in range(0, len(texts), PART)]
    return scipy.sparse.vstack(parts, format="csr") if parts else scipy.sparse.csr_matrix((0, buckets))


def _part(texts: Sequence[str], pairs: bool, salt: int, buckets: int) -> Any:
    cut = word_lists(pl.Series(texts, dtype=pl.String()))
    lengths = cut.list.len().fill_null(0).to_numpy().astype(np.int64)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    codes = cut.explode().drop_nulls().hash(seed=salt).to_numpy().astype(np.uint64)
    columns, where = [codes], [rows]
    if pairs and len(codes) > 1:
        beside = rows[1:] == rows[:-1]
        with np.errstate(over="ignore"):
            both = codes[:-1] * np.uint64(0x9E3779B97F4A7C15) + codes[1:]
        columns.append((both ^ (both >> np.uint64(29)))[beside])
        where.append(rows[1:][beside])
    at = (np.concatenate(columns) % np.uint64(buckets)).astype(np.int32)
    row = np.concatenate(where)
    matrix = scipy.sparse.csr_matrix((np.ones(len(at), dtype=np.float32), (row, at)), shape=(len(lengths), buckets))
    matrix.data[:] = 1.0  # once in a text is as good as twice
    size = np.sqrt(np.maximum(np.diff(matrix.indptr), 1)).astype(np.float32)
    matrix.data /= np.repeat(size, np.diff(matrix.indptr))
    return matrix


def option_figures(examples: Examples, fields: Sequence[str]) -> FloatArray:
    """Describe options: how long, whether the longest or shortest, and how much of each stands in each given field."""
    texts = [text for option in examples.options for text in option]
    example = np.repeat(np.arange(len(examples)), [len(option) for option in examples.options])
    length = count_words(texts).astype(np.float64)
    longest, shortest = np.zeros(len(examples)), np.full(len(examples), np.inf)
    np.maximum.at(longest, example, length)
    np.minimum.at(shortest, example, length)
    mean = np.bincount(example, length) / np.maximum(np.bincount(example), 1)
    columns = [
        np.log1p(length) / 3,
        (length == longest[example]).astype(float),
        (length == shortest[example]).astype(float),
        np.log1p(length) - np.log1p(mean[example]),
    ]
    for name in fields:
        share, verbatim = overlap(texts, [examples.fields[name][at] for at in example.tolist()])
        columns += [share, verbatim.astype(float)]
    return np.stack(columns, axis=1)


def overlap(texts: Sequence[str], among: Sequence[str]) -> tuple[FloatArray, Any]:
    """Return what share of each text's words its passage has, and whether it has the text word for word.

    >>> share, there = overlap(["a red boat", "two cats"], ["They saw a red boat.", "One cat."])
    >>> share.tolist(), there.tolist()
    ([1.0, 0.0], [True, False])
    """
    table = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String()), "among": pl.Series(among, dtype=pl.String())})
    words = word_lists(pl.col("text"))
    passage = word_lists(pl.col("among"))
    matches = table.select(words=words, passage=passage).select(
        share=pl.col("words").list.unique().list.set_intersection("passage").list.len()
        / pl.col("words").list.unique().list.len(),
        inside=pl.concat_str(pl.lit(" "), pl.col("passage").list.join(" "), pl.lit(" ")).str.contains(
            pl.concat_str(pl.lit(" "), pl.col("words").list.join(" "), pl.lit(" ")), literal=True
        )
        & (pl.col("words").list.len() > 0),
    )
    share = matches["share"].fill_nan(0.0).fill_null(0.0).to_numpy().astype(np.float64)
    return share, matches["inside"].fill_null(False).to_numpy()
