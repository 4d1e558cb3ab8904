"""What an estimation gives: items and abilities with their errors, how well they fit, and how it was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import scipy

from quintain.stats.bootstrap import FloatArray
from quintain.stats.irt.responses import Responses

IrtModel = Literal["1pl", "2pl", "3pl"]
IrtMethod = Literal["mml", "vi"]
# What stands behind the likelihood: abilities integrated out, items integrated out, or all of them approximated.
Integrated = Literal["abilities", "items", "both"]
Normal = tuple[float, float]  # mean and spread
CELLS = 4_000_000  # respondents × items at once: 32 MB


@dataclass(frozen=True, slots=True)
class IrtFit:
    """Items and abilities with their standard errors; *guess* is 0 without guessing.

    *infit* and *outfit* are mean squares around 1. *priors* says whether priors were used; *loglik* is without them.
    Where items are integrated out, *prior* has what was estimated of their distribution; of a variational fit *elbo* is
    the bound, and *search* the bound at each spread of the prior of discrimination that was tried. Where respondents
    are not *told_apart* there is no scale of ability, and no difficulty on it: those are NaN.
    """

    model: IrtModel
    discrimination: FloatArray
    intercept: FloatArray
    difficulty: FloatArray
    guess: FloatArray
    discrimination_error: FloatArray
    intercept_error: FloatArray
    difficulty_error: FloatArray
    guess_error: FloatArray
    ability: FloatArray
    ability_error: FloatArray
    infit: FloatArray
    outfit: FloatArray
    loglik: float
    parameters: int
    respondents: float
    turns: int
    converged: bool
    priors: bool
    integrated: Integrated = "abilities"
    prior: Mapping[str, float] = field(default_factory=dict)
    elbo: float | None = None
    search: Mapping[float, float] = field(default_factory=dict)
    told_apart: bool = True

    @property
    def method(self) -> IrtMethod:
        """By which method it was found."""
        return "vi" if self.integrated == "both" else "mml"

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return 2 * self.parameters - 2 * self.loglik

    @property
    def bic(self) -> float:
        """The Bayesian criterion."""
        return self.parameters * float(np.log(self.respondents)) - 2 * self.loglik

    def chances(self, ability: FloatArray, items: slice | None = None) -> FloatArray:
        """Return the chance of a right response at each *ability* (rows) to each item (columns)."""
        part = items or slice(None)
        slope, guess = self.discrimination[part], self.guess[part]
        away = slope * (ability[:, None] - self.difficulty[part])
        if not self.told_apart:
            away = slope * ability[:, None] + self.intercept[part]
        core = scipy.special.expit(away)
        return np.asarray(guess + (1 - guess) * core, dtype=np.float64)


def without_scale(fit: IrtFit) -> IrtFit:
    """Take the difficulties away from *fit*, whose respondents cannot be told apart."""
    nothing = np.full(len(fit.difficulty), np.nan)
    return replace(fit, difficulty=nothing, difficulty_error=nothing.copy(), told_apart=False)


def guess_told(prior: Normal) -> dict[str, float]:
    """Return which prior of the logit of guessing was used."""
    return {"guess_mean": prior[0], "guess_spread": prior[1]}


def mean_squares(
    responses: Responses, ability: FloatArray, discrimination: FloatArray, difficulty: FloatArray, guess: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the mean squares of what the abilities leave over, by item: weighted by information, and plain."""
    items = len(discrimination)
    infit, outfit = np.zeros(items), np.zeros(items)
    width = max(1, CELLS // max(len(ability), 1))
    for start in range(0, items, width):
        part = slice(start, start + width)
        answered = ~np.isnan(responses.correct[:, part])
        core = scipy.special.expit(discrimination[part] * (ability[:, None] - difficulty[part]))
        chance = np.clip(guess[part] + (1 - guess[part]) * core, 1e-6, 1 - 1e-6)
        spread = chance * (1 - chance)
        squared = np.square(np.nan_to_num(responses.correct[:, part]) - chance) * answered
        infit[part] = (responses.weight @ squared) / np.maximum(responses.weight @ (spread * answered), 1e-9)
        outfit[part] = (responses.weight @ (squared / spread)) / np.maximum(responses.weight @ answered, 1e-9)
    return infit, outfit
