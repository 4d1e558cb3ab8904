"""Resampling totals for all models at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintain.core.errors import BadInput
from quintain.stats.bootstrap import Tally
from quintain.stats.joint import bootstrap_totals
from quintain.stats.ranking import bootstrap_scores


@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 10_000), st.booleans())
def test_means_made_from_totals_are_those_of_scores(n: int, models: int, seed: int, grouped: bool) -> None:
    """The weights are the ones that mean metrics are resampled with, in groups or not: both ways give one answer."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 2, size=(n, models)).astype(float)
    groups = rng.integers(0, 5, size=n) if grouped else None
    totals = bootstrap_totals([Tally.of_scores(column) for column in scores.T], groups=groups, seed=seed, resamples=20)
    means = np.column_stack([one[:, 0] / one[:, 1] for one in totals])
    assert np.allclose(means, bootstrap_scores(scores, groups=groups, seed=seed, resamples=20))


def test_two_equal_models_are_equal_in_every_resample() -> None:
    """Pairing is exact: what is the same on the data is the same in each resample."""
    codes = np.array([0, 1, 1, 2, 0, 2])
    tally = Tally(codes, np.eye(3))
    one, two = bootstrap_totals([tally, Tally(codes.copy(), np.eye(3))], seed=3)
    assert (one == two).all()
    assert (one.sum(axis=1) == 6).all()


def test_nothing_cannot_be_resampled() -> None:
    """Without examples there is an error and no figure."""
    with pytest.raises(BadInput, match="no examples"):
        bootstrap_totals([])
