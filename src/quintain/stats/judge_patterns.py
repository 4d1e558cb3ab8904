"""Patterns in judgements that people who read the items do not leave behind."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import IntArray
from quintain.stats.judgements import Judgements

PERIODS = (2, 3, 4)
IN_TURN = 0.95  # share of judgements that the one a period before foretells
LEAST_ERRORS = 10
SAME_ERRORS = 0.8


def keys_in_turn(worker: IntArray, label: IntArray, workers: int) -> npt.NDArray[np.bool_]:
    """Return who gave labels in turn (1, 2, 3, 1, 2, 3 …); judgements are in the order in which they came.

    One who always gives the same label does not: that is another pattern.

    >>> keys_in_turn(np.zeros(20, int), np.tile([0, 1], 10), 1).tolist()
    [True]
    """
    order = np.argsort(worker, kind="stable")
    people, labels = worker[order], label[order]
    counts = np.bincount(people, minlength=workers)
    in_turn = np.zeros(workers, dtype=bool)
    changes = (people[1:] == people[:-1]) & (labels[1:] != labels[:-1])
    varied = np.bincount(people[1:][changes], minlength=workers) >= 0.3 * counts
    for period in PERIODS:
        same = (people[period:] == people[:-period]) & (labels[period:] == labels[:-period])
        hits = np.bincount(people[period:][same], minlength=workers)
        in_turn |= (counts > 3 * period) & (hits >= IN_TURN * (counts - period))
    return np.asarray(in_turn & varied)


def copies(judgements: Judgements, consensus: IntArray) -> npt.NDArray[np.bool_]:
    """Return who shares most of their errors with somebody else; *consensus* is each item's label.

    Two people may agree on what is right without knowing each other; giving the same wrong answers is another matter.
    """
    workers = len(judgements.workers)
    copiers = np.zeros(workers, dtype=bool)
    wrong = judgements.label != consensus[judgements.item] if len(judgements) else np.zeros(0, dtype=bool)
    if not wrong.any():
        return copiers
    item, worker, label = judgements.item[wrong], judgements.worker[wrong], judgements.label[wrong]
    # Errors that more than half of an item's judges share are the item's fault, not theirs.
    shape = (workers, len(judgements.items) * len(judgements.classes))
    cell = item * len(judgements.classes) + label
    common = np.bincount(cell, minlength=shape[1])
    sizes = judgements.sizes()
    rare = 2 * common[cell] <= np.maximum(sizes[item], 2)
    errors = scipy.sparse.coo_array((np.ones(rare.sum()), (worker[rare], cell[rare])), shape=shape).tocsr()
    seen = scipy.sparse.coo_array(
        (np.ones(len(judgements)), (judgements.worker, judgements.item)), shape=(workers, len(judgements.items))
    ).tocsr()
    erred = scipy.sparse.coo_array((np.ones(rare.sum()), (worker[rare], item[rare])), shape=seen.shape).tocsr()
    shared = (errors @ errors.T).tocoo()  # the same error by both
    chances = (erred @ seen.T).tocsr()  # errors of one on items that the other judged too
    pairs = (shared.row != shared.col) & (shared.data >= LEAST_ERRORS)
    left, right, same = shared.row[pairs], shared.col[pairs], shared.data[pairs]
    if len(left):
        copiers[left[same >= SAME_ERRORS * np.asarray(chances[left, right]).ravel()]] = True
    return copiers
