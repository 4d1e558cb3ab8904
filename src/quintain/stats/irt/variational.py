"""Variational inference as in appendix F of Nangia et al. (2021): everything has a normal posterior of its own.

    found = fit_variational(responses, "3pl")

Ability, difficulty and the logit of guessing have standard normal priors, the logarithm of discrimination one with mean
0, whose spread is searched between 0.25 and 0.5 in steps of 0.05: that with the highest bound on the evidence (ELBO) is
taken. Where items come from several tests, an item's log-likelihood is weighted by the inverse size of its test, so
that a long test does not decide alone; weights are 1 on average. The bound is climbed with draws of the posterior
(reparameterised, in pairs that mirror each other) and Adam's steps, which shrink; every prior is climbed from the same
place and judged by the same draws.

It is the paper's method, and not the default: posteriors that know nothing of each other are too narrow, and abilities
come out nearer to each other than they are. What the bound falls short of the evidence by grows with the spread of the
prior, by about a tenth to a third of a unit an item between 0.25 and 0.5, and hardly with the number of respondents. So
with few of them the narrowest prior has the highest bound whatever items were drawn from (more steps and draws change
nothing of that), and with about a thousand, and 150 items that tell their abilities, it follows the items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import FloatArray
from quintain.stats.irt.fit import IrtFit, IrtModel, Normal, guess_told, mean_squares
from quintain.stats.irt.responses import Responses

GUESS: Normal = (0.0, 1.0)  # of its logit, as in appendix F
SPREADS = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
STEPS = 500
MORE_STEPS = 200  # from there, for each prior
RATE, LATER_RATE, LAST_RATE = 0.1, 0.03, 0.002  # of a first climb, of one from there, and at the end of both
DRAWS = 40  # in pairs, for the bound that is reported
SETTLED = 1e-3  # of the bound: what it may still rise in the last fifth of the steps
SingleArray = npt.NDArray[np.float32]
Values = dict[str, SingleArray]


def weights_of_tests(tests: Sequence[str]) -> FloatArray:
    """Weigh each item by the inverse size of its test, 1 on average.

    >>> weights_of_tests(["a", "a", "a", "b"]).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    _, code, sizes = np.unique(np.asarray(tests), return_inverse=True, return_counts=True)
    weight = 1 / sizes[code]
    return np.asarray(weight * len(code) / weight.sum(), dtype=np.float64)


