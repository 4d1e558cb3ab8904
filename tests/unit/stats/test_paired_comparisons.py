"""Strengths from votes: what they were drawn from comes back, with intervals that hold it as often as they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy

from quintain.stats.paired_comparisons import Comparisons, fit_strengths
from quintain.stats.rating_intervals import rank_intervals, ranks, spread_of

TIE = 0.6


def drawn(
    rng: np.random.Generator, models: int, votes: int, *, effect: float = 0.0, copies: int = 0
) -> tuple[np.ndarray, Comparisons]:
    """Draw votes from known strengths; with *copies*, judges cast each of their votes so many times."""
    strengths = rng.normal(0, 0.7, models)
    strengths -= strengths.mean()
    left = rng.integers(0, models, votes)
    right = (left + rng.integers(1, models, votes)) % models
    style = rng.uniform(-1, 1, votes)
    half = (strengths[left] - strengths[right] + effect * style) / 2
    odds = np.stack([np.exp(half), np.full(votes, TIE), np.exp(-half)])
    at = (rng.random(votes) > np.cumsum(odds / odds.sum(axis=0), axis=0)).sum(axis=0)
    outcome = np.array([1, 0, -1])[at]
    covariates = style[:, None] if effect else np.zeros((votes, 0))
    judges = None
    if copies:
        left, right, outcome = (np.repeat(column, copies) for column in (left, right, outcome))
        votes, covariates = votes * copies, np.repeat(covariates, copies, axis=0)
        judge = np.arange(votes) // (4 * copies)
        judges = scipy.sparse.csr_array((np.ones(votes), (judge, np.arange(votes))))
    return strengths, Comparisons(models, left, right, outcome, np.ones(votes), np.ones(votes), covariates, judges)


def covered(draws: int, models: int, votes: int, **options: float) -> tuple[float, float, float]:
    """Tell how often intervals of strengths, of ranks and of the effect hold what votes were drawn from."""
    rng = np.random.default_rng(4)
    hits: list[tuple[float, float, float]] = []
    for _ in range(draws):
        strengths, comparisons = drawn(rng, models, votes, **options)  # type: ignore[arg-type] # counts are whole
        fit = fit_strengths(comparisons)
        spread = spread_of(fit, len(comparisons.weight))
        wide = spread.factor(0.95) * spread.errors()
        low, high = rank_intervals(fit.values[:models], spread, rng)
        true = ranks(strengths)
        effect = options.get("effect", 0.0)
        near = np.abs(fit.values[models] - effect) <= wide[models] if effect else True
        inside = np.abs(fit.values[:models] - strengths) <= wide[:models]
        hits.append((inside.mean(), ((low <= true) & (true <= high)).mean(), float(near)))
    means = np.mean(hits, axis=0)
    return float(means[0]), float(means[1]), float(means[2])


def test_intervals_hold_what_votes_were_drawn_from() -> None:
    """Of six models' strengths from 300 votes, 95 % of the intervals hold the true one; of ranks, at least as many."""
    strengths, rank, _ = covered(60, 6, 300)
    assert 0.92 <= strengths <= 0.98
    assert rank >= 0.95


def test_votes_of_a_judge_count_together() -> None:
    """Each vote cast four times over makes nobody surer: with judges the interval holds, without it would not."""
    strengths, rank, _ = covered(40, 6, 300, copies=4)
    assert 0.92 <= strengths <= 0.99
    assert rank >= 0.95
    rng = np.random.default_rng(4)
    _, votes = drawn(rng, 6, 300, copies=4)
    fit = fit_strengths(votes)
    alone = fit_strengths(replace(votes, judges=None))
    assert spread_of(fit, 1200).errors()[0] > 1.6 * spread_of(alone, 1200).errors()[0]


@pytest.mark.slow
def test_many_draws_cover_at_the_nominal_rate() -> None:
    """Over 600 draws each: strengths, ranks and a style's effect."""
    for options in ({}, {"effect": 0.5}, {"copies": 4}):
        strengths, rank, effect = covered(600, 6, 300, **options)
        assert 0.935 <= strengths <= 0.975
        assert rank >= 0.95
        assert effect >= 0.93


def test_an_effect_of_style_is_recovered() -> None:
    """What looks add to a vote comes back, and strengths are freed of it."""
    rng = np.random.default_rng(1)
    strengths, votes = drawn(rng, 8, 40_000, effect=0.8)
    fit = fit_strengths(votes)
    assert fit.values[8] == pytest.approx(0.8, abs=0.06)
    assert np.abs(fit.values[:8] - strengths).max() < 0.08
    assert np.exp(fit.values[-1]) == pytest.approx(TIE, abs=0.03)


def test_what_the_models_tell_already_is_no_covariate() -> None:
    """A column that is a model's own, one that repeats another, and one that is nothing are not told apart."""
    rng = np.random.default_rng(2)
    _, votes = drawn(rng, 4, 200, effect=0.5)
    own = (votes.left == 0).astype(float) - (votes.right == 0)
    style = votes.covariates[:, 0]
    columns = np.column_stack([own, style, 2 * style - own, np.zeros(200), np.ones(200)])
    votes = replace(votes, covariates=columns)
    assert votes.identified().tolist() == [False, True, False, False, True]


def test_a_model_that_won_every_vote_stays_finite() -> None:
    """Half a vote each way holds it, above the others and with a wide interval."""
    left, right = np.array([0, 0, 0, 1, 2]), np.array([1, 1, 2, 2, 1])
    ones = np.ones(5)
    votes = Comparisons(3, left, right, np.array([1, 1, 1, 1, 1]), ones, ones, np.zeros((5, 0)))
    parts = votes.components(strong=True)
    assert not votes.components().any()
    assert parts.max() == 1
    fit = fit_strengths(votes.held(parts))
    errors = spread_of(fit, 5, held=True).errors()
    assert 0.5 < fit.values[0] - fit.values[1] < 5
    assert errors[0] > 0.5
