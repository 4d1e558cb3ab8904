"""Slices in which a model is weak, found among tags, answers, lengths and words, with multiplicity controlled.

Tests are exact, and the rate of false slices is held over all that were looked at: where there is none, at most one run
in twenty shows any.

A slice is held against all other examples; one that is nearly the same as a surer one is left out. Where two models are
compared, the same slices say where one of them is better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import polars as pl
import scipy
import scipy.sparse

from quintain.core.records.study import ErrorSlice
from quintain.core.texts import Text
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.diversity import count_words
from quintain.stats.exact import at_least
from quintain.stats.multiplicity import step_up
from quintain.stats.word_columns import word_lists
from quintain.stats.workers import wilson_share

LEAST = 10  # examples in a slice, and outside of it
RATE = 0.05  # of false slices among those that stand; and of runs that show one where there is none
PARTS = 4  # of lengths
MOST_WORDS = 5000
SAME = 0.8  # of the examples of two slices together that are in both


@dataclass(frozen=True, slots=True)
class Sliceable:
    """Examples as slices are looked for in them: texts by field, values by name (tags may be several), groups."""

    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    values: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter([*self.texts.values(), *self.values.values()]), ()))


@dataclass(frozen=True, slots=True)
class SliceCandidates:
    """Slices that were looked at: *rows* is examples × slices, with a 1 where an example is in a slice."""

    kind: list[str]
    name: list[str]
    rows: scipy.sparse.csc_matrix


def candidates(examples: Sliceable, *, least: int = LEAST) -> SliceCandidates:
    """List the slices that are large enough, and small enough to leave something to compare them with."""
    kinds: list[str] = []
    names: list[str] = []
    columns: list[IntArray] = []
    for kind, values in examples.values.items():
        for name, rows in _by_value(values).items():
            kinds, names, columns = [*kinds, kind], [*names, name], [*columns, rows]
    for kind, texts in examples.texts.items():
        for name, rows in _by_length(count_words(texts)).items():
            length = Text("length of {field}", field=kind)
            kinds, names, columns = [*kinds, length], [*names, name], [*columns, rows]
    for kind, texts in examples.texts.items():
        for name, rows in _by_word(texts, least).items():
            kinds.append(Text("word in {field}", field=kind))
            names.append(name)
            columns.append(rows)
    number = len(examples)
    chosen = [at for at, rows in enumerate(columns) if least <= len(rows) <= number - least]
    sizes = [len(columns[at]) for at in chosen]
    flat = np.concatenate([columns[at] for at in chosen]) if chosen else np.zeros(0, dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    matrix = scipy.sparse.csc_matrix((np.ones(len(flat)), flat, ends), shape=(number, len(chosen)))
    return SliceCandidates([kinds[at] for at in chosen], [names[at] for at in chosen], matrix)


def weak_slices(slices: SliceCandidates, right: FloatArray, *, rate: float = RATE, most: int = 20) -> list[ErrorSlice]:
    """Return the slices in which fewer are right than elsewhere, the surest first.

    >>> texts = ["never again"] * 20 + ["fine day"] * 40
    >>> right = np.array([0.0] * 15 + [1.0] * 45)
    >>> weak_slices(candidates(Sliceable({"text": texts})), right)[0].name
    'again'
    """
    if not slices.name:
        return []
    size = np.asarray(slices.rows.sum(axis=0)).ravel()
    hits = np.asarray(right @ slices.rows).ravel()
    outside, others = len(right) - size, right.sum() - hits
    z = _apart(hits, size, others, outside)
    wrong = size - hits
    p = at_least(wrong, size, wrong + outside - others, size + outside)
    stands = step_up(p, rate)
    order = [at for at in np.lexsort((z, p)).tolist() if stands[at] and z[at] < 0]
    return [
        ErrorSlice(
            slices.kind[at],
            slices.name[at],
            int(size[at]),
            wilson_share(round(hits[at]), int(size[at])),
            float(others[at] / outside[at]),
            float(z[at]),
            len(slices.name),
            rows_of(slices, at),
        )
        for at in _unlike(slices, order, most)
    ]


def rows_of(slices: SliceCandidates, at: int) -> list[int]:
    """Return the examples of a slice."""
    rows: list[int] = slices.rows.indices[slices.rows.indptr[at] : slices.rows.indptr[at + 1]].tolist()
    return rows


def _apart(hits: FloatArray, size: FloatArray, others: FloatArray, outside: FloatArray) -> FloatArray:
    """Return the difference of two shares in standard errors, those of the null."""
    whole = (hits + others) / (size + outside)
    error = np.sqrt(np.maximum(whole * (1 - whole), 1e-12) * (1 / size + 1 / outside))
    return np.asarray((hits / size - others / outside) / error, dtype=np.float64)


def _unlike(slices: SliceCandidates, order: Sequence[int], most: int) -> list[int]:
    """Leave out slices that have nearly the same examples as one before them."""
    chosen: list[int] = []
    sets: list[set[int]] = []
    for at in order:
        own = set(rows_of(slices, at))
        if all(len(own & other) < SAME * len(own | other) for other in sets):
            chosen.append(at)
            sets.append(own)
        if len(chosen) == most:
            break
    return chosen


def _by_value(values: Sequence[Sequence[str]]) -> dict[str, IntArray]:
    rows_by_value: dict[str, list[int]] = {}
    for row, own in enumerate(values):
        for value in dict.fromkeys(own):
            rows_by_value.setdefault(value, []).append(row)
    return {value: np.array(rows, dtype=np.int64) for value, rows in sorted(rows_by_value.items())}


def _by_length(words: IntArray) -> dict[str, IntArray]:
    """Cut examples into parts of about the same size by their number of words."""
    cuts = np.quantile(words, np.linspace(0, 1, PARTS + 1)) if len(words) else np.zeros(0)
    edges: list[int] = np.unique(cuts.astype(np.int64)).tolist()
    parts = {}
    for low, high in pairwise(edges):
        last = high == edges[-1]
        inside = (words >= low) & ((words <= high) if last else (words < high))
        name = f"{low}–{high if last else high - 1}" if high - low > 1 or last else str(low)
        parts[name] = np.flatnonzero(inside)
    return parts if len(parts) > 1 else {}


def _by_word(texts: Sequence[str], least: int) -> dict[str, IntArray]:
    table = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String())}).with_row_index("row")
    words = table.select("row", word=word_lists(pl.col("text")).list.unique()).explode("word").drop_nulls("word")
    counted = words.group_by("word").agg(pl.len().alias("n"), "row")
    common = counted.filter(pl.col("n").is_between(least, len(texts) - least)).sort(
        ["n", "word"], descending=[True, False]
    )
    return {
        word: np.sort(np.array(rows, dtype=np.int64))
        for word, rows in common.head(MOST_WORDS).select("word", "row").iter_rows()
    }
