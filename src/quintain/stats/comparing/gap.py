"""How far models are behind people on data whose labels stand: on all items, and where people agree.

Without a writer's own label the label that an item has is the right one, and people are measured by their votes: the
share of an item's votes that are for its label. Where all votes agree, people are then right by definition, which is
why votes that were kept apart, as in `stats.arms`, are better where there are enough of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from quintain.stats.arms import EVERYTHING, ArmSums, family
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.human import SLICES


def sum_votes(
    name: str, votes: IntArray, gold: IntArray, groups: IntArray, predictions: Mapping[str, IntArray]
) -> ArmSums:
    """Add up people and models by group: *votes* are items × classes, *gold* a class of each item.

    Items without votes count only towards everything. A prediction of -1 is an answer that is wrong.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    number = int(codes.max()) + 1
    size = votes.sum(axis=1)
    share = votes[np.arange(len(gold)), gold] / np.maximum(size, 1)
    right = {model: (said == gold).astype(np.float64) for model, said in predictions.items()}
    families: dict[str, list[str]] = {}
    for model in predictions:
        families.setdefault(family(model), []).append(model)

    def add(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(codes, values, minlength=number), dtype=np.float64)

    items, human, models, asked, runs, spread = {}, {}, {}, {}, {}, {}
    for slice_, least in ((EVERYTHING, -1.0), *SLICES):
        inside = np.ones(len(gold)) if slice_ == EVERYTHING else ((size > 0) & (share >= least - 1e-9)).astype(float)
        items[slice_], human[slice_] = add(inside), add(inside * share)
        models[slice_] = {one: add(inside * sum(right[run] for run in own)) for one, own in families.items()}
        asked[slice_] = {one: add(inside * len(own)) for one, own in families.items()}
        runs[slice_] = {
            one: tuple(float((inside * right[run]).sum() / max(inside.sum(), 1e-9)) for run in own)
            for one, own in families.items()
        }
        spread[slice_] = (0.0, 0.0)
    return ArmSums(name, items, human, models, asked, runs, spread)
