"""What a ranking owes to choices: other aggregations, other weights, another ε, another pool of models."""

from __future__ import annotations

from typing import Any

from quintain.services.board.parts import Board, View
from quintain.services.board.ranking import Ranked, choices_of, rank
from quintain.stats.aggregate import AGGREGATIONS, pareto_front
from quintain.stats.sensitivity import LeaderRange, epsilon_range, leader_of, pool_effects, weight_ranges
from quintain.stats.utility import Choices, ranks

MOST_IN_POOL = 200  # each model of the pool is one ranking more


def aggregations(made: Board, view: View | None = None) -> dict[str, Any]:
    """Rank the board by every aggregation at the same weights, side by side."""
    ranked = rank(made, view)
    weights = ranked.ranking.weights
    scores = {"dynascore": ranked.ranking.dynascore}
    scores |= {name: function(ranked.table, weights) for name, function in AGGREGATIONS.items()}
    places = {name: ranks(values) for name, values in scores.items()}
    front = pareto_front(ranked.table, weights)
    return {
        "aggregations": list(scores),
        "models": [
            {
                "model": made.models[row].ref,
                "name": made.models[row].name,
                "pareto": front[row],
                "aggregates": {
                    name: {"score": values[row], "rank": places[name][row]} for name, values in scores.items()
                },
            }
            for row in ranked.order()
        ],
    }


def sensitivity(made: Board, view: View | None = None) -> dict[str, Any]:
    """Say over what weights and ε the leader leads, and what taking one model away does to the others' scores."""
    chosen = view or View()
    ranked = rank(made, chosen)
    leader = leader_of(ranked.table, ranked.ranking)
    if leader is None:
        return {"leader": None, "weights": {}, "epsilon": None, "pool": []}
    choices = choices_of(made, chosen)
    weights = weight_ranges(ranked.table, choices)
    return {
        "leader": leader,
        "weights": {name: {"value": ranked.ranking.weights[name], **_range(found)} for name, found in weights.items()},
        "epsilon": {"value": ranked.ranking.epsilon, **_range(epsilon_range(ranked.table, choices))},
        "pool": _pool(ranked, choices_of(made, chosen)) if len(made.models) <= MOST_IN_POOL else [],
    }


def _range(found: LeaderRange) -> dict[str, float | None]:
    return {"low": found.low, "high": found.high}


def _pool(ranked: Ranked, choices: Choices) -> list[dict[str, Any]]:
    effects = pool_effects(ranked.table, choices)
    return [
        {
            "without": effect.model,
            "largest": effect.largest,
            "leader": effect.leader,
            "leader_changes": effect.leader_changes,
            "changes": dict(effect.changes),
        }
        for effect in sorted(effects, key=lambda effect: -abs(effect.largest))
    ]
