"""Marginal maximum likelihood: abilities are integrated out, and items are what makes the responses most likely.

    found = fit_marginal(responses, "2pl")

The chance of a right response is c + (1 − c) / (1 + exp(−(aθ + d))), with difficulty b = −d / a. Abilities θ are
standard normal. The integral is Gauss and Hermite's, with points around each respondent's own posterior, which moves
with the estimates, so that the points lie where the likelihood is (Naylor and Smith 1982). With few respondents, with
items that everybody gets right or wrong, and for guessing, the data alone do not decide; there weak normal priors do
(`PRIOR`), and what is maximised is the posterior.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.irt.fit import IrtFit, IrtModel, mean_squares
from quintain.stats.irt.responses import Responses

# With more items a respondent's posterior is narrower and nearer to normal, and fewer points do.
POINTS = ((40, 31), (300, 9), (10**9, 3))
FEW = 200  # respondents below which priors are used
CELLS = 4_000_000  # respondents × points × items at once: 32 MB
PRIOR = {"discrimination": (1.0, 1.0), "intercept": (0.0, 3.0), "guess": (-1.386, 1.0)}
MOST_TURNS = 200
TOLERANCE = 1e-7


def fit_marginal(responses: Responses, model: IrtModel = "2pl") -> IrtFit:
    """Estimate items and abilities."""
    data, place = responses.patterns()
    problem = _Problem(data, model)
    values = problem.start()
    before, turns, converged = -np.inf, 0, False
    while turns < MOST_TURNS and not converged:
        problem.move_points(values)
        found = scipy.optimize.minimize(
            problem.objective, values, jac=True, method="L-BFGS-B", options={"maxiter": 50, "ftol": 1e-13, "gtol": 1e-7}
        )
        values, turns = found.x, turns + int(found.nit)
        converged = abs(-found.fun - before) <= TOLERANCE * (1 + abs(found.fun)) and found.nit < 50
        before = -found.fun
    problem.move_points(values)
    return problem.result(values, place, turns, converged)


class _Problem:
    """The likelihood of items at points that are fixed, its gradient, and the points."""

    def __init__(self, data: Responses, model: IrtModel) -> None:
        self.data, self.model = data, model
        self.there = ~np.isnan(data.correct)
        self.right = np.nan_to_num(data.correct)
        rows, self.items = data.correct.shape
        share = (self.weighted(self.right)) / np.maximum(self.weighted(self.there), 1e-9)
        self.share = share
        constant = bool(((share <= 0) | (share >= 1)).any())
        self.priors = model == "3pl" or data.total < FEW or constant
        points = next(points for most, points in POINTS if self.items < most)
        self.nodes, self.node_weights = np.polynomial.hermite_e.hermegauss(points)
        self.mean, self.spread = np.zeros(rows), np.ones(rows)
        self.theta, self.log_weight = np.zeros((rows, points)), np.zeros((rows, points))
        self._place()

    def weighted(self, table: npt.NDArray[Any]) -> FloatArray:
        """Add up rows, each as often as it occurs."""
        return np.asarray(self.data.weight @ table, dtype=np.float64)

    def start(self) -> FloatArray:
        """Begin with discrimination 1, items as hard as they are seldom right, and a little guessing."""
        share = np.clip(self.share, 0.02, 0.98)
        slope = np.ones(1 if self.model == "1pl" else self.items)
        guess = np.full(self.items if self.model == "3pl" else 0, -1.386)
        return np.concatenate([slope, np.log(share / (1 - share)), guess])

    def split(self, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Give discriminations, intercepts and chances to guess."""
        cut = 1 if self.model == "1pl" else self.items
        slope, intercept, rest = values[:cut], values[cut : cut + self.items], values[cut + self.items :]
        guess = scipy.special.expit(rest) if self.model == "3pl" else np.zeros(self.items)
        return np.broadcast_to(slope, self.items), intercept, guess

    def _place(self) -> None:
        self.theta = self.mean[:, None] + self.spread[:, None] * self.nodes
        # The weight function of the nodes is taken out, and the density of abilities put in.
        self.log_weight = (
            np.log(self.node_weights) + self.nodes**2 / 2 - self.theta**2 / 2 + np.log(self.spread[:, None])
        ) - np.log(2 * np.pi) / 2

    def posterior(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give the log-likelihood of each row, and the weights of its points."""
        slope, intercept, guess = self.split(values)
        total = self.log_weight.copy()
        for part in self._parts():
            chance = self._chance(slope[part], intercept[part], guess[part])
            said = np.where(self.right[:, None, part] > 0, chance, 1 - chance)
            total += (np.log(np.maximum(said, 1e-300)) * self.there[:, None, part]).sum(axis=2)
        top = total.max(axis=1, keepdims=True)
        weights = np.exp(total - top)
        norm = weights.sum(axis=1, keepdims=True)
        return (top + np.log(norm)).ravel(), weights / norm

    def move_points(self, values: FloatArray) -> None:
        """Put the points around each row's posterior as it is now, until they stay where they are."""
        for _ in range(20):
            _, weights = self.posterior(values)
            mean = (weights * self.theta).sum(axis=1)
            spread = np.sqrt(np.maximum((weights * (self.theta - mean[:, None]) ** 2).sum(axis=1), 1e-6))
            moved = float(np.abs(mean - self.mean).max(initial=0.0) + np.abs(spread - self.spread).max(initial=0.0))
            self.mean, self.spread = mean, spread
            self._place()
            if moved < 1e-4:
                return

    def objective(self, values: FloatArray) -> tuple[float, FloatArray]:
        """Give what is minimised, and its gradient."""
        rows, weights = self.posterior(values)
        slope, intercept, guess = self.split(values)
        by_slope, by_intercept, by_guess = np.zeros(self.items), np.zeros(self.items), np.zeros(self.items)
        counts = weights * self.data.weight[:, None]
        for part in self._parts():
            one, two, three = self._slopes(slope[part], intercept[part], guess[part], part)
            by_slope[part], by_intercept[part] = _add_up(counts, one), _add_up(counts, two)
            by_guess[part] = _add_up(counts, three) if self.model == "3pl" else 0.0
        gradient = np.concatenate(
            [
                by_slope.sum(keepdims=True) if self.model == "1pl" else by_slope,
                by_intercept,
                by_guess if self.model == "3pl" else np.zeros(0),
            ]
        )
        prior, slopes = self._prior(values)
        return -float(self.data.weight @ rows) - prior, -(gradient + slopes)

    def _slopes(
        self, slope: FloatArray, intercept: FloatArray, guess: FloatArray, part: slice
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Give the slopes of the log-likelihood at every point by discrimination, intercept and logit of guessing."""
        core = scipy.special.expit(self.theta[:, :, None] * slope + intercept)
        chance = guess + (1 - guess) * core
        error = (self.right[:, None, part] - chance) * self.there[:, None, part] / np.maximum(chance, 1e-300)
        by_intercept = error * core
        by_guess = error * guess
        return by_intercept * self.theta[:, :, None], by_intercept, by_guess

    def _chance(self, slope: FloatArray, intercept: FloatArray, guess: FloatArray) -> FloatArray:
        core = scipy.special.expit(self.theta[:, :, None] * slope + intercept)
        return np.asarray(guess + (1 - guess) * core, dtype=np.float64)

    def _parts(self) -> list[slice]:
        width = max(1, CELLS // max(self.theta.size, 1))
        return [slice(start, min(start + width, self.items)) for start in range(0, self.items, width)]

    def _prior(self, values: FloatArray) -> tuple[float, FloatArray]:
        if not self.priors:
            return 0.0, np.zeros(len(values))
        cut = 1 if self.model == "1pl" else self.items
        sizes = {"discrimination": cut, "intercept": self.items, "guess": len(values) - cut - self.items}
        centre = np.concatenate([np.full(size, PRIOR[name][0]) for name, size in sizes.items()])
        width = np.concatenate([np.full(size, PRIOR[name][1]) for name, size in sizes.items()])
        away = (values - centre) / width
        return -float(away @ away) / 2, -away / width

    def result(self, values: FloatArray, place: IntArray, turns: int, converged: bool) -> IrtFit:
        """Gather what was found."""
        rows, weights = self.posterior(values)
        slope, intercept, guess = self.split(values)
        errors = self._errors(values, weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            difficulty = np.asarray(-intercept / slope, dtype=np.float64)
        infit, outfit = mean_squares(self.data, self.mean, slope, difficulty, guess)
        return IrtFit(
            model=self.model,
            discrimination=slope.copy(),
            intercept=intercept.copy(),
            difficulty=difficulty,
            guess=guess,
            discrimination_error=errors[0],
            intercept_error=errors[1],
            difficulty_error=errors[2],
            guess_error=errors[3],
            ability=self.mean[place],
            ability_error=self.spread[place],
            infit=infit,
            outfit=outfit,
            loglik=float(self.data.weight @ rows),
            parameters=len(values),
            respondents=self.data.total,
            turns=turns,
            converged=converged,
            priors=self.priors,
        )

    def _errors(self, values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Give standard errors from each row's own slopes, item by item: what other items add is left out."""
        slope, intercept, guess = self.split(values)
        size = 3 if self.model == "3pl" else 2
        held = np.zeros((self.items, size, size))
        for part in self._parts():
            found = self._slopes(slope[part], intercept[part], guess[part], part)[:size]
            each = np.stack([np.einsum("rp,rpi->ri", weights, one) for one in found], axis=2)
            if size == 3:  # by the logit; the chance itself is had by its slope
                each[:, :, 2] *= 1 - guess[part]
            held[part] = np.einsum("r,ria,rib->iab", self.data.weight, each, each)
        if self.priors:
            widths = [PRIOR[name][1] for name in ("discrimination", "intercept", "guess")][:size]
            held += np.diag(1 / np.square(widths))
        covariance = np.linalg.pinv(held)
        one, two = np.sqrt(covariance[:, 0, 0]), np.sqrt(covariance[:, 1, 1])
        # Difficulty is −d / a: its error follows from both and how they go together.
        with np.errstate(divide="ignore", invalid="ignore"):
            by_slope, by_intercept = intercept / slope**2, -1 / slope
            variance = (
                by_slope**2 * covariance[:, 0, 0]
                + by_intercept**2 * covariance[:, 1, 1]
                + 2 * by_slope * by_intercept * covariance[:, 0, 1]
            )
        three = np.sqrt(covariance[:, 2, 2]) * guess * (1 - guess) if size == 3 else np.zeros(self.items)
        return one, two, np.sqrt(np.maximum(variance, 0)), three


def _add_up(counts: FloatArray, table: FloatArray) -> FloatArray:
    """Add up rows and points of *table* (rows × points × items), each as often as it counts."""
    return np.asarray(counts.ravel() @ table.reshape(counts.size, -1), dtype=np.float64)
