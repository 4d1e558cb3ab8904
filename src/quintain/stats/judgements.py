"""Judgements as numbers: who gave which item which label.

The one schema is `item, worker, label`. Names are coded in the order of their sorted names and rows are sorted by item
and worker, so that nothing computed from them depends on the order of a file's rows or columns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy

from quintain.core.errors import BadInput
from quintain.stats.bootstrap import FloatArray, IntArray

HashArray: TypeAlias = npt.NDArray[np.uint64]

# The most cells of a dense items × classes table: 400 million would be 3.2 GB.
MANY_CELLS = 400_000_000
NONE = -1


@dataclass(frozen=True, slots=True)
class Judgements:
    """Judgement j says that *worker[j]* gave *item[j]* the class *label[j]*; the names are beside the codes."""

    item: IntArray
    worker: IntArray
    label: IntArray
    items: Sequence[str]
    workers: Sequence[str]
    classes: tuple[str, ...]

    @classmethod
    def of(
        cls, items: Iterable[str], workers: Iterable[str], labels: Iterable[str], classes: Iterable[str] = ()
    ) -> Judgements:
        """Code rows of names; *classes* adds labels that may not occur.

        >>> Judgements.of(["a", "a"], ["ann", "bob"], ["yes", "no"]).counts().tolist()
        [[1, 1]]
        """
        columns = [np.array(list(names), dtype=object) for names in (items, workers, labels)]
        coded = [np.unique(names, return_inverse=True) for names in columns]
        known = sorted({*coded[2][0], *classes})
        code_of = {name: code for code, name in enumerate(known)}
        label = np.array([code_of[name] for name in coded[2][0]], dtype=np.int64)[coded[2][1]]
        return cls.from_codes(coded[0][1], coded[1][1], label, list(coded[0][0]), list(coded[1][0]), tuple(known))

    @classmethod
    def from_codes(
        cls,
        item: npt.ArrayLike,
        worker: npt.ArrayLike,
        label: npt.ArrayLike,
        items: Sequence[str],
        workers: Sequence[str],
        classes: Sequence[str],
    ) -> Judgements:
        """Take rows that are coded already; names are sorted and rows put in their order where they are not."""
        item_codes, item_names = _sorted_names(np.asarray(item, dtype=np.int64), items)
        worker_codes, worker_names = _sorted_names(np.asarray(worker, dtype=np.int64), workers)
        labels, class_names = _sorted_names(np.asarray(label, dtype=np.int64), classes)
        key = item_codes * max(len(worker_names), 1) + worker_codes
        if len(key) and (key[1:] <= key[:-1]).any():
            order = np.lexsort((labels, key))
            item_codes, worker_codes, labels = item_codes[order], worker_codes[order], labels[order]
        return cls(item_codes, worker_codes, labels, item_names, worker_names, tuple(class_names))

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: npt.NDArray[Any]) -> Judgements:
        """Keep the judgements at *rows* (a mask or sorted places); items, workers and classes stay as they are."""
        if rows.dtype == np.bool_ and rows.all():
            return self  # of millions, no copy is made
        return Judgements(self.item[rows], self.worker[rows], self.label[rows], self.items, self.workers, self.classes)

    def counts(self) -> IntArray:
        """Count the votes: items × classes."""
        width = len(self.classes)
        if len(self.items) * width > MANY_CELLS:
            raise BadInput(
                "There are {width:,} different labels on {n:,} items, too many for a table of votes.",
                width=width,
                n=len(self.items),
                remedy="Aggregate labels from a fixed set, not free text.",
            )
        cells = np.bincount(self.item * width + self.label, minlength=len(self.items) * width)
        return cells.reshape(len(self.items), width)

    def sizes(self) -> IntArray:
        """Count the judgements of each item."""
        return np.bincount(self.item, minlength=len(self.items))

    def slots(self) -> IntArray:
        """Return the position of each vote in a flat classes × items table."""
        return self.label * len(self.items) + self.item

    def add_up(self, weights: FloatArray, slots: IntArray) -> FloatArray:
        """Add up the *weights* of the votes in a classes × items table; *slots* are those of `slots()`."""
        shape = (len(self.classes), len(self.items))
        return total_by(slots, weights, shape[0] * shape[1]).reshape(shape)

    def by_cell(self) -> Any:
        """Return the sparse matrix item × (worker · label) with a 1 for each vote."""
        shape = (len(self.items), len(self.workers) * len(self.classes))
        indices = self.worker * len(self.classes) + self.label
        starts = np.concatenate([[0], np.cumsum(self.sizes())])
        small = np.int32 if max(shape[1], len(self)) < 2**31 else np.int64
        return scipy.sparse.csr_array((np.ones(len(self)), indices.astype(small), starts.astype(small)), shape=shape)


def _sorted_names(codes: IntArray, names: Sequence[str]) -> tuple[IntArray, Sequence[str]]:
    if len(codes) and (codes.min() < 0 or codes.max() >= len(names)):
        raise BadInput("A code is outside the list of names.")
    if all(left < right for left, right in pairwise(names)):
        return codes, names
    if len(set(names)) < len(names):
        raise BadInput("A name is in the list of names twice.")
    order = sorted(range(len(names)), key=names.__getitem__)
    position = np.empty(len(names), dtype=np.int64)
    position[order] = np.arange(len(names))
    return position[codes], [names[old] for old in order]


def name_hashes(names: Iterable[str]) -> HashArray:
    """Return 64 bits for each name that depend on the name alone."""
    joined = b"".join(hashlib.blake2b(name.encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)


def mix(*parts: HashArray | int) -> HashArray:
    """Mix hashes and seeds to new ones (the finaliser of SplitMix64 after each part)."""
    mixed: Any = np.zeros(1, dtype=np.uint64)
    for part in parts:
        value = np.uint64(part % 2**64) if isinstance(part, int) else part
        with np.errstate(over="ignore"):
            mixed = (mixed ^ value) + np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed ^= mixed >> np.uint64(31)
    return np.asarray(mixed, dtype=np.uint64)


def best_class(
    scores: npt.NDArray[Any], items: Sequence[str], classes: Sequence[str], *, seed: int = 0, slack: float = 1e-9
) -> IntArray:
    """Return the class with the highest score of each item (rows of *scores*).

    Scores within *slack* of the highest are a tie. A tie falls to the class for which the hash of item name, class
    name and *seed* is greatest: neither the order of rows nor that of columns matters, and no class is favoured.
    """
    top = scores.max(axis=1, keepdims=True)
    best: IntArray = scores.argmax(axis=1).astype(np.int64)
    close = scores >= top - slack
    tied = np.flatnonzero(close.sum(axis=1) > 1)
    if len(tied):
        hashes = mix(name_hashes(items[place] for place in tied.tolist())[:, None], name_hashes(classes)[None, :], seed)
        best[tied] = np.where(close[tied], hashes, np.uint64(0)).argmax(axis=1)
    return best


def sample_votes(judgements: Judgements, most: int, *, seed: int = 0) -> npt.NDArray[np.bool_]:
    """Choose at most *most* judgements of each item, by the hash of item, worker and *seed*."""
    items = name_hashes(judgements.items)[judgements.item]
    keys = mix(items, name_hashes(judgements.workers)[judgements.worker], seed)
    order = np.lexsort((keys, judgements.item))
    sizes = judgements.sizes()
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.zeros(len(judgements), dtype=bool)
    chosen[order] = np.arange(len(judgements)) - starts < most
    return chosen


def softmax(scores: FloatArray) -> tuple[FloatArray, float]:
    """Turn log scores (classes × items) into posteriors in place; also give the sum of the items' log totals.

    Classes come first because numpy is slow over many short rows.
    """
    top = scores.max(axis=0)
    scores -= top
    np.exp(scores, out=scores)
    total = scores.sum(axis=0)
    scores /= total
    return scores, float(top.sum() + np.log(total).sum())


def total_by(codes: IntArray, weights: FloatArray, groups: int) -> FloatArray:
    """Add up *weights* in each of so many groups."""
    return np.asarray(np.bincount(codes, weights, minlength=groups), dtype=np.float64)


def mean_move(old: FloatArray, new: FloatArray) -> float:
    """Return how far the posteriors of an item moved on average, from 0 to 1; *old* is overwritten."""
    np.subtract(old, new, out=old)
    return float(np.abs(old, out=old).sum() / 2 / max(old.shape[1], 1))
