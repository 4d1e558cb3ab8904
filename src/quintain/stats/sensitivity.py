"""What the ranking owes to choices: over what weights and ε the leader leads, and what one model does to the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from quintain.stats.bootstrap import FloatArray
from quintain.stats.utility import Choices, UtilityRanking, UtilityTable, goods, rank_models


@dataclass(frozen=True, slots=True)
class LeaderRange:
    """From where to where a leader stays in the lead; *high* is None where there is no end."""

    low: float
    high: float | None


@dataclass(frozen=True, slots=True)
class PoolEffect:
    """What removing (or adding) one model does: everyone's change of score, and who leads then."""

    model: str
    changes: Mapping[str, float]
    largest: float
    leader: str | None
    leader_changes: bool


def leader_of(table: UtilityTable, ranking: UtilityRanking) -> str | None:
    """Name the model at the top, the first in the alphabet where several share it."""
    first = [model for model, rank in zip(table.models, ranking.rank, strict=True) if rank == 1]
    return min(first, default=None)


def weight_ranges(table: UtilityTable, choices: Choices | None = None) -> dict[str, LeaderRange]:
    """Return, for each metric, the shares of weight at which the leader still leads.

    The other metrics keep their proportions as one share moves between 0 and 1; where one metric has all of the
    weight, the others share alike. The score is linear in the share, so the ends are exact.
    """
    ranking = rank_models(table, choices)
    leader = leader_of(table, ranking)
    if leader is None:
        return {}
    converted = _converted(table, ranking)
    ranked = np.array([rank is not None for rank in ranking.rank])
    ranges = {}
    for position, name in enumerate(table.names):
        rivals = ranked & np.isfinite(converted).all(axis=1)
        own = converted[:, position]
        shares = np.array([0.0 if other == name else ranking.weights[other] for other in table.names])
        shares = shares / shares.sum() if shares.sum() > 0 else _alike(len(shares), position)
        rest = np.nan_to_num(converted) @ shares
        ranges[name] = _lead(own[rivals], rest[rivals], table.models.index(leader), np.flatnonzero(rivals))
    return ranges


def _alike(size: int, position: int) -> FloatArray:
    shares = np.full(size, 1.0 / max(size - 1, 1))
    shares[position] = 0.0
    return shares


def _converted(table: UtilityTable, ranking: UtilityRanking) -> FloatArray:
    """Return each good in units of the base metric, without weights; NaN where it is missing."""
    amounts = goods(table)
    for position, name in enumerate(table.names):
        rate = ranking.amrs[name]
        column = amounts[:, position]
        least = min(0.0, float(np.nanmin(column, initial=0.0)))
        filled = np.where(table.unobtainable()[:, position], least, column)
        amounts[:, position] = filled / rate if rate else 0.0
    return amounts


def _lead(
    own: FloatArray, rest: FloatArray, leader: int, rows: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> LeaderRange:
    """Find the shares t with (1 − t)·Δrest + t·Δown ≥ 0 against every rival, where Δ is the leader less the rival."""
    position = np.flatnonzero(rows == leader)
    if len(position) == 0:
        return LeaderRange(0.0, 0.0)
    start = rest[position[0]] - rest
    slope = (own[position[0]] - own) - start
    low = float(np.max(-start[slope > 0] / slope[slope > 0], initial=0.0))
    high = float(np.min(-start[slope < 0] / slope[slope < 0], initial=1.0))
    return LeaderRange(min(max(low, 0.0), 1.0), max(min(high, 1.0), 0.0))


def epsilon_range(table: UtilityTable, choices: Choices | None = None) -> LeaderRange:
    """Return the ε between which the leader still leads: from *low* up to, but not with, *high*.

    A rate changes only where ε passes a distance between neighbours, so that those alone are tried.
    """
    choices = choices or Choices()
    ranking = rank_models(table, choices)
    leader = leader_of(table, ranking)
    base = goods(table)[:, table.position(ranking.base)]
    steps = np.unique(np.concatenate([[0.0], np.diff(np.unique(base[np.isfinite(base)]))]))
    now = int(np.searchsorted(steps, ranking.epsilon * (1 + 1e-9), side="right")) - 1

    def leads(step: int) -> bool:
        tried = replace(choices, epsilon=float(steps[step]))
        return leader_of(table, rank_models(table, tried)) == leader

    low, high = now, now + 1
    while low > 0 and leads(low - 1):
        low -= 1
    while high < len(steps) and leads(high):
        high += 1
    return LeaderRange(float(steps[low]), float(steps[high]) if high < len(steps) else None)


def pool_effects(table: UtilityTable, choices: Choices | None = None) -> tuple[PoolEffect, ...]:
    """Return what each model's removal does to the scores of the others: rates depend on who is compared.

    ε stays what it is with all models, so that only the removal speaks.
    """
    before = rank_models(table, choices)
    fixed = replace(choices or Choices(), epsilon=before.epsilon)
    effects = []
    for row in range(len(table.models)):
        rest = [other for other in range(len(table.models)) if other != row]
        if rest:
            effects.append(_effect(table, before, table.take(rest), rest, table.models[row], fixed))
    return tuple(effects)


def _effect(
    table: UtilityTable, before: UtilityRanking, changed: UtilityTable, rest: list[int], model: str, choices: Choices
) -> PoolEffect:
    after = rank_models(changed, choices)
    changes = {}
    for position, row in enumerate(rest):
        old, new = before.dynascore[row], after.dynascore[position]
        if old is not None and new is not None:
            changes[table.models[row]] = new - old
    leader = leader_of(changed, after)
    largest = max(changes.values(), key=abs, default=0.0)
    return PoolEffect(model, changes, largest, leader, leader != leader_of(table, before))