def fit_variational(
    responses: Responses,
    model: IrtModel = "3pl",
    *,
    spreads: Sequence[float] = SPREADS,
    seed: int = 0,
    steps: int = STEPS,
    guess: Normal = GUESS,
) -> IrtFit:
    """Estimate items and abilities at the prior of discrimination with the highest bound."""
    problem = _Problem(responses, model, guess)
    candidates = list(spreads) if model != "1pl" else [max(spreads)]
    if not candidates:
        raise ValueError("at least one spread is to be tried")
    # All priors are climbed from one place, that of the middle one, in the same steps and draws: none has an advantage.
    middle = sorted(candidates)[len(candidates) // 2]
    begin = problem.climb(*problem.start(), middle, _Climb(steps, RATE), np.random.default_rng([seed, 0]))
    tried: dict[float, float] = {}
    climbed: dict[float, tuple[Values, Values, bool]] = {}
    for spread in candidates:
        rng = np.random.default_rng([seed, 1])
        climbed[spread] = problem.climb(*begin[:2], spread, _Climb(MORE_STEPS, LATER_RATE), rng)
        tried[spread] = problem.bound(*climbed[spread][:2], spread, np.random.default_rng(seed))
    best = max(tried, key=lambda spread: tried[spread])
    return problem.result(*climbed[best], tried, steps + MORE_STEPS * len(tried))


@dataclass(frozen=True, slots=True)
class _Climb:
    """How many steps to go, and how large the first is."""

    steps: int
    rate: float


@dataclass(frozen=True, slots=True)
class _Slopes:
    """The weighted log-likelihood at one draw, and its slopes."""

    loglik: float
    by: Values


class _Problem:
    """The bound and its slopes."""

    def __init__(self, responses: Responses, model: IrtModel, guess: Normal) -> None:
        self.responses, self.model, self.guess = responses, model, guess
        self.answered: SingleArray = (~np.isnan(responses.correct)).astype(np.float32)
        self.right: SingleArray = np.nan_to_num(responses.correct).astype(np.float32)
        weight = weights_of_tests(responses.tests) if responses.tests else np.ones(len(responses.items))
        self.answered *= weight.astype(np.float32) * responses.weight.astype(np.float32)[:, None]
        guessing = ("guess",) if model == "3pl" else ()
        self.names = ("ability", "discrimination", "difficulty", *guessing)

    def start(self) -> tuple[Values, Values]:
        """Begin with abilities and difficulties that follow from shares of right responses."""
        items = self.right.shape[1]
        mean = {"ability": self._logit(1), "discrimination": np.zeros(1 if self.model == "1pl" else items, np.float32)}
        mean |= {"difficulty": -self._logit(0), "guess": np.full(items, self.guess[0] - 0.5, np.float32)}
        mean = {name: mean[name] for name in self.names}
        return mean, {name: np.full(len(one), np.log(0.2), np.float32) for name, one in mean.items()}

    def _logit(self, axis: int) -> SingleArray:
        right, answered = (self.right * self.answered).sum(axis=axis), self.answered.sum(axis=axis)
        logit = np.log((right + 0.5) / (answered - right + 0.5))
        return np.asarray(np.clip(logit - logit.mean(), -2.5, 2.5), dtype=np.float32)

    def climb(
        self, mean: Values, width: Values, spread: float, how: _Climb, rng: np.random.Generator
    ) -> tuple[Values, Values, bool]:
        """Go up the bound; also say whether it had settled."""
        steps = how.steps
        point = {name: one.copy() for name, one in mean.items()}
        point |= {f"{name} width": one.copy() for name, one in width.items()}
        first = {name: np.zeros_like(one) for name, one in point.items()}
        second = {name: np.zeros_like(one) for name, one in point.items()}
        bounds = np.zeros(steps)
        for step in range(steps):
            rate = how.rate * (LAST_RATE / how.rate) ** (step / max(steps - 1, 1))
            bounds[step], slopes = self._rise(point, spread, rng)
            for name, slope in slopes.items():
                first[name] += 0.1 * (slope - first[name])
                second[name] += 0.01 * (slope * slope - second[name])
                ahead = first[name] / (1 - 0.9 ** (step + 1))
                point[name] += rate * ahead / (np.sqrt(second[name] / (1 - 0.99 ** (step + 1))) + 1e-8)
        last, before = bounds[-steps // 10 :].mean(), bounds[-steps // 5 : -steps // 10].mean()
        settled = bool(last - before <= SETTLED * abs(last))
        return {name: point[name] for name in mean}, {name: point[f"{name} width"] for name in mean}, settled

    def _rise(self, point: Values, spread: float, rng: np.random.Generator) -> tuple[float, Values]:
        """Return the bound at a pair of draws, and its slopes."""
        noise = {name: rng.standard_normal(len(point[name]), dtype=np.float32) for name in self.names}
        slopes = {name: np.zeros_like(one) for name, one in point.items()}
        total = 0.0
        for sign in (1, -1):
            away = {name: sign * noise[name] * np.exp(point[f"{name} width"]) for name in self.names}
            draw = self._at({name: point[name] + away[name] for name in self.names})
            total += draw.loglik / 2
            for name in self.names:
                slopes[name] += draw.by[name] / 2
                slopes[f"{name} width"] += draw.by[name] * away[name] / 2
        for name in self.names:
            centre, wide = self._prior(name, spread)
            variance = np.exp(2 * point[f"{name} width"])
            slopes[name] -= (point[name] - centre) / wide**2
            slopes[f"{name} width"] += 1 - variance / wide**2
        return total - self._divergence(point, spread), slopes

    def _divergence(self, point: Values, spread: float) -> float:
        """Return how far the posterior is from the prior (Kullback and Leibler)."""
        total = 0.0
        for name in self.names:
            (centre, wide), log_width = self._prior(name, spread), point[f"{name} width"]
            squared = np.exp(2 * log_width) + (point[name] - centre) ** 2
            apart = squared / wide**2 - 1 - 2 * log_width + 2 * np.log(wide)
            total += float(apart.sum(dtype=np.float64)) / 2
        return total

    def _prior(self, name: str, spread: float) -> Normal:
        return {"discrimination": (0.0, spread), "guess": self.guess}.get(name, (0.0, 1.0))

    def _at(self, drawn: Values) -> _Slopes:
        """Return the log-likelihood at one draw and its slopes by every parameter."""
        slope = np.exp(drawn["discrimination"])
        away = drawn["ability"][:, None] - drawn["difficulty"]
        core = scipy.special.expit(slope * away)
        guess = scipy.special.expit(drawn["guess"]) if "guess" in drawn else np.zeros(1, np.float32)
        chance = np.clip(guess + (1 - guess) * core, 1e-6, 1 - 1e-6)
        loglik = float((np.log(np.where(self.right > 0, chance, 1 - chance)) * self.answered).sum(dtype=np.float64))
        error = (self.right - chance) / chance * self.answered
        by_logit = error * core
        each = by_logit * slope
        by_slope = (by_logit * away).sum(axis=0) * slope
        by = {
            "ability": each.sum(axis=1),
            "difficulty": -each.sum(axis=0),
            "discrimination": by_slope.sum(keepdims=True) if self.model == "1pl" else by_slope,
        }
        if "guess" in drawn:
            by["guess"] = error.sum(axis=0) * guess
        return _Slopes(loglik, by)

    def bound(self, mean: Values, width: Values, spread: float, rng: np.random.Generator) -> float:
        """Return the bound over many draws, which are the same for every prior."""
        point = {**mean, **{f"{name} width": one for name, one in width.items()}}
        total = 0.0
        for _ in range(DRAWS // 2):
            noise = {name: rng.standard_normal(len(mean[name]), dtype=np.float32) for name in self.names}
            for sign in (1, -1):
                drawn = {name: mean[name] + sign * noise[name] * np.exp(width[name]) for name in self.names}
                total += self._at(drawn).loglik / DRAWS
        return total - self._divergence(point, spread)

    def result(self, mean: Values, width: Values, settled: bool, tried: dict[float, float], turns: int) -> IrtFit:
        """Gather the means of the posterior and its deviations."""
        items = len(self.responses.items)
        means = {name: np.broadcast_to(one.astype(np.float64), _shape(name, one, items)) for name, one in mean.items()}
        error = {
            name: np.broadcast_to(np.exp(one.astype(np.float64)), _shape(name, one, items))
            for name, one in width.items()
        }
        slope = np.exp(means["discrimination"] + error["discrimination"] ** 2 / 2)
        slope_error = slope * np.sqrt(np.expm1(error["discrimination"] ** 2))
        difficulty, none = means["difficulty"].copy(), np.zeros(items)
        guess = scipy.special.expit(means["guess"]) if "guess" in means else none
        guess_error = guess * (1 - guess) * error["guess"] if "guess" in means else none
        # The intercept is the product of two that are independent: its mean and variance follow from theirs.
        squares = (slope**2 + slope_error**2) * (difficulty**2 + error["difficulty"] ** 2)
        infit, outfit = mean_squares(self.responses, means["ability"], slope, difficulty, guess)
        best = max(tried, key=lambda spread: tried[spread])
        return IrtFit(
            model=self.model,
            discrimination=slope,
            intercept=-slope * difficulty,
            difficulty=difficulty,
            guess=guess,
            discrimination_error=slope_error,
            intercept_error=np.sqrt(np.maximum(squares - (slope * difficulty) ** 2, 0)),
            difficulty_error=error["difficulty"].copy(),
            guess_error=guess_error,
            ability=means["ability"].copy(),
            ability_error=error["ability"].copy(),
            infit=infit,
            outfit=outfit,
            loglik=self._at(mean).loglik,
            parameters=sum(len(one) for one in mean.values()),
            respondents=self.responses.total,
            turns=turns,
            converged=settled,
            priors=True,
            integrated="both",
            prior={
                "discrimination_mean": 0.0,
                "discrimination_spread": best,
                **(guess_told(self.guess) if self.model == "3pl" else {}),
            },
            elbo=tried[best],
            search=tried,
        )


def _shape(name: str, values: SingleArray, items: int) -> tuple[int]:
    return (len(values),) if name == "ability" else (items,)
