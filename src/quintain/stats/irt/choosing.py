"""How few examples give the same ranking: asked one by one as each respondent needs, a fixed set, or at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from quintain.stats.bootstrap import FloatArray, IntArray
from quintain.stats.irt.fit import IrtFit
from quintain.stats.irt.information import item_information, most_informative
from quintain.stats.irt.responses import Responses

POINTS = 81
CANDIDATES = 2000  # items that the next question is chosen from: those that tell most
MOST_ASKED = 400
ENOUGH = 0.95  # Kendall's τ with the ranking by all items
ADAPTIVE, FIXED, CHANCE = "adaptive", "fixed", "random"


@dataclass(frozen=True, slots=True)
class RankingKept:
    """Kendall's τ between the ranking by all items and by so many of them, for each way of choosing.

    *enough* is the least of *asked* from which on τ stays at or above 0.95, or None.
    """

    asked: list[int]
    tau: dict[str, list[float]]
    enough: dict[str, int | None]


def rankings_kept(responses: Responses, fit: IrtFit, *, most: int = MOST_ASKED, seed: int = 0) -> RankingKept:
    """Replay the responses, and say how soon the ranking stands that all of them give.

    Items are the ones that were estimated from the same respondents, so that new respondents need somewhat more.
    """
    items = len(fit.discrimination)
    most = min(most, items)
    asked = sorted({one for one in (5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400) if one < most} | {most})
    pool = most_informative(fit, min(CANDIDATES, items)) if items > CANDIDATES else np.arange(items)
    fixed = pool[:most] if items > CANDIDATES else most_informative(fit, most)
    rng = np.random.default_rng(seed)
    play = _Play(responses, fit)
    places = {
        ADAPTIVE: play.adaptive(pool, asked),
        FIXED: play.in_order(np.tile(fixed, (play.people, 1)), asked),
        CHANCE: play.in_order(np.stack([rng.permutation(items)[:most] for _ in range(play.people)]), asked),
    }
    tau = {
        name: [float(scipy.stats.kendalltau(one, fit.ability).statistic) for one in found]
        for name, found in places.items()
    }
    return RankingKept(asked, tau, {name: _first_enough(asked, one) for name, one in tau.items()})


def _first_enough(asked: list[int], tau: list[float]) -> int | None:
    """Return the least number from which on all are enough."""
    below = [place for place, one in enumerate(tau) if not one >= ENOUGH]
    first = below[-1] + 1 if below else 0
    return asked[first] if first < len(asked) else None


class _Play:
    """Respondents' posteriors on a grid of abilities, item by item."""

    def __init__(self, responses: Responses, fit: IrtFit) -> None:
        self.correct, self.fit = responses.correct, fit
        self.people = len(responses.correct)
        reach = max(3.5, float(np.abs(fit.ability).max()) + 0.5)
        self.grid = np.linspace(-reach, reach, POINTS)
        chance = np.clip(fit.chances(self.grid), 1e-9, 1 - 1e-9).T
        self.right, self.wrong = np.log(chance), np.log1p(-chance)

    def _begin(self) -> FloatArray:
        return np.tile(-(self.grid**2) / 2, (self.people, 1))

    def _means(self, height: FloatArray) -> FloatArray:
        weight = np.exp(height - height.max(axis=1, keepdims=True))
        return np.asarray((weight @ self.grid) / weight.sum(axis=1), dtype=np.float64)

    def _heard(self, height: FloatArray, items: IntArray) -> None:
        """Take each respondent's response to its own item into account; one without a response tells nothing."""
        response = self.correct[np.arange(self.people), items]
        height += np.where(
            response[:, None] == 1, self.right[items], np.where(response[:, None] == 0, self.wrong[items], 0.0)
        )

    def in_order(self, order: IntArray, asked: list[int]) -> list[FloatArray]:
        """Ask each respondent its row of *order*; give the abilities after so many."""
        height, abilities = self._begin(), []
        for at in range(order.shape[1]):
            self._heard(height, order[:, at])
            if at + 1 in asked:
                abilities.append(self._means(height))
        return abilities

    def adaptive(self, pool: IntArray, asked: list[int]) -> list[FloatArray]:
        """Ask each respondent what tells most where it seems to be."""
        information = item_information(self.fit, self.grid)[:, pool].astype(np.float32)
        left = ~np.isnan(self.correct[:, pool])
        height, abilities = self._begin(), []
        rows = np.arange(self.people)
        for at in range(max(asked)):
            nearest = np.abs(self.grid - self._means(height)[:, None]).argmin(axis=1)
            chosen = np.where(left, information[nearest], -1).argmax(axis=1)
            self._heard(height, np.where(left[rows, chosen], pool[chosen], pool[0]) if left.any() else pool[chosen])
            left[rows, chosen] = False
            if at + 1 in asked:
                abilities.append(self._means(height))
        return abilities
