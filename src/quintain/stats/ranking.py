"""How sure a ranking is: resample the examples for all models at once, and see how often each order comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quintain.core.errors import BadInput
from quintain.stats.bootstrap import FloatArray, IntArray, resample_weights
from quintain.stats.utility import Choices, UtilityRanking, UtilityTable, exchange_rates, rank_models


@dataclass(frozen=True, slots=True)
class RankUncertainty:
    """For each model its interval of ranks, for each pair how often the first is above, and groups of ties.

    *above[i, j]* is the share of resamples in which model i is above model j, equal scores counting half. *groups*
    gives each model the number of its group, from 1: those that the group's best is not surely above.
    """

    low: tuple[int | None, ...]
    high: tuple[int | None, ...]
    above: FloatArray
    groups: tuple[int | None, ...]


def bootstrap_scores(
    scores: npt.ArrayLike, *, groups: IntArray | None = None, seed: int = 0, resamples: int = 1000
) -> FloatArray:
    """Resample examples, the same for all models, and give each model's mean: resamples × models.

    *scores* is examples × models, such as 1 where a model was right. Whole *groups* are drawn where given.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise BadInput("There are no examples to resample.")
    if not np.isfinite(table).all():
        raise BadInput("A score is missing or not a number.", remedy="Leave out models without all predictions.")
    sizes = np.ones(len(table))
    if groups is not None:
        table, sizes = _by_group(table, groups)
    # Sums of small whole numbers are exact in single precision, and twice as fast; others are rounded below, so that
    # a rounding error never puts one of two equal models above the other.
    whole = bool((table == np.rint(table)).all() and np.abs(table).sum(axis=0).max(initial=0) < 2**22)
    kind: Any = np.float32 if whole else np.float64
    columns: Any = np.ascontiguousarray(np.column_stack([table, sizes]), dtype=kind)
    rng = np.random.default_rng(seed)
    blocks: list[Any] = [weights.astype(kind) @ columns for weights in resample_weights(len(table), resamples, rng)]
    sums = np.concatenate(blocks).astype(np.float64)
    means = sums[:, :-1] / sums[:, -1:]
    return means if whole else np.round(means, 10)


def _by_group(table: FloatArray, groups: IntArray) -> tuple[FloatArray, FloatArray]:
    names, codes = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(names), table.shape[1]))
    np.add.at(sums, codes, table)
    return sums, np.bincount(codes).astype(np.float64)


def bootstrap_dynascores(
    table: UtilityTable, samples: Mapping[str, FloatArray], choices: Choices | None = None
) -> FloatArray:
    """Return the Dynascores (resamples × models) when the metrics in *samples* vary and the others stay.

    Exchange rates are computed anew in each resample, as they depend on the performances. ε, where it is not given,
    follows the table and not the resample. Unranked models are NaN.
    """
    ranking = rank_models(table, choices)
    number = {len(drawn) for drawn in samples.values()}
    if len(number) != 1:
        raise BadInput("Each metric must be resampled equally often.")
    shape = (number.pop(), len(table.models))
    for name in samples:
        table.position(name)
    base = np.broadcast_to(_drawn_good(table, ranking.base, samples), shape)
    scores = np.zeros(shape)
    for position, name in enumerate(table.names):
        if ranking.weights[name] == 0:
            continue
        good = np.broadcast_to(_drawn_good(table, name, samples), shape)
        rates = _drawn_rates(name, base, good, ranking, (choices or Choices()).amrs or {})
        least = np.minimum(np.nanmin(good, axis=1, initial=0.0), 0.0)[:, None]
        credit = np.where(table.unobtainable()[None, :, position], least, good)
        scores += np.where(rates > 0, ranking.weights[name] * credit / np.where(rates > 0, rates, 1.0), 0.0)
    scores[:, [score is None for score in ranking.dynascore]] = np.nan
    return scores


def _drawn_good(table: UtilityTable, name: str, samples: Mapping[str, FloatArray]) -> FloatArray:
    """Return a metric as a good, in every resample or, where it does not vary, once."""
    position = table.position(name)
    column = table.columns[position]
    values = samples.get(name, table.values[None, :, position])
    if not column.lower:
        return values
    caps = np.nanmax(values, axis=1, initial=-np.inf)[:, None] if column.cap is None else column.cap
    return np.asarray(caps - values, dtype=np.float64)


def _drawn_rates(
    name: str, base: FloatArray, good: FloatArray, ranking: UtilityRanking, by_hand: Mapping[str, float]
) -> FloatArray:
    """Return the exchange rate of each resample as a column; 0 where there is none."""
    if name == ranking.base or name in by_hand:
        return np.full((len(base), 1), ranking.amrs[name] or 0.0)
    both = np.asarray(np.isfinite(base).all(axis=0) & np.isfinite(good).all(axis=0))
    return np.nan_to_num(exchange_rates(base[:, both], good[:, both], ranking.epsilon, ranking.rate))[:, None]


def rank_uncertainty(
    samples: FloatArray, scores: Sequence[float | None], *, confidence: float = 0.95
) -> RankUncertainty:
    """Turn resampled scores (resamples × models, higher is better) into rank intervals and probabilities.

    *scores* are the models' scores on the data themselves; a model without one is left out.
    """
    ranked = [place for place, score in enumerate(scores) if score is not None]
    drawn = samples[:, ranked]
    above = np.full((len(scores), len(scores)), np.nan)
    low: list[int | None] = [None] * len(scores)
    high: list[int | None] = [None] * len(scores)
    tail = (1 - confidence) / 2
    for column, model in enumerate(ranked):
        others_above = drawn > drawn[:, [column]]
        equal = drawn == drawn[:, [column]]
        above[ranked, model] = others_above.mean(axis=0) + equal.mean(axis=0) / 2
        places = 1 + others_above.sum(axis=1)
        edges = np.quantile(places, [tail, 1 - tail], method="inverted_cdf")
        low[model], high[model] = int(edges[0]), int(edges[1])
    return RankUncertainty(tuple(low), tuple(high), above, _tie_groups(scores, above, confidence))


def _tie_groups(scores: Sequence[float | None], above: FloatArray, confidence: float) -> tuple[int | None, ...]:
    """Go down the ranking; a model that the best of the group is surely above opens the next group.

    "Surely" is two-sided, as the intervals are: at 95 % the best is above in at least 97.5 % of the resamples.
    """
    sure = 1 - (1 - confidence) / 2
    order = sorted(
        (place for place, score in enumerate(scores) if score is not None), key=lambda p: -(scores[p] or 0.0)
    )
    groups: list[int | None] = [None] * len(scores)
    number, best = 0, -1
    for row in order:
        # Equal scores are one rank, so they are never apart, whatever the order of the rows.
        if number == 0 or (above[best, row] >= sure and scores[row] != scores[best]):
            number, best = number + 1, row
        groups[row] = number
    return tuple(groups)
