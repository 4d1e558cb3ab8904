"""What a ranking owes to choices: other aggregations, other weights, another ε, another pool of models."""

from __future__ import annotations

from dataclasses import replace

from quintain.core.records.board import BoardView
from quintain.core.records.ranking import (
    Aggregate,
    AggregatedModel,
    Aggregations,
    LeadRange,
    PoolWithout,
    Sensitivity,
)
from quintain.services.board.parts import BoardMatrix
from quintain.services.board.ranking import Ranked, choices_of, rank
from quintain.stats.aggregate import AGGREGATIONS, pareto_front
from quintain.stats.sensitivity import LeaderRange, epsilon_range, leader_of, pool_effects, weight_ranges
from quintain.stats.utility import Choices, rank_models, ranks

MOST_IN_POOL = 200  # each model of the pool is one ranking more


def aggregations(matrix: BoardMatrix, view: BoardView | None = None) -> Aggregations:
    """Rank the board by every aggregation at the same weights, side by side."""
    ranked = rank(matrix, view)
    weights = ranked.ranking.weights
    scores = {"dynascore": ranked.ranking.dynascore}
    other = "mean" if ranked.ranking.rate == "median" else "median"
    by_other = rank_models(ranked.table, replace(choices_of(matrix, view or BoardView()), rate=other))
    scores[f"dynascore_{other}"] = by_other.dynascore
    scores |= {name: function(ranked.table, weights) for name, function in AGGREGATIONS.items()}
    places = {name: ranks(values) for name, values in scores.items()}
    front = pareto_front(ranked.table, weights)
    models = [
        AggregatedModel(
            matrix.models[row].ref,
            matrix.models[row].name,
            front[row],
            {name: Aggregate(values[row], places[name][row]) for name, values in scores.items()},
        )
        for row in ranked.order()
    ]
    return Aggregations(list(scores), models)


def sensitivity(matrix: BoardMatrix, view: BoardView | None = None) -> Sensitivity:
    """Return over what weights and ε the leader leads, and what taking one model away does to the others' scores."""
    chosen = view or BoardView()
    ranked = rank(matrix, chosen)
    leader = leader_of(ranked.table, ranked.ranking)
    if leader is None:
        return Sensitivity(None, {}, None, [])
    choices = choices_of(matrix, chosen)
    weights = weight_ranges(ranked.table, choices)
    return Sensitivity(
        leader,
        {name: _range(ranked.ranking.weights[name], found) for name, found in weights.items()},
        _range(ranked.ranking.epsilon, epsilon_range(ranked.table, choices)),
        _pool(ranked, choices_of(matrix, chosen)) if len(matrix.models) <= MOST_IN_POOL else [],
    )


def _range(value: float, bounds: LeaderRange) -> LeadRange:
    return LeadRange(value, bounds.low, bounds.high)


def _pool(ranked: Ranked, choices: Choices) -> list[PoolWithout]:
    effects = pool_effects(ranked.table, choices)
    return [
        PoolWithout(effect.model, effect.largest, effect.leader, effect.leader_changes, effect.changes)
        for effect in sorted(effects, key=lambda effect: -abs(effect.largest))
    ]
