"""What asking adaptively would save, and what it would cost: votes are played again, or drawn from a model.

Each item is asked about until its most probable label is sure and has the votes that a label needs, or until it has all
its votes. Beside that stands what all votes say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import NONE, Judgements
from quintain.stats.one_coin import vote_log_odds

DRAWN = 20_000  # items that are drawn from the model


@dataclass(frozen=True, slots=True)
class Stopping:
    """When an item has votes enough: *least* to *most*, a label surer than *threshold* that has *minimum* votes."""

    most: int
    minimum: int
    least: int
    threshold: float


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of asking adaptively, over *items*: shares of the votes and of the items.

    *saving* is the share of votes that were not asked for. *changed* items have another label than with all votes, of
    those that have one both times; *unlabelled* have none, and *unlabelled_before* have none with all votes. Where the
    truth is known, *right* and *right_before* are the shares of items whose label is true.
    """

    items: int
    saving: float
    changed: float
    unlabelled: float
    unlabelled_before: float
    right: float | None = None
    right_before: float | None = None


def replay(
    judgements: Judgements, accuracy: FloatArray, stopping: Stopping, *, seed: int = 0, truth: IntArray | None = None
) -> Replay | None:
    """Play the votes of *judgements* again in a random order, by workers of known *accuracy*.

    Only items with *most* votes tell what all of them say; None where there are none. *truth* is a class per item, or
    -1.
    """
    sizes = judgements.sizes()
    order = np.lexsort((np.random.default_rng(seed).random(len(judgements)), judgements.item))
    starts = (np.cumsum(sizes) - sizes)[sizes >= stopping.most]
    if not len(starts):
        return None
    rows = order[starts[:, None] + np.arange(stopping.most)]
    weights = vote_log_odds(accuracy, len(judgements.classes))[judgements.worker[rows]]
    known = None if truth is None else truth[sizes >= stopping.most]
    return _play(judgements.label[rows], weights, len(judgements.classes), stopping, known)


def foresee(classes: int, accuracy: float, stopping: Stopping, *, seed: int = 0) -> Replay:
    """Draw votes on even classes by workers who are all right with this *accuracy* and err evenly, and play them."""
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, classes, DRAWN)
    shape = (DRAWN, stopping.most)
    wrong = (truth[:, None] + chance.integers(1, max(classes, 2), shape)) % classes
    label = np.where(chance.random(shape) < accuracy, truth[:, None], wrong)
    weights = np.full(shape, vote_log_odds(np.array([accuracy]), classes)[0])
    return _play(label, weights, classes, stopping, truth)


def _play(label: IntArray, weights: FloatArray, classes: int, stopping: Stopping, truth: IntArray | None) -> Replay:
    items, most = label.shape
    rows = np.arange(items)
    scores, votes = np.zeros((items, classes)), np.zeros((items, classes), dtype=np.int64)
    label_at_stop, asked = np.full(items, NONE), np.full(items, most)
    going = np.ones(items, dtype=bool)
    for turn in range(most):
        np.add.at(scores, (rows, label[:, turn]), weights[:, turn])
        np.add.at(votes, (rows, label[:, turn]), 1)
        stop = going & is_enough(scores, votes, turn + 1, stopping)
        label_at_stop[stop], asked[stop] = _majority(votes[stop], stopping.minimum), turn + 1
        going &= ~stop
    before = _majority(votes, stopping.minimum)
    label_at_stop[going] = before[going]
    both = (label_at_stop != NONE) & (before != NONE)
    known = truth is not None and (truth != NONE).any()
    scored = truth != NONE if truth is not None else both
    return Replay(
        items=items,
        saving=float(1 - asked.sum() / (items * most)),
        changed=float((label_at_stop != before)[both].mean()) if both.any() else 0.0,
        unlabelled=float((label_at_stop == NONE).mean()),
        unlabelled_before=float((before == NONE).mean()),
        right=float((label_at_stop == truth)[scored].mean()) if known else None,
        right_before=float((before == truth)[scored].mean()) if known else None,
    )


def is_enough(scores: FloatArray, votes: IntArray, asked: int, stopping: Stopping) -> npt.NDArray[np.bool_]:
    """Return which items need no more votes, by the log scores and the votes of each class (items × classes)."""
    if asked < min(stopping.least, stopping.most):
        return np.zeros(len(scores), dtype=bool)
    top = scores.max(axis=1)
    sure = 1 / np.exp(scores - top[:, None]).sum(axis=1) >= stopping.threshold
    leading = np.take_along_axis(votes, scores.argmax(axis=1)[:, None], axis=1)[:, 0]
    others = np.where(np.arange(votes.shape[1]) == scores.argmax(axis=1)[:, None], -1, votes).max(axis=1, initial=-1)
    return np.asarray(sure & (leading >= stopping.minimum) & (leading > others))


def _majority(votes: IntArray, minimum: int) -> IntArray:
    """Return the label with most votes where it has *minimum* and no other has as many."""
    if not len(votes):
        return np.zeros(0, dtype=np.int64)
    top = votes.max(axis=1)
    alone = (votes == top[:, None]).sum(axis=1) == 1
    return np.where((top >= minimum) & alone, votes.argmax(axis=1), NONE)
