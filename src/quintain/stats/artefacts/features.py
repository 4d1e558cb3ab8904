"""Texts as hashed words and pairs of words, for a linear learner: a sparse matrix, with no loop over texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy
import scipy.sparse

from quintain.stats.diversity import WORD

BUCKETS = 1 << 16
PART = 20_000  # texts at once


def hashed(texts: Sequence[str], *, pairs: bool = True, salt: int = 0, buckets: int = BUCKETS) -> Any:
    """Give the words of each text, and the pairs of neighbours, as a matrix whose rows have length 1 (float32, CSR)."""
    parts = [_part(texts[start : start + PART], pairs, salt, buckets) for start in range(0, len(texts), PART)]
    return scipy.sparse.vstack(parts, format="csr") if parts else scipy.sparse.csr_matrix((0, buckets))


def _part(texts: Sequence[str], pairs: bool, salt: int, buckets: int) -> Any:
    cut = pl.Series(texts, dtype=pl.String()).str.to_lowercase().str.extract_all(WORD)
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
