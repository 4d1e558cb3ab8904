"""Marginal maximum likelihood: abilities are integrated out, and items are what makes the responses most likely.

    found = fit_marginal(responses, "2pl")

The chance of a right response is c + (1 − c) / (1 + exp(−(aθ + d))), with difficulty b = −d / a. Abilities θ are
standard normal. The integral is Gauss and Hermite's, with points around each respondent's own posterior, which moves
with the estimates, so that the points lie where the likelihood is (Naylor and Smith 1982). With few respondents and
with items that everybody gets right or wrong the data alone do not decide; there weak normal priors of a and d do
(`PRIOR`), and what is maximised is the posterior. With guessing they never decide: a curve that is flat and far to the
left looks like one that begins high. There the priors are those of log a, b and the logit of c (`GUESSING`), of which
the last may be given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.irt.fit import IrtFit, IrtModel, Normal, guess_told, mean_squares
from quintain.stats.irt.responses import Responses

# With more items a respondent's posterior is narrower and nearer to normal, and fewer points do.
POINTS = ((40, 31), (300, 9), (10**9, 3))
WITH_GUESSING = 15  # points at most: priors blur more than they would sharpen
FEW = 200  # respondents below which priors are used
CELLS = 4_000_000  # respondents × points × items at once: 32 MB
PRIOR: tuple[Normal, ...] = ((1.0, 1.0), (0.0, 3.0))
GUESSING: tuple[Normal, ...] = ((0.0, 0.5), (0.0, 2.0), (-1.386, 1.0))
MOST_TURNS = 200
TOLERANCE = 1e-7


def fit_marginal(responses: Responses, model: IrtModel = "2pl", *, guess: Normal | None = None) -> IrtFit:
    """Estimate items and abilities; *guess* is the prior of the logit of guessing."""
    data, row_of = responses.patterns()
    problem = _Problem(data, model, guess)
    values = problem.start()
    before, turns, converged = -np.inf, 0, False
    while turns < MOST_TURNS and not converged:
        problem.move_points(values)
        solution = scipy.optimize.minimize(
            problem.objective, values, jac=True, method="L-BFGS-B", options={"maxiter": 50, "ftol": 1e-13, "gtol": 1e-7}
        )
        values, turns = solution.x, turns + max(int(solution.nit), 1)
        converged = abs(-solution.fun - before) <= TOLERANCE * (1 + abs(solution.fun)) and solution.nit < 50
        before = -solution.fun
    problem.move_points(values)
    return problem.result(values, row_of, turns, converged)


class _Problem:
    """The likelihood of items at points that are fixed, its gradient, and the points."""

    def __init__(self, data: Responses, model: IrtModel, guess: Normal | None = None) -> None:
        self.data, self.model = data, model
        self.prior = (*GUESSING[:2], guess or GUESSING[2]) if model == "3pl" else PRIOR
        self.answered = ~np.isnan(data.correct)
        self.right = np.nan_to_num(data.correct)
        rows, self.items = data.correct.shape
        share = (self.weighted(self.right)) / np.maximum(self.weighted(self.answered), 1e-9)
        self.share = share
        constant = bool(((share <= 0) | (share >= 1)).any())
        self.priors = model == "3pl" or data.total < FEW or constant
        points = next(points for most, points in POINTS if self.items < most)
        points = min(points, WITH_GUESSING) if model == "3pl" else points
        self.nodes, self.node_weights = np.polynomial.hermite_e.hermegauss(points)
        self.mean, self.spread = np.zeros(rows), np.ones(rows)
        self.theta, self.log_weight = np.zeros((rows, points)), np.zeros((rows, points))
        self._place_nodes()

    def weighted(self, table: npt.NDArray[Any]) -> FloatArray:
        """Add up rows, each as often as it occurs."""
        return np.asarray(self.data.weight @ table, dtype=np.float64)

    def start(self) -> FloatArray:
        """Begin with discrimination 1, items as hard as they are seldom right, and guessing as the prior has it."""
        share = np.clip(self.share, 0.02, 0.98)
        logit = np.log(share / (1 - share))
        if self.model == "3pl":
            return np.concatenate([np.zeros(self.items), -logit, np.full(self.items, self.prior[2][0])])
        return np.concatenate([np.ones(1 if self.model == "1pl" else self.items), logit])

    def split(self, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return discriminations, intercepts and chances to guess."""
        if self.model == "3pl":
            steep, difficulty, logit = values.reshape(3, self.items)
            slope = np.exp(steep)
            return slope, -slope * difficulty, scipy.special.expit(logit)
        cut = 1 if self.model == "1pl" else self.items
        return np.broadcast_to(values[:cut], self.items), values[cut:], np.zeros(self.items)

    def _place_nodes(self) -> None:
        self.theta = self.mean[:, None] + self.spread[:, None] * self.nodes
        # The weight function of the nodes is taken out, and the density of abilities put in.
        self.log_weight = (
            np.log(self.node_weights) + self.nodes**2 / 2 - self.theta**2 / 2 + np.log(self.spread[:, None])
        ) - np.log(2 * np.pi) / 2

    def posterior(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihood of each row, and the weights of its points."""
        slope, intercept, guess = self.split(values)
        total = self.log_weight.copy()
        for part in self._parts():
            chance = self._chance(slope[part], intercept[part], guess[part])
            likelihood = np.where(self.right[:, None, part] > 0, chance, 1 - chance)
            total += (np.log(np.maximum(likelihood, 1e-300)) * self.answered[:, None, part]).sum(axis=2)
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
            self._place_nodes()
            if moved < 1e-4:
                return

    def objective(self, values: FloatArray) -> tuple[float, FloatArray]:
        """Return what is minimised, and its gradient."""
        rows, weights = self.posterior(values)
        slope, intercept, guess = self.split(values)
        by_slope, by_intercept, by_guess = np.zeros(self.items), np.zeros(self.items), np.zeros(self.items)
        counts = weights * self.data.weight[:, None]
        for part in self._parts():
            slope_part, intercept_part, guess_part = self._slopes(slope[part], intercept[part], guess[part], part)
            by_slope[part], by_intercept[part] = _add_up(counts, slope_part), _add_up(counts, intercept_part)
            by_guess[part] = _add_up(counts, guess_part) if self.model == "3pl" else 0.0
        if self.model == "3pl":
            gradient = np.concatenate([*_by_curve(by_slope, by_intercept, slope, intercept), by_guess])
        else:
            first = by_slope.sum(keepdims=True) if self.model == "1pl" else by_slope
            gradient = np.concatenate([first, by_intercept])
        prior, slopes = self._prior(values)
        return -float(self.data.weight @ rows) - prior, -(gradient + slopes)

    def _slopes(
        self, slope: FloatArray, intercept: FloatArray, guess: FloatArray, part: slice
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the log-likelihood's slopes at every point by discrimination, intercept and logit of guessing."""
        core = scipy.special.expit(self.theta[:, :, None] * slope + intercept)
        chance = guess + (1 - guess) * core
        error = (self.right[:, None, part] - chance) * self.answered[:, None, part] / np.maximum(chance, 1e-300)
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
        sizes = (1 if self.model == "1pl" else self.items, self.items, self.items)
        centre, width = (
            np.concatenate([np.full(size, one[at]) for one, size in zip(self.prior, sizes, strict=False)])
            for at in (0, 1)
        )
        away = (values - centre) / width
        return -float(away @ away) / 2, -away / width

    def result(self, values: FloatArray, row_of: IntArray, turns: int, converged: bool) -> IrtFit:
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
            ability=self.mean[row_of],
            ability_error=self.spread[row_of],
            infit=infit,
            outfit=outfit,
            loglik=float(self.data.weight @ rows),
            parameters=len(values),
            respondents=self.data.total,
            turns=turns,
            converged=converged,
            priors=self.priors,
            prior=guess_told(self.prior[2]) if self.model == "3pl" else {},
        )

    def _errors(self, values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return standard errors from each row's own slopes, item by item: what other items add is left out."""
        slope, intercept, guess = self.split(values)
        size = 3 if self.model == "3pl" else 2
        held = np.zeros((self.items, size, size))
        for part in self._parts():
            slopes = self._slopes(slope[part], intercept[part], guess[part], part)[:size]
            each = [np.einsum("rp,rpi->ri", weights, slope) for slope in slopes]
            if size == 3:
                each[:2] = _by_curve(each[0], each[1], slope[part], intercept[part])
            table = np.stack(each, axis=2)
            held[part] = np.einsum("r,ria,rib->iab", self.data.weight, table, table)
        if self.priors:
            held += np.diag([1 / width**2 for _, width in self.prior])
        covariance = np.asarray(np.linalg.pinv(held), dtype=np.float64)
        if size == 3:
            return _curve_errors(covariance, slope, intercept, guess)
        slope_error, intercept_error = np.sqrt(covariance[:, 0, 0]), np.sqrt(covariance[:, 1, 1])
        # Difficulty is −d / a: its error follows from both and how they go together.
        with np.errstate(divide="ignore", invalid="ignore"):
            by_slope, by_intercept = intercept / slope**2, -1 / slope
            variance = (
                by_slope**2 * covariance[:, 0, 0]
                + by_intercept**2 * covariance[:, 1, 1]
                + 2 * by_slope * by_intercept * covariance[:, 0, 1]
            )
        return slope_error, intercept_error, np.sqrt(np.maximum(variance, 0)), np.zeros(self.items)


def _by_curve(
    by_slope: FloatArray, by_intercept: FloatArray, slope: FloatArray, intercept: FloatArray
) -> list[FloatArray]:
    """Turn slopes by a and d into those by log a and b, where d = −ab."""
    return [slope * by_slope + intercept * by_intercept, -slope * by_intercept]


def _curve_errors(
    covariance: FloatArray, slope: FloatArray, intercept: FloatArray, guess: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the errors of a, d, b and c from the covariance of log a, b and the logit of c."""
    steep, hard, both = covariance[:, 0, 0], covariance[:, 1, 1], covariance[:, 0, 1]
    variance = intercept**2 * steep + slope**2 * hard - 2 * intercept * slope * both
    chance = np.sqrt(covariance[:, 2, 2]) * guess * (1 - guess)
    return slope * np.sqrt(steep), np.sqrt(np.maximum(variance, 0)), np.sqrt(hard), chance


def _add_up(counts: FloatArray, table: FloatArray) -> FloatArray:
    """Add up rows and points of *table* (rows × points × items), each as often as it counts."""
    return np.asarray(counts.ravel() @ table.reshape(counts.size, -1), dtype=np.float64)
