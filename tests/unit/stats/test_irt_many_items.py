"""Item response theory with few respondents and many items, by variational inference, and what follows from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from quintain.stats.irt.choosing import rankings_kept
from quintain.stats.irt.fit import IrtMethod, IrtModel
from quintain.stats.irt.fitting import fit_responses, integrates_items
from quintain.stats.irt.information import item_information, most_informative, total_information
from quintain.stats.irt.itemwise import fit_itemwise
from quintain.stats.irt.marginal import fit_marginal
from quintain.stats.irt.responses import Responses
from quintain.stats.irt.suspects import suspicious
from quintain.stats.irt.variational import fit_variational


def drawn(
    rows: int, items: int, guess: float | None = None, seed: int = 0, spread: float = 0.4
) -> tuple[Responses, dict[str, np.ndarray]]:
    """Draw responses, and give what they were drawn from; *guess* is the mean of its logit."""
    rng = np.random.default_rng(seed)
    ability, difficulty = rng.normal(size=rows), rng.normal(size=items)
    slope = np.exp(rng.normal(0, spread, size=items))
    chance = expit(rng.normal(guess, 0.6, items)) if guess is not None else np.zeros(items)
    right = rng.random((rows, items)) < chance + (1 - chance) * expit(slope * (ability[:, None] - difficulty))
    names = [f"r{at}" for at in range(rows)], [f"i{at}" for at in range(items)]
    truth = {"ability": ability, "difficulty": difficulty, "discrimination": slope, "guess": chance}
    return Responses(*names, right.astype(float), np.ones(rows)), truth


def alike(one: np.ndarray, other: np.ndarray) -> float:
    """Correlate two."""
    return float(np.corrcoef(one, other)[0, 1])


@pytest.mark.parametrize(("model", "ability", "difficulty"), [("2pl", 0.995, 0.93), ("3pl", 0.985, 0.85)])
def test_ninety_models_and_many_items(model: IrtModel, ability: float, difficulty: float) -> None:
    """Abilities are found nearly as they are, difficulties well, and the errors that are given are those made."""
    data, truth = drawn(90, 800, -1.4 if model == "3pl" else None, seed=1)
    found = fit_responses(data, model)
    assert (found.integrated, found.converged) == ("items", True)
    assert alike(found.ability, truth["ability"]) > ability
    assert alike(found.difficulty, truth["difficulty"]) > difficulty
    assert alike(found.discrimination, truth["discrimination"]) > 0.5
    away = (found.difficulty - truth["difficulty"]) / found.difficulty_error
    assert 0.8 < np.sqrt(np.mean(away**2)) < 1.4
    assert found.prior["discrimination_spread"] == pytest.approx(0.4, abs=0.1)
    off = (found.ability - (truth["ability"] - truth["ability"].mean()) / truth["ability"].std()) / found.ability_error
    assert 0.6 < np.sqrt(np.mean(off**2)) < 2
    assert 0.9 < found.infit.mean() < 1.1


def test_one_discrimination_for_all() -> None:
    """With one parameter, the common discrimination is how widely abilities are spread."""
    rng = np.random.default_rng(2)
    ability, difficulty = rng.normal(size=80), rng.normal(size=300)
    right = rng.random((80, 300)) < expit(1.5 * (ability[:, None] - difficulty))
    data = Responses(list(map(str, range(80))), list(map(str, range(300))), right.astype(float), np.ones(80))
    found = fit_itemwise(data, "1pl")
    assert found.discrimination == pytest.approx(np.full(300, 1.5 * ability.std()), rel=0.15)
    assert found.ability.std() == pytest.approx(1)
    assert alike(found.difficulty, difficulty) > 0.95


def test_both_sides_of_the_integral_agree() -> None:
    """Where there are enough of both, integrating abilities out and integrating items out say the same."""
    data, _ = drawn(200, 50, seed=3)
    one, other = fit_marginal(data, "2pl"), fit_itemwise(data, "2pl")
    assert alike(one.difficulty, other.difficulty) > 0.95
    assert alike(one.ability, other.ability) > 0.98
    assert not integrates_items(200, 50)
    assert integrates_items(90, 6000)


def test_missing_responses_and_weights_with_many_items() -> None:
    """A row that counts twice says what two rows say; holes cost information, and one without a response stays at 0."""
    data, truth = drawn(40, 200, seed=4)
    twice = Responses(data.respondents, data.items, data.correct, np.full(40, 2.0))
    doubled = Responses(
        [*data.respondents, *data.respondents], data.items, np.concatenate([data.correct] * 2), np.ones(80)
    )
    one, other = fit_itemwise(twice, "2pl"), fit_itemwise(doubled, "2pl")
    assert alike(one.difficulty, other.difficulty) > 0.999
    data.correct[np.random.default_rng(0).random(data.correct.shape) < 0.3] = np.nan
    data.correct[0] = np.nan
    found = fit_itemwise(data, "2pl")
    assert found.ability_error[0] > 3 * np.median(found.ability_error)
    assert alike(found.ability[1:], truth["ability"][1:]) > 0.95


def test_nobody_who_only_guesses_runs_away(shared_data: Path) -> None:
    """On ninety real models, some at chance, three parameters settle, and guessing is about one in four."""
    table = pl.read_csv(shared_data / "irt-nlu-test-sets" / "data" / "quail_irt_all_coded.csv")
    correct = table[:, 1:].to_numpy().astype(float)
    data = Responses(table[:, 0].cast(pl.String).to_list(), table.columns[1:], correct, np.ones(90))
    found = fit_responses(data, "3pl")
    assert found.converged
    assert np.abs(found.ability).max() < 5
    assert found.ability_error.max() <= 1
    assert 0.1 < found.guess.mean() < 0.3
    doubtful = suspicious(data, found)
    assert (doubtful.strong_wrong > 0.5).all()


def as_in_appendix_f(
    rows: int, items: int, spread: float, model: IrtModel = "3pl"
) -> tuple[Responses, dict[str, np.ndarray]]:
    """Draw responses from the priors of appendix F; *spread* is that of log-discrimination, and exactly so."""
    rng = np.random.default_rng(5)
    ability, difficulty = rng.normal(size=rows), rng.normal(size=items)
    steep = rng.normal(size=items)
    slope = np.exp(spread * (steep - steep.mean()) / steep.std())
    guess = expit(rng.normal(size=items)) if model == "3pl" else np.zeros(items)
    right = rng.random((rows, items)) < guess + (1 - guess) * expit(slope * (ability[:, None] - difficulty))
    truth = {"ability": ability, "difficulty": difficulty, "discrimination": slope, "guess": guess}
    names = list(map(str, range(rows))), list(map(str, range(items)))
    return Responses(*names, right.astype(float), np.ones(rows)), truth


def test_variational_difficulties_go_with_those_of_marginal_likelihood() -> None:
    """On data from appendix F's priors, with 150 respondents and 200 items, they correlate at .75 or more."""
    data, truth = as_in_appendix_f(150, 200, 0.5)
    found = fit_variational(data, "3pl", spreads=(0.5,), steps=100)
    assert found.method == "vi"
    marginal = fit_responses(data, "3pl", guess=(0.0, 1.0))
    assert marginal.prior["guess_spread"] == 1.0
    assert alike(found.difficulty, marginal.difficulty) > 0.75
    assert alike(found.ability, truth["ability"]) > 0.9


