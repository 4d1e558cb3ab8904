"""Estimates with intervals from tallies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from quintain.core.records.figures import Estimate
from quintain.stats.bootstrap import Tally, interval, resample_weights
from quintain.stats.posterior import mean_estimate


def test_totals_add_up_rows_dense_and_sparse() -> None:
    """What examples add is the same from a dense and from a sparse table."""
    table = np.array([[1.0, 0.0], [0.5, 2.0]])
    codes = np.array([0, 1, 1])
    assert Tally(codes, table).totals().tolist() == [2.0, 4.0]
    assert Tally(codes, sparse.csr_array(table)).totals().tolist() == [2.0, 4.0]


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=30))
def test_counts_and_rows_give_the_same_distribution(scores: list[float]) -> None:
    """Drawing counts of equal scores or examples one by one: each resample has as many examples as there are."""
    tally = Tally.of_scores(np.array(scores))
    drawn = tally.resampled(50, np.random.default_rng(0))
    assert drawn[:, 1] == pytest.approx(len(scores))
    assert (drawn[:, 0] <= max(scores) * len(scores) + 1e-9).all()
    assert tally.totals()[0] == pytest.approx(sum(scores))


def test_weights_come_in_blocks_that_fit() -> None:
    """Every resample draws as many examples as there are, however many blocks it takes."""
    blocks = list(resample_weights(700_000, 4, np.random.default_rng(0)))
    assert [block.shape for block in blocks] == [(2, 700_000), (2, 700_000)]
    assert all((block.sum(axis=1) == 700_000).all() for block in blocks)


def test_the_interval_of_a_mean() -> None:
    """It is that of the normal approximation, within what the resamples allow."""
    scores = np.random.default_rng(4).normal(5, 2, 4000)
    estimate = mean_estimate(scores, resamples=4000)
    half = 1.96 * scores.std() / np.sqrt(len(scores))
    assert estimate.value == pytest.approx(scores.mean())
    assert estimate.low == pytest.approx(scores.mean() - half, abs=half / 8)
    assert estimate.high == pytest.approx(scores.mean() + half, abs=half / 8)


def test_intervals_leave_undefined_resamples_out() -> None:
    """A few undefined resamples do no harm; too many, and there is no interval."""
    assert interval(np.array([1.0, 2.0, np.nan]))[0] == pytest.approx(1.025)
    assert interval(np.array([1.0, np.nan, np.nan])) == (None, None)


def test_nothing_has_no_mean() -> None:
    """Without examples the estimate says why there is none."""
    assert mean_estimate([]) == Estimate(None, reason="there are no examples")
