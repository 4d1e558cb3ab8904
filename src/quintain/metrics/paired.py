"""Any metric of two models on the same examples: the difference, resampled in pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from quintain.core.records.figures import Estimate
from quintain.metrics.aligned import Aligned
from quintain.metrics.contract import Metric
from quintain.stats.bootstrap import IntArray, Tally, interval
from quintain.stats.paired import PairedDifference
from quintain.stats.posterior import is_constant, is_few, posterior_totals


def paired_metric(
    metric: Metric, first: Aligned, second: Aligned, *, seed: int = 0, resamples: int = 1000
) -> PairedDifference:
    """Estimate how much higher *metric* is for the *first* answers than for the *second*, to the same examples.

    A resample draws examples (or whole groups), each with both answers to it.
    """
    first_tally, second_tally = metric.tally(first), metric.tally(second)
    joint, width = _joined(first_tally, second_tally)
    groups: IntArray | None = first.groups
    totals = joint.totals()
    value = float(metric.value(totals[:width]) - metric.value(totals[width:]))
    if np.isnan(value):
        return PairedDifference(Estimate(None, reason=metric.undefined(first)), 1.0)
    differences = np.zeros(0)
    if first_tally.prior is None or not is_few(len(first_tally), groups):
        drawn = joint.resampled(resamples, np.random.default_rng(seed), groups)
        differences = np.asarray(metric.value(drawn[:, :width]) - metric.value(drawn[:, width:]), dtype=np.float64)
    if first_tally.prior is not None and is_constant(differences):
        left, right = posterior_totals([first_tally, second_tally], groups=groups, seed=seed, resamples=resamples)
        differences = np.asarray(metric.value(left) - metric.value(right), dtype=np.float64)
    low, high = interval(differences)
    if low is not None and high is not None:
        low, high = min(low, value), max(high, value)
    return PairedDifference(Estimate(value, low, high), _p_value(differences))


def _joined(first: Tally, second: Tally) -> tuple[Tally, int]:
    """Make the tally in which each example adds what it adds to both."""
    size = second.table.shape[0]
    pairs, codes = np.unique(first.codes * size + second.codes, return_inverse=True)
    left, right = np.divmod(pairs, size)
    if scipy.sparse.issparse(first.table) or scipy.sparse.issparse(second.table):
        tables = [scipy.sparse.csr_array(first.table)[left], scipy.sparse.csr_array(second.table)[right]]
        return Tally(codes.astype(np.int64), scipy.sparse.hstack(tables).tocsr()), first.table.shape[1]
    return Tally(codes.astype(np.int64), np.hstack([first.table[left], second.table[right]])), first.table.shape[1]


def _p_value(differences: npt.NDArray[np.float64]) -> float:
    """Return twice the smaller share of resamples on either side of no difference; ties count half, never 0."""
    defined = differences[~np.isnan(differences)]
    below = (defined < 0).sum() + (defined == 0).sum() / 2
    beyond = (min(below, len(defined) - below) + 1) / (len(defined) + 1)
    return min(1.0, 2 * float(beyond))
