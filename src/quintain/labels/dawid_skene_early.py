"""Dawid and Skene's EM, stopped where it foretells best the judgements that are kept out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quintain.labels.contract import AGGREGATORS
from quintain.labels.dawid_skene import DawidSkene
from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.judgements import Judgements, mix, name_hashes

FOLDS = 5


@AGGREGATORS.register("dawid-skene-early")
@dataclass(frozen=True)
class EarlyDawidSkene(DawidSkene):
    """Dawid–Skene with as many iterations as foretell best the judgements that are kept out, a fifth at a time.

    Where workers did little, the likeliest tables fit their chance, and an early stop is nearer to the votes. All
    judgements count once the number of iterations is known. It costs six times what `dawid-skene` does.
    """

    name = "dawid-skene-early"
    title = "Dawid–Skene, stopped where it foretells best the judgements that are kept out: for little work per worker"

    def _most(self, judgements: Judgements, seed: int) -> int:
        """Return after how many iterations judgements are foretold best that are left out, a fifth at a time."""
        fold = _folds(judgements, seed)
        curves = [self._foretold(judgements, fold == number) for number in range(FOLDS)]
        curves = [curve for curve in curves if len(curve)]
        longest = max(map(len, curves), default=0)
        if not longest:
            return self.iterations
        total = sum(np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves)
        return int(np.argmax(total)) + 1

    def _foretold(self, judgements: Judgements, out: npt.NDArray[np.bool_]) -> FloatArray:
        """Return, for each iteration without the judgements *out*, their log probability."""
        if not out.any():
            return np.zeros(0)
        item, cell = judgements.item[out], judgements.worker[out] * len(judgements.classes) + judgements.label[out]
        steps = self._steps(judgements.take(~out), self.iterations)
        return np.array([np.log((step.posterior[item] * step.tables[cell]).sum(axis=1)).sum() for step in steps])


def _folds(judgements: Judgements, seed: int) -> IntArray:
    """Draw a fold for each judgement, by the hash of item, worker's place and *seed*; -1 where an item has too few.

    The votes of an item are in different folds as far as they go, and two or more of them are never kept out.
    """
    keys = mix(name_hashes(judgements.items)[judgements.item], judgements.worker.astype(np.uint64), seed)
    order = np.lexsort((keys, judgements.item))
    sizes = judgements.sizes()
    starts = np.cumsum(sizes) - sizes
    first = (mix(name_hashes(judgements.items), seed + 1) % np.uint64(FOLDS)).astype(np.int64)
    fold = np.empty(len(judgements), dtype=np.int64)
    fold[order] = (np.arange(len(judgements)) - np.repeat(starts, sizes) + np.repeat(first, sizes)) % FOLDS
    left = (
        sizes[judgements.item]
        - np.bincount(judgements.item * FOLDS + fold, minlength=len(sizes) * FOLDS)[judgements.item * FOLDS + fold]
    )
    return np.where(left >= 2, fold, -1)