LARGE = pytest.param("3pl", 1000, 150, marks=pytest.mark.slow)


@pytest.mark.parametrize("spread", [0.25, 0.5])
@pytest.mark.parametrize(("model", "rows", "items"), [("2pl", 600, 60), LARGE])
def test_the_prior_with_the_highest_bound_is_chosen(model: IrtModel, rows: int, items: int, spread: float) -> None:
    """It is the one that items were drawn from, where there are enough responses for the bound to follow them."""
    data, _ = as_in_appendix_f(rows, items, spread, model)
    found = fit_variational(data, model, spreads=(0.25, 0.5), steps=60)
    assert found.elbo == max(found.search.values())
    assert found.prior["discrimination_spread"] == spread
    assert found.search[spread] == found.elbo


def test_guessing_is_found_with_the_prior_that_it_has() -> None:
    """Where guessing is drawn around one half, the prior of one in four finds less of it than that of one half."""
    data, truth = as_in_appendix_f(300, 10, 0.5)
    usual, told = fit_marginal(data, "3pl"), fit_marginal(data, "3pl", guess=(0.0, 1.0))
    assert usual.prior == {"guess_mean": -1.386, "guess_spread": 1.0}
    assert told.prior == {"guess_mean": 0.0, "guess_spread": 1.0}
    assert alike(told.guess, truth["guess"]) > max(0.5, alike(usual.guess, truth["guess"]))
    assert alike(told.difficulty, truth["difficulty"]) > 0.6
    assert (told.guess_error > 0).all()


