"""Who takes which of the last places: an order for one person that leaves the others something they can take.

Everybody takes an item once. Near the end that matters: where the last person to come has seen what is left, it stays
open. Whoever asks gets the items with most places, which leaves as many different ones as can be. Where the others
could then not take all the rest, it is shared out in advance, as a flow from people over items to places, and whoever
asks gets what falls to them in it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import IntArray

BoolArray = npt.NDArray[np.bool_]


def order_for(asking: int, places: IntArray, may: BoolArray, taken: IntArray, count: int) -> IntArray:
    """Return the items that person *asking* may take, best first, when they ask for *count*.

    *places* is how many places each item has, *may* (people × items) who may still take what, *taken* how many each
    person has had so far: it is assumed that they all do about the same in the end. Items that come first win ties.

    >>> may = np.array([[True, True], [True, False]])
    >>> order_for(0, np.array([1, 1]), may, np.array([1, 1]), 1)  # only the first can take the second item
    array([1, 0])
    """
    mine = np.flatnonzero(may[asking])
    now = min(count, len(mine))
    spare = may.sum(axis=0) - places  # who could take it besides those that are needed
    evenly = mine[np.lexsort((mine, spare[mine], -places[mine]))]
    shares = fair_shares(int(places.sum()) - now, taken + now * (np.arange(len(taken)) == asking), may.sum(axis=1))
    after, left = may.copy(), places.copy()
    after[asking, evenly[:now]] = False
    left[evenly[:now]] -= 1
    later = _share_out(shares, after, left)
    shares[asking] += now
    best = _share_out(shares, may, places)
    if later.sum() + now >= best.sum():
        return evenly
    return evenly[np.argsort(~best[asking][evenly], kind="stable")]


def fair_shares(rest: int, taken: IntArray, most: IntArray) -> IntArray:
    """Return how many of *rest* each takes if those who had least come first and nobody passes *most*.

    >>> fair_shares(6, np.array([10, 12, 20]), np.array([9, 9, 9])).tolist()
    [4, 2, 0]
    """
    low, high = 0, int(taken.max(initial=0) + max(rest, 0))
    while low < high:
        level = (low + high) // 2
        if np.clip(level - taken, 0, most).sum() >= rest:
            high = level
        else:
            low = level + 1
    return np.clip(low - taken, 0, most).astype(np.int64)


def _share_out(shares: IntArray, may: BoolArray, places: IntArray) -> BoolArray:
    """Let as many places as can be be taken; say who takes what."""
    people, items = may.shape
    who, what = np.nonzero(may)
    source, sink = people + items, people + items + 1
    starts = np.concatenate([np.full(people, source), who, people + np.arange(items)])
    ends = np.concatenate([np.arange(people), people + what, np.full(items, sink)])
    room = np.concatenate([shares, np.ones(len(who), dtype=np.int64), places]).astype(np.int32)
    graph = scipy.sparse.csr_array((room, (starts, ends)), shape=(sink + 1, sink + 1))
    flow = scipy.sparse.csgraph.maximum_flow(graph, source, sink).flow[:people, people : people + items]
    return np.asarray(flow.toarray() > 0)
