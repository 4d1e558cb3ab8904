"""Few respondents and many items: the items are integrated out, and each ability is a parameter of its own.

    found = fit_itemwise(responses, "3pl")

Ninety models and six thousand examples say little about a single example and much about a single model. So abilities
are estimated as they are, and an item's discrimination (its logarithm), difficulty and guessing (its logit) come from
normal distributions whose means and spreads are estimated, too (empirical Bayes, within bounds). The integral over an
item is a sum over a grid that covers that distribution and moves with it; how likely each item's responses are at each
point of the grid is one matrix product, since what respondents say of an item is first counted at nodes along the
ability scale (each respondent counts at the two nodes beside it). An item's estimates are the means of its
posterior, and its errors their deviations. Abilities have mean 0 and deviation 1. A prior of guessing that is given is
kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.irt.fit import IrtFit, IrtModel, Normal, mean_squares
from quintain.stats.irt.responses import Responses

SingleArray = npt.NDArray[np.float32]
NODES = 48  # along the ability scale
BEYOND = 0.7  # how far they reach beyond the least and the most able
SPAN = {"discrimination": 3.0, "difficulty": 3.5, "guess": 2.6}  # of the grid, in deviations of the prior
SIZES = {"discrimination": 9, "difficulty": 21, "guess": 5}  # of the grid, for so many respondents:
USUAL = 100
WIDEST = {"1pl": 6.0, "2pl": 4.0, "3pl": 2.0}  # times as many points along each side, with more respondents
FIRST = 1500  # items, at most, that the priors are found from; then all give abilities
CELLS = 16_000_000  # items × points of the grid at once: 64 MB
MOST_TURNS = 40
INNER = 10  # turns of the priors for each turn of the abilities
RELAXED = 1.6  # how far beyond its next value a prior goes
SETTLED = 0.2  # of an ability's error: what it may still move
# Items that ability says nothing about, or the contrary, would else stretch the priors beyond all use.
MEANS = {"discrimination": (-1.5, 1.5), "difficulty": (-4.0, 4.0), "guess": (-3.0, 0.5)}
SPREADS = {"discrimination": (0.05, 0.75), "difficulty": (0.05, 3.0), "guess": (0.2, 1.0)}
LEAST_CURVE = 1.0  # of an ability's height: that of its prior alone
NAMES = ("discrimination", "difficulty", "guess")
START = {"discrimination": (0.0, 0.4), "difficulty": (0.0, 1.0), "guess": (-1.4, 0.6)}


def fit_itemwise(
    responses: Responses, model: IrtModel = "2pl", *, seed: int = 0, guess: Normal | None = None
) -> IrtFit:
    """Estimate abilities, the distribution of items, and each item's place in it; *seed* draws the first items."""
    problem = _Problem(responses, model, guess)
    order = np.random.default_rng(seed).permutation(problem.items)
    state = problem.start()
    chosen, converged, turns = order[:FIRST], False, 0
    while turns < MOST_TURNS:
        turns += 1
        state, moved = problem.turn(state, chosen)
        if moved > SETTLED:
            continue
        if len(chosen) == problem.items:
            converged = True
            break
        chosen = order
    return problem.result(state, turns, converged)


@dataclass(frozen=True, slots=True)
class _State:
    """Abilities with their errors, and mean and spread of the prior of each parameter."""

    ability: FloatArray
    error: FloatArray
    prior: dict[str, tuple[float, float]]
    loglik: float = 0.0


@dataclass(frozen=True, slots=True)
class _Grid:
    """Points that items may be at, and the logarithms of the chances of right and wrong there, at every node."""

    at: dict[str, FloatArray]
    right: SingleArray
    wrong: SingleArray

    def density(self, prior: dict[str, tuple[float, float]]) -> SingleArray:
        """Return the weight of each point."""
        away = [-0.5 * np.square((self.at[name] - mean) / spread) for name, (mean, spread) in prior.items()]
        total = np.sum(away, axis=0)
        weight = np.exp(total - total.max())
        return np.asarray(weight / weight.sum(), dtype=np.float32)


