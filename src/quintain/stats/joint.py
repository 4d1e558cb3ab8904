"""Resample the examples once for all models, for metrics that are no mean: macro F1, BLEU, correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from quintain.core.errors import BadInput
from quintain.stats.bootstrap import FloatArray, IntArray, Tally, resample_weights


def bootstrap_totals(
    tallies: Sequence[Tally], *, groups: IntArray | None = None, seed: int = 0, resamples: int = 1000
) -> list[FloatArray]:
    """Resample examples, the same for all models, and give each model's totals: resamples × what it adds up.

    The weights are those that `ranking.bootstrap_scores` draws from the same seed, so that a mean made from these
    totals is the same as there. Whole *groups* are drawn where given.

    >>> one, two = bootstrap_totals([Tally.of_scores(np.array([1.0, 0.0])), Tally.of_scores(np.array([0.0, 1.0]))])
    >>> bool(np.allclose(one[:, 0] + two[:, 0], one[:, 1]))
    True
    """
    if not tallies or len(tallies[0]) == 0:
        raise BadInput("There are no examples to resample.")
    units, number = units_of(len(tallies[0]), groups)
    added = [by_unit(tally, units, number) for tally in tallies]
    drawn: list[list[FloatArray]] = [[] for _ in tallies]
    for weights in resample_weights(number, resamples, np.random.default_rng(seed)):
        for position, rows in enumerate(added):
            drawn[position].append(np.asarray(weights @ rows, dtype=np.float64))
    return [np.concatenate(blocks) for blocks in drawn]


def units_of(examples: int, groups: IntArray | None) -> tuple[IntArray, int]:
    """Return of each example the number of its unit (itself, or its group), and how many units there are."""
    if groups is None:
        return np.arange(examples), examples
    names, codes = np.unique(groups, return_inverse=True)
    return codes.astype(np.int64), len(names)


def by_unit(tally: Tally, units: IntArray, number: int) -> Any:
    """Return what each unit (an example, or a group of them) adds."""
    shape = (number, tally.table.shape[0])
    cells = scipy.sparse.coo_array((np.ones(len(units)), (units, tally.codes)), shape=shape).tocsr()
    rows = cells @ tally.table
    return rows if scipy.sparse.issparse(rows) else np.ascontiguousarray(rows)
