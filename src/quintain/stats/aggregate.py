"""Other ways to make one figure of several metrics, so that a reader sees what the choice of the Dynascore does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from quintain.stats.bootstrap import FloatArray
from quintain.stats.utility import BoolArray, UtilityTable, goods

Scores = tuple[float | None, ...]


def _used(table: UtilityTable, weights: Mapping[str, float]) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the goods and weights of the metrics that count, and which models have them all.

    A cell that a model cannot have gets the least good on the board, so that withholding never pays.
    """
    positions = [position for position, name in enumerate(table.names) if weights[name] > 0]
    amounts = goods(table)[:, positions]
    cannot = table.unobtainable()[:, positions]
    least = np.array([np.nanmin(column, initial=np.inf) for column in amounts.T])
    filled = np.where(cannot, np.where(np.isfinite(least), least, 0.0)[None, :], amounts)
    shares = np.array([weights[table.names[position]] for position in positions])
    return filled, shares, np.asarray(np.isfinite(filled).all(axis=1))


def _scores(values: FloatArray, complete: BoolArray) -> Scores:
    return tuple(float(value) if ranked else None for value, ranked in zip(values, complete, strict=True))


def mean_zscore(table: UtilityTable, weights: Mapping[str, float]) -> Scores:
    """Average each model's distance from the mean, in population deviations; a metric all share gives 0."""
    amounts, shares, complete = _used(table, weights)
    centre = np.array(
        [column[np.isfinite(column)].mean() if np.isfinite(column).any() else 0.0 for column in amounts.T]
    )
    spread = np.array([column[np.isfinite(column)].std() if np.isfinite(column).any() else 0.0 for column in amounts.T])
    # The deviation of equal numbers may come out as a rounding error; dividing by it would blow that up.
    constant = spread <= 1e-12 * np.maximum(np.abs(centre), 1e-300)
    distances = np.where(constant, 0.0, (amounts - centre) / np.where(constant, 1.0, spread))
    return _scores(np.nan_to_num(distances) @ shares, complete)


def plain_average(table: UtilityTable, weights: Mapping[str, float]) -> Scores:
    """Average the goods as they are, units and all."""
    amounts, shares, complete = _used(table, weights)
    return _scores(np.nan_to_num(amounts) @ shares, complete)


def win_rate(table: UtilityTable, weights: Mapping[str, float]) -> Scores:
    """Return the share of duels won, over metrics by weight and over the other models; a tie is half a win."""
    amounts, shares, complete = _used(table, weights)
    wins = duels(amounts[complete], shares)
    others = max(len(wins) - 1, 1)
    values = np.full(len(amounts), np.nan)
    values[complete] = (wins.sum(axis=1) - np.diag(wins)) / others if len(wins) > 1 else 0.5
    return _scores(values, complete)


def bradley_terry_score(table: UtilityTable, weights: Mapping[str, float]) -> Scores:
    """Return the Bradley–Terry strength (in logits, mean 0) from the duels over the metrics, by weight."""
    amounts, shares, complete = _used(table, weights)
    values = np.full(len(amounts), np.nan)
    values[complete] = bradley_terry(duels(amounts[complete], shares))
    return _scores(values, complete)


def duels(amounts: FloatArray, shares: npt.ArrayLike) -> FloatArray:
    """Return, for each pair of models, the weight of the metrics on which the first is better, ties as half."""
    better = (amounts[:, None, :] > amounts[None, :, :]) + 0.5 * (amounts[:, None, :] == amounts[None, :, :])
    return np.asarray(better @ np.asarray(shares, dtype=np.float64), dtype=np.float64)


def paired_wins(scores: npt.ArrayLike) -> FloatArray:
    """Count on how many examples each model beats each other one, ties as half; *scores* is examples × models.

    >>> paired_wins([[1, 0], [1, 1]]).tolist()
    [[0.0, 1.5], [0.5, 0.0]]
    """
    table = np.asarray(scores, dtype=np.float64)
    wins = np.empty((table.shape[1], table.shape[1]))
    for model in range(table.shape[1]):
        own = table[:, [model]]
        wins[model] = (own > table).sum(axis=0) + (own == table).sum(axis=0) / 2
    np.fill_diagonal(wins, 0.0)
    return wins


def bradley_terry(
    wins: FloatArray, *, prior: float = 0.1, rounds: int = 10_000, tolerance: float = 1e-10
) -> FloatArray:
    """Fit log strengths (mean 0) to *wins[i, j]*, how often i beat j, by Hunter's (2004) iteration.

    *prior* is added to both sides of every pair, so that a model that always wins has a finite strength.
    """
    n = len(wins)
    if n < 2:
        return np.zeros(n)
    counts = wins + prior
    np.fill_diagonal(counts, 0.0)
    won, met = counts.sum(axis=1), counts + counts.T
    strength = np.ones(n)
    for _ in range(rounds):
        new = won / (met / (strength[:, None] + strength[None, :])).sum(axis=1)
        new /= np.exp(np.log(new).mean())
        if np.abs(np.log(new / strength)).max() < tolerance:
            strength = new
            break
        strength = new
    return np.asarray(np.log(strength), dtype=np.float64)


def pareto_front(table: UtilityTable, weights: Mapping[str, float] | None = None) -> tuple[bool, ...]:
    """Return of each model whether no other is as good on every metric that counts and better on one.

    A model with a missing cell is never on the front; duplicates are on it together.
    """
    amounts, _, complete = _used(table, weights or dict.fromkeys(table.names, 1.0))
    known = np.where(complete[:, None], amounts, -np.inf)
    at_least = (known[:, None, :] >= known[None, :, :]).all(axis=2)
    more = (known[:, None, :] > known[None, :, :]).any(axis=2)
    beaten = (at_least & more).any(axis=0)
    return tuple(bool(value) for value in complete & ~beaten)


AGGREGATIONS: Mapping[str, Callable[[UtilityTable, Mapping[str, float]], Scores]] = {
    "average": plain_average,
    "bradley_terry": bradley_terry_score,
    "win_rate": win_rate,
    "zscore": mean_zscore,
}
