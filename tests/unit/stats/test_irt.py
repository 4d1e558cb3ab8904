"""Item response theory: published estimates, what was simulated is found again, and what the data do not decide."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from quintain.stats.irt.fit import IrtModel
from quintain.stats.irt.marginal import _Problem, fit_marginal
from quintain.stats.irt.responses import Responses
from tests.published import LSAT7, lsat6


def responses(correct: np.ndarray, weight: np.ndarray | None = None) -> Responses:
    """Give a table of right and wrong as responses."""
    rows, items = correct.shape
    whole = np.ones(rows) if weight is None else weight
    return Responses([f"r{at}" for at in range(rows)], [f"i{at}" for at in range(items)], correct.astype(float), whole)


def simulated(rows: int, items: int, guess: float = 0.0, seed: int = 0) -> tuple[Responses, dict[str, np.ndarray]]:
    """Draw responses, and give what they were drawn from."""
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=rows), rng.normal(size=items)
    slope = np.exp(rng.normal(0, 0.3, size=items))
    chance = guess + (1 - guess) / (1 + np.exp(-slope * (ability[:, None] - difficulty)))
    drawn = (rng.random((rows, items)) < chance).astype(float)
    return responses(drawn), {"ability": ability, "difficulty": difficulty, "discrimination": slope}


def test_lsat6_as_published() -> None:
    """The log-likelihoods and parameters of the one- and two-parameter models agree to three places."""
    found = responses(lsat6().to_numpy())
    two = fit_marginal(found, "2pl")
    assert two.converged
    assert not two.priors
    assert two.loglik == pytest.approx(-2466.653, abs=0.001)
    assert two.discrimination == pytest.approx([0.826, 0.723, 0.891, 0.688, 0.657], abs=0.002)
    assert two.intercept == pytest.approx([2.773, 0.990, 0.249, 1.285, 2.053], abs=0.002)
    one = fit_marginal(found, "1pl")
    assert one.loglik == pytest.approx(-2466.938, abs=0.001)
    assert one.discrimination == pytest.approx([0.755] * 5, abs=0.002)
    assert one.difficulty == pytest.approx([-3.615, -1.322, -0.318, -1.730, -2.780], abs=0.003)
    assert one.aic < two.aic


def test_lsat7_as_published() -> None:
    """Rows that say how often they occur are counted so often."""
    table = pl.read_csv(LSAT7)
    found = fit_marginal(responses(table.drop("freq").to_numpy(), table["freq"].to_numpy()), "2pl")
    assert found.loglik == pytest.approx(-2658.805, abs=0.001)
    assert found.discrimination == pytest.approx([0.988, 1.081, 1.706, 0.765, 0.736], abs=0.002)
    assert found.intercept == pytest.approx([1.856, 0.808, 1.804, 0.486, 1.854], abs=0.002)


@pytest.mark.parametrize("model", ["1pl", "2pl", "3pl"])
def test_the_gradient_is_that_of_the_objective(model: IrtModel) -> None:
    """Small steps change the objective as the gradient says, with missing responses, too."""
    data, _ = simulated(30, 4, seed=2)
    data.correct[::5, 1] = np.nan
    problem = _Problem(data.patterns()[0], model)
    values = problem.start() + np.random.default_rng(1).normal(0, 0.2, size=len(problem.start()))
    problem.move_points(values)
    _, gradient = problem.objective(values)
    steps = np.eye(len(values)) * 1e-5
    numeric = [(problem.objective(values + one)[0] - problem.objective(values - one)[0]) / 2e-5 for one in steps]
    assert gradient == pytest.approx(numeric, abs=1e-4)


def test_what_was_simulated_is_found_again() -> None:
    """Abilities, difficulties and discriminations correlate with the true ones, and errors are as large as they say."""
    data, truth = simulated(500, 15)
    found = fit_marginal(data, "2pl")
    assert found.converged
    assert np.corrcoef(found.ability, truth["ability"])[0, 1] > 0.85
    assert np.corrcoef(found.difficulty, truth["difficulty"])[0, 1] > 0.97
    assert np.corrcoef(found.discrimination, truth["discrimination"])[0, 1] > 0.8
    off = (found.difficulty - truth["difficulty"]) / found.difficulty_error
    assert 0.5 < np.sqrt(np.mean(off**2)) < 1.6
    away = (found.ability - truth["ability"]) / found.ability_error
    assert 0.9 < np.sqrt(np.mean(away**2)) < 1.1
    assert np.abs(found.infit - 1).max() < 0.2


def test_guessing_is_found_where_items_are_hard() -> None:
    """With a quarter guessed, the three-parameter model says about so on average, and not the two-parameter one."""
    data, _ = simulated(300, 10, guess=0.25, seed=4)
    found = fit_marginal(data, "3pl")
    assert found.priors
    assert 0.15 < found.guess.mean() < 0.35
    assert (fit_marginal(data, "2pl").guess == 0).all()


def test_items_that_all_get_right_stay_finite() -> None:
    """An item without a wrong response, and one that the weaker get right, are estimated sensibly."""
    data, truth = simulated(300, 12, seed=5)
    data.correct[:, 0] = 1
    data.correct[:, 1] = truth["ability"] < 0
    found = fit_marginal(data, "2pl")
    assert found.priors
    assert np.isfinite(found.difficulty).all()
    assert found.difficulty[0] < found.difficulty[2:].min()
    assert found.discrimination[1] < 0


def test_missing_responses_cost_information_only() -> None:
    """Half of the responses left out: difficulties still correlate, errors are larger, nobody is dropped."""
    data, truth = simulated(500, 16, seed=6)
    whole = fit_marginal(data, "2pl")
    data.correct[np.random.default_rng(0).random(data.correct.shape) < 0.5] = np.nan
    data.correct[0] = np.nan
    half = fit_marginal(data, "2pl")
    assert np.corrcoef(half.difficulty, truth["difficulty"])[0, 1] > 0.9
    assert (half.ability_error.mean(), half.difficulty_error.mean()) > (
        whole.ability_error.mean(),
        whole.difficulty_error.mean(),
    )
    assert half.ability[0] == pytest.approx(0, abs=1e-6)
    assert half.ability_error[0] == pytest.approx(1, abs=1e-3)