class _Problem:
    """The responses, turned for matrix products, and the steps of the estimation."""

    def __init__(self, responses: Responses, model: IrtModel, guess: Normal | None) -> None:
        self.responses, self.model, self.guess = responses, model, guess
        self.people, self.items = responses.correct.shape
        answered = ~np.isnan(responses.correct)
        weight = responses.weight.astype(np.float32)[:, None]
        self.right: SingleArray = np.ascontiguousarray((np.nan_to_num(responses.correct).astype(np.float32) * weight).T)
        wrong = (answered & (responses.correct == 0)).astype(np.float32) * weight
        self.wrong: SingleArray = np.ascontiguousarray(wrong.T)
        self.moving = {"1pl": NAMES[1:2], "2pl": NAMES[:2], "3pl": NAMES}[model]
        self.estimated = self.moving if guess is None else self.moving[:2]
        more = float(np.clip(np.sqrt(responses.total / USUAL), 1.0, WIDEST[model]))
        sides = [
            np.linspace(-SPAN[name], SPAN[name], round(SIZES[name] * (more if name != "guess" else more**0.5)))
            if name in self.moving
            else np.zeros(1)
            for name in NAMES
        ]
        self.unit = dict(zip(NAMES, (side.ravel() for side in np.meshgrid(*sides, indexing="ij")), strict=True))

    def start(self) -> _State:
        """Begin with abilities that follow from the share of right responses."""
        right, wrong = self.right.sum(axis=0), self.wrong.sum(axis=0)
        logit = np.log((right + 0.5) / (wrong + 0.5)).astype(np.float64)
        ability = (logit - logit.mean()) / (logit.std() or 1.0)
        return _State(ability, np.full(self.people, 0.1), {**START, "guess": self.guess or START["guess"]})

    def turn(self, state: _State, chosen: IntArray) -> tuple[_State, float]:
        """Go one step; also say how far abilities moved, in their errors."""
        nodes = np.linspace(state.ability.min() - BEYOND, state.ability.max() + BEYOND, NODES)
        grid = self._grid(state.prior, nodes)
        share = self._share(state.ability, nodes)
        prior, height, loglik = dict(state.prior), np.zeros((self.people, NODES)), 0.0
        density = grid.density({name: prior[name] for name in self.moving})
        for part, likelihood, top in self._parts(grid, share, chosen):
            if len(chosen) <= FIRST:  # all of them at once: the priors can go on at the same points
                prior = self._new_prior(grid, likelihood, prior)
                density = grid.density({name: prior[name] for name in self.moving})
            posterior, evidence = _posterior(likelihood, density)
            loglik += evidence + float(top.sum(dtype=np.float64))
            height += self.right[part].T @ (posterior @ grid.right.T)
            height += self.wrong[part].T @ (posterior @ grid.wrong.T)
        height -= nodes**2 / 2  # abilities are standard normal: nobody who only guesses runs away
        ability, error = _peaks(nodes, height)
        return self._standardised(state, _State(ability, error, prior, loglik), fixed=len(chosen) > FIRST)

    def _standardised(self, before: _State, after: _State, *, fixed: bool) -> tuple[_State, float]:
        """Return abilities of mean 0 and, unless all items discriminate alike, deviation 1, with their priors."""
        mean = float(np.average(after.ability, weights=self.responses.weight))
        around = np.average(np.square(after.ability - mean), weights=self.responses.weight)
        scale = 1.0 if self.model == "1pl" else float(np.sqrt(around)) or 1.0
        ability, error, prior = (after.ability - mean) / scale, after.error / scale, after.prior
        moved = float(np.max(np.abs(ability - before.ability) / np.maximum(error, 1e-3)))
        if not fixed:
            (centre, spread), (slope, slopes) = prior["difficulty"], prior["discrimination"]
            moving = {
                "difficulty": ((centre - mean) / scale, spread / scale),
                "discrimination": (slope + float(np.log(scale)), slopes),
            }
            prior = {**prior, **moving}
        return _State(ability, error, prior, after.loglik), moved

    def _grid(self, prior: dict[str, tuple[float, float]], nodes: FloatArray) -> _Grid:
        at = {name: prior[name][0] + prior[name][1] * self.unit[name] for name in NAMES}
        logit = np.exp(at["discrimination"]) * (nodes[:, None] - at["difficulty"])
        right, wrong = scipy.special.log_expit(logit), scipy.special.log_expit(-logit)
        if self.model == "3pl":
            guess = scipy.special.expit(at["guess"])
            right = np.log(guess + (1 - guess) * np.exp(right))
            wrong = wrong + np.log1p(-guess)
        return _Grid(at, right.astype(np.float32), wrong.astype(np.float32))

    def _share(self, ability: FloatArray, nodes: FloatArray) -> SingleArray:
        """Deal each respondent out to the two nodes beside it."""
        step = nodes[1] - nodes[0]
        low = np.clip(((ability - nodes[0]) / step).astype(np.int64), 0, len(nodes) - 2)
        part = (ability - nodes[low]) / step
        share = np.zeros((len(ability), len(nodes)), dtype=np.float32)
        rows = np.arange(len(ability))
        share[rows, low], share[rows, low + 1] = 1 - part, part
        return share

    def _likelihood(self, grid: _Grid, share: SingleArray, part: IntArray) -> tuple[SingleArray, SingleArray]:
        """Return how likely each item's responses are at each point, against the likeliest, and that one's log."""
        likelihood: SingleArray = np.matmul(self.right[part] @ share, grid.right)
        likelihood += (self.wrong[part] @ share) @ grid.wrong
        top: SingleArray = np.max(likelihood, axis=1, keepdims=True)
        likelihood -= top
        np.exp(likelihood, out=likelihood)
        return likelihood, top

    def _parts(
        self, grid: _Grid, share: SingleArray, chosen: IntArray
    ) -> Iterator[tuple[IntArray, SingleArray, SingleArray]]:
        width = max(1, CELLS // grid.right.shape[1])
        for start in range(0, len(chosen), width):
            part = chosen[start : start + width]
            yield part, *self._likelihood(grid, share, part)

    def _new_prior(
        self, grid: _Grid, likelihood: SingleArray, prior: dict[str, tuple[float, float]]
    ) -> dict[str, tuple[float, float]]:
        """Move the priors several times at the same points."""
        for _ in range(INNER):
            density = grid.density({name: prior[name] for name in self.moving})
            posterior = density * (likelihood.T @ (1 / (likelihood @ density)))
            new = self._moved(grid, posterior / posterior.sum(), density, prior)
            change = max(abs(new[name][k] - prior[name][k]) for name in self.estimated for k in (0, 1))
            prior = new
            if change < 1e-3:
                break
        return prior

    def _moved(
        self, grid: _Grid, posterior: npt.NDArray[Any], density: SingleArray, prior: dict[str, tuple[float, float]]
    ) -> dict[str, tuple[float, float]]:
        """Move means and spreads towards where the prior's own moments are those of the items."""
        new = dict(prior)
        for name in self.estimated:
            mean, spread = prior[name]
            theirs, ours = _moments(posterior, grid.at[name]), _moments(density, grid.at[name])
            wider = (theirs[1] / ours[1]) ** (RELAXED / 2)
            new_mean = np.clip(mean + RELAXED * (theirs[0] - ours[0]), *MEANS[name])
            new[name] = float(new_mean), float(np.clip(spread * wider, *SPREADS[name]))
        return new

    def result(self, state: _State, turns: int, converged: bool) -> IrtFit:
        """Gather what was found, with each item's posterior."""
        nodes = np.linspace(state.ability.min() - BEYOND, state.ability.max() + BEYOND, NODES)
        grid = self._grid(state.prior, nodes)
        density = grid.density({name: state.prior[name] for name in self.moving})
        slope, guess = np.exp(grid.at["discrimination"]), scipy.special.expit(grid.at["guess"])
        points = np.stack([slope, -slope * grid.at["difficulty"], grid.at["difficulty"], guess], axis=1)
        points = np.concatenate([points, points**2], axis=1).astype(np.float32)
        moments, loglik = np.zeros((self.items, points.shape[1])), 0.0
        for part, likelihood, top in self._parts(grid, self._share(state.ability, nodes), np.arange(self.items)):
            posterior, evidence = _posterior(likelihood, density)
            moments[part] = posterior @ points
            loglik += evidence + float(top.sum(dtype=np.float64))
        return self._gathered(state, moments, loglik, turns, converged)

    def _ability_error(self, ability: FloatArray, mean: FloatArray) -> FloatArray:
        """Return the errors of abilities: what the items that were answered tell of each, and the prior."""
        information = np.ones(self.people)
        width = max(1, CELLS // max(self.people, 1))
        for start in range(0, self.items, width):
            slope, _, difficulty, guess = mean[:, start : start + width]
            core = scipy.special.expit(slope * (ability[:, None] - difficulty))
            chance = np.clip(guess + (1 - guess) * core, 1e-9, 1 - 1e-9)
            answered = ~np.isnan(self.responses.correct[:, start : start + width])
            information += (np.square(slope * core) * (1 - chance) / chance * answered).sum(axis=1)
        return np.asarray(1 / np.sqrt(information), dtype=np.float64)

    def _gathered(self, state: _State, moments: FloatArray, loglik: float, turns: int, converged: bool) -> IrtFit:
        mean = moments[:, :4].T
        error = np.sqrt(np.maximum(moments[:, 4:].T - mean**2, 0))
        if self.model != "3pl":
            mean[3], error[3] = 0.0, 0.0
        ability, scale = state.ability, 1.0
        if self.model == "1pl":  # the one discrimination is how widely abilities are spread
            scale = float(ability.std()) or 1.0
            ability = ability / scale
            mean[0] *= scale
            mean[2], error[2] = mean[2] / scale, error[2] / scale
        error_of_ability = self._ability_error(ability, mean)
        infit, outfit = mean_squares(self.responses, ability, mean[0], mean[2], mean[3])
        hyper = {
            f"{name}_{word}": float(value)
            for name in self.moving
            for word, value in zip(("mean", "spread"), state.prior[name], strict=True)
        }
        return IrtFit(
            model=self.model,
            discrimination=mean[0],
            intercept=mean[1],
            difficulty=mean[2],
            guess=mean[3],
            discrimination_error=error[0],
            intercept_error=error[1],
            difficulty_error=error[2],
            guess_error=error[3],
            ability=ability,
            ability_error=error_of_ability,
            infit=infit,
            outfit=outfit,
            loglik=loglik,
            parameters=self.people + 2 * len(self.estimated) - (1 if self.model == "1pl" else 2),
            respondents=self.responses.total,
            turns=turns,
            converged=converged,
            priors=True,
            integrated="items",
            prior=hyper,
        )


def _posterior(likelihood: SingleArray, density: SingleArray) -> tuple[SingleArray, float]:
    """Return each item's posterior, overwriting its likelihood, and the logarithm of the evidence of all."""
    likelihood *= density
    whole: SingleArray = likelihood.sum(axis=1, keepdims=True)
    likelihood /= whole
    return likelihood, float(np.log(whole).sum(dtype=np.float64))


def _moments(weight: npt.NDArray[Any], at: FloatArray) -> tuple[float, float]:
    mean = float(weight @ at)
    return mean, max(float(weight @ np.square(at - mean)), 1e-12)


def _peaks(nodes: FloatArray, height: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find where each row's height is largest, between nodes, and the error that its curvature there tells."""
    spline = scipy.interpolate.CubicSpline(nodes, height, axis=1).c
    step = nodes[1] - nodes[0]
    at = nodes[np.clip(height.argmax(axis=1), 1, len(nodes) - 2)].copy()
    rows = np.arange(len(at))
    curve = np.full(len(at), -1.0)
    for _ in range(8):
        low = np.clip(((at - nodes[0]) / step).astype(np.int64), 0, len(nodes) - 2)
        beyond = at - nodes[low]
        cubic, quadratic, linear, _ = spline[:, low, rows]
        slope, curve = 3 * cubic * beyond**2 + 2 * quadratic * beyond + linear, 6 * cubic * beyond + 2 * quadratic
        move = np.where(curve < 0, -slope / np.minimum(curve, -1e-9), 0.0)
        at = np.clip(at + np.clip(move, -step, step), nodes[0], nodes[-1])
    return at, 1 / np.sqrt(np.maximum(-curve, LEAST_CURVE))
