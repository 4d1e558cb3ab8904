"""Coverage: which phenomena (tags) each data set has, how evenly, and which are commoner in one than in others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import FloatArray
from quintain.stats.multiplicity import step_up
from quintain.stats.workers import wilson_share


@dataclass(frozen=True, slots=True)
class TagShares:
    """A tag: what share of each data set has it, p of the test that all have it alike, and whether that stands."""

    tag: str
    shares: Mapping[str, Estimate]
    p: float
    stands: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """One data set: how many of all *known* tags it has, how evenly (1: all as often), and how many in *size* draws."""

    tagged: int
    tags: int
    known: int
    evenness: float
    expected: float
    size: int


def coverage(tags: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, Coverage]:
    """Return how much of all tags each data set covers, and in as many examples as the smallest has tagged.

    >>> found = coverage({"a": [["x"], ["y"]], "b": [["x"], ["x"]]})
    >>> found["a"].tags, found["b"].tags, found["a"].evenness
    (2, 1, 1.0)
    """
    known = {tag for rows in tags.values() for row in rows for tag in row}
    counts = {name: _counts(rows) for name, rows in tags.items()}
    tagged = {name: sum(bool(row) for row in rows) for name, rows in tags.items()}
    size = min((one for one in tagged.values() if one), default=0)
    by_set = {}
    for name, own in counts.items():
        values = np.array(list(own.values()), dtype=np.float64)
        expected = _rarefied(values, tagged[name], size)
        by_set[name] = Coverage(tagged[name], len(own), len(known), _evenness(values), expected, size)
    return by_set


def tag_shares(tags: Mapping[str, Sequence[Sequence[str]]], *, rate: float = 0.05) -> list[TagShares]:
    """Return the share of each tag in each data set, the commonest first; looks at many tags are allowed for."""
    counts = {name: _counts(rows) for name, rows in tags.items()}
    sizes = {name: len(rows) for name, rows in tags.items()}
    known = sorted({tag for own in counts.values() for tag in own})
    tested = np.array([_alike([counts[name].get(tag, 0) for name in tags], list(sizes.values())) for tag in known])
    stands = step_up(tested, rate)
    shares = [
        TagShares(
            tag,
            {name: wilson_share(counts[name].get(tag, 0), sizes[name]) for name in tags},
            float(tested[at]),
            bool(stands[at]),
        )
        for at, tag in enumerate(known)
    ]
    return sorted(shares, key=lambda row: (-max(share.value or 0.0 for share in row.shares.values()), row.tag))


def _counts(rows: Sequence[Sequence[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        for tag in set(row):
            counts[tag] = counts.get(tag, 0) + 1
    return counts


def _evenness(values: FloatArray) -> float:
    """Return the entropy of the tags against that of tags that are all as common (Pielou)."""
    if len(values) < 2:
        return 1.0
    share = values / values.sum()
    return float(-(share * np.log(share)).sum() / np.log(len(values)))


def _rarefied(values: FloatArray, tagged: int, size: int) -> float:
    """Return how many tags are expected in *size* of the *tagged* examples (Hurlbert 1971)."""
    if size >= tagged:
        return float(len(values))
    log = scipy.special.gammaln
    rest = tagged - values
    inside = rest >= size
    absent = np.zeros(len(values))
    absent[inside] = np.exp(
        log(rest[inside] + 1) - log(rest[inside] - size + 1) - log(tagged + 1) + log(tagged - size + 1)
    )
    return float((1 - absent).sum())


def _alike(hits: Sequence[int], sizes: Sequence[int]) -> float:
    """Return the p of the test that a share is the same everywhere (chi-squared)."""
    table = np.array([hits, np.array(sizes) - np.array(hits)], dtype=np.float64)
    rows, columns, whole = table.sum(axis=1), table.sum(axis=0), table.sum()
    if len(sizes) < 2 or (rows == 0).any() or (columns == 0).any():
        return 1.0
    expected = np.outer(rows, columns) / whole
    statistic = float(((table - expected) ** 2 / expected).sum())
    return float(scipy.special.gammaincc((len(sizes) - 1) / 2, statistic / 2))
