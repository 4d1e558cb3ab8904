"""Items that can be divided into train, dev and test, and what is asked of their texts on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import NONE
from quintain.stats.near_duplicates import find_pairs
from quintain.stats.split_pool import BoolArray

FIFTHS = 5


class SplitItems(Protocol):
    """Items that can be divided: those of a validation, or the rows of a table."""

    @property
    def ref(self) -> str:
        """What they are called together."""

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, those that score first."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The labels that score."""

    @property
    def label(self) -> IntArray:
        """The place of each item's label, or -1."""

    @property
    def share(self) -> FloatArray:
        """The share of the votes that each label has."""

    @property
    def texts(self) -> list[str]:
        """The text of each item."""

    @property
    def writers(self) -> tuple[str, ...]:
        """Names of the writers."""

    @property
    def writer(self) -> IntArray:
        """The place of each item's writer, or -1."""

    @property
    def shown(self) -> BoolArray:
        """Which items have a label that anybody can read already."""

    @property
    def only_fooling(self) -> bool:
        """Whether nothing was judged that the model had right."""

    def __len__(self) -> int: ...

    def models(self) -> list[str]:
        """Name the models that have answered."""

    def answers_of(self, model: str) -> IntArray:
        """Return what a model answered, as the place of the label, or -1."""

    def values(self, attribute: str) -> list[str | None]:
        """Return the value of an attribute for each item."""

    def origin(self, kind: str) -> IntArray:
        """Return the code of the prompt, or of the review, that each item is from; -1 where it is from none."""


def codes_of(values: Sequence[str | int | None]) -> IntArray:
    """Return a number for each value; -1 where there is none.

    >>> codes_of(["b", None, "a", "b"]).tolist()
    [0, -1, 1, 0]
    """
    code: dict[str | int | None, int] = {None: NONE}
    return np.array([code.setdefault(value, len(code) - 1) for value in values], dtype=np.int64)


def shares_code(codes: IntArray) -> BoolArray:
    """Return which items have a code that another one has, too.

    >>> shares_code(np.array([0, -1, 1, 0, -1])).tolist()
    [True, False, False, True, False]
    """
    often = np.bincount(codes[codes >= 0], minlength=1)
    return np.asarray((codes >= 0) & (often[np.maximum(codes, 0)] > 1))


def groups_of(texts: Sequence[str], threshold: float) -> IntArray:
    """Return the group of each text, of which each is nearly the same as another; -1 for texts like no other."""
    later, earlier = find_pairs(texts, threshold=threshold)
    links = scipy.sparse.coo_array((np.ones(len(later)), (later, earlier)), shape=(len(texts), len(texts)))
    _, group = scipy.sparse.csgraph.connected_components(links, directed=False)
    alone = np.bincount(group, minlength=1)[group] == 1 if len(group) else np.zeros(0, dtype=bool)
    return np.where(alone, NONE, group).astype(np.int64)


def length_quintiles(texts: Sequence[str]) -> list[str | None]:
    """Name for each text the fifth of all lengths that its own is in."""
    length = np.array([len(text) for text in texts])
    if not len(length):
        return []
    edges = np.unique(np.quantile(length, np.arange(1, FIFTHS) / FIFTHS))
    bounds = [0, *(int(edge) for edge in edges), int(length.max())]
    names = [f"{bounds[at] + 1}–{bounds[at + 1]}" for at in range(len(bounds) - 1)]
    return [names[at] for at in np.searchsorted(edges, length, side="left").tolist()]