def test_a_long_test_does_not_decide_alone() -> None:
    """Items are weighted by the inverse size of their test: abilities follow the short test more than without."""
    rng = np.random.default_rng(6)
    one, other = rng.normal(size=60), rng.normal(size=60)
    right = np.concatenate(
        [rng.random((60, 80)) < expit(one[:, None]), rng.random((60, 20)) < expit(other[:, None])], axis=1
    ).astype(float)
    names = list(map(str, range(60))), list(map(str, range(100)))
    plain = Responses(*names, right, np.ones(60))
    weighted = Responses(*names, right, np.ones(60), ["long"] * 80 + ["short"] * 20)
    found = [fit_variational(data, "2pl", spreads=(0.4,), steps=150) for data in (plain, weighted)]
    assert alike(found[1].ability, other) > alike(found[0].ability, other)


def test_total_information_is_largest_where_an_item_is_hard() -> None:
    """An item tells most at its difficulty without guessing; the whole is the sum; a subset tells more than others."""
    data, _ = drawn(60, 150, seed=7)
    found = fit_responses(data, "2pl")
    points = np.linspace(-3, 3, 601)
    told = item_information(found, points)
    assert points[told[:, 3].argmax()] == pytest.approx(np.clip(found.difficulty[3], -3, 3), abs=0.02)
    assert total_information(found, points) == pytest.approx(told.sum(axis=1))
    chosen = most_informative(found, 15)
    assert len(set(chosen.tolist())) == 15
    at = item_information(found, found.ability)
    assert np.log1p(at[:, chosen].sum(axis=1)).mean() > np.log1p(at[:, :15].sum(axis=1)).mean()


def test_fewer_questions_where_they_are_chosen() -> None:
    """Adaptive questions give the ranking with fewer items than random ones."""
    data, _ = drawn(40, 150, seed=8)
    kept = rankings_kept(data, fit_responses(data, "2pl"), most=50)
    assert kept.asked[-1] == 50
    assert np.mean(kept.tau["adaptive"]) > np.mean(kept.tau["random"])
    assert kept.tau["fixed"][-1] > 0.7


def test_turned_labels_are_found() -> None:
    """Items whose label was turned around stand on the list, and next to no others."""
    data, _ = drawn(90, 400, seed=9, spread=0.2)
    turned = list(range(0, 400, 20))
    data.correct[:, turned] = 1 - data.correct[:, turned]
    found = suspicious(data, fit_responses(data, "2pl"))
    listed = set(found.items.tolist())
    assert len(listed & set(turned)) >= 15
    assert len(listed - set(turned)) <= 3


@pytest.mark.parametrize(("method", "items"), [("mml", 30), ("mml", 150), ("vi", 30)])
def test_respondents_who_are_all_alike_give_no_difficulty(method: IrtMethod, items: int) -> None:
    """Without spread in ability there is no scale: no difficulty, whichever way the items are estimated."""
    right = (np.random.default_rng(5).random((6, items)) < 0.6).astype(np.float64)
    data = Responses([f"r{one}" for one in range(6)], [f"i{one}" for one in range(items)], right, np.ones(6))
    found = fit_responses(data, "2pl", method)
    assert not found.told_apart
    assert np.isnan(found.difficulty).all()
    assert np.isnan(found.difficulty_error).all()
    assert np.isfinite(found.chances(found.ability)).all()
