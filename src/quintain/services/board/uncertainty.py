"""How sure a board is: examples resampled for all models at once, and what that does to every score and rank.

What is drawn is said in `board_draws`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from sqlalchemy.orm import Session

from quintain.core.hashing import content_id
from quintain.services.board.draws import draw_axes, shares_of
from quintain.services.board.parts import Board, View
from quintain.services.board.ranking import Ranked, choices_of, rank
from quintain.stats.bootstrap import FloatArray, interval
from quintain.stats.ranking import RankUncertainty, bootstrap_dynascores, rank_uncertainty
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import results as cache

FORMAT = 3
RESAMPLES = 1000
MANY_MODELS = 200  # from here on fewer resamples: the figure that counts is still there within a second or two
FEWER_RESAMPLES = 250
CONFIDENCE = 0.95
POWER = 0.8
MOST_TIMES = 1000


@dataclass(frozen=True, slots=True)
class NeighbourPair:
    """Two neighbours in the ranking: how sure their order is, and how many more examples would settle it."""

    first: str
    second: str
    probability: float
    difference: tuple[float, float | None, float | None]
    more: int | None

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        value, low, high = self.difference
        return {
            "first": self.first,
            "second": self.second,
            "probability": self.probability,
            "difference": {"value": value, "low": low, "high": high},
            "more": self.more,
        }


def uncertainty(db: Session, blobs: Blobs, made: Board, view: View | None = None) -> dict[str, Any]:
    """Say how sure the ranking of *made* by *view* is. The owner's default view is remembered."""
    chosen = view or View()
    ranked = rank(made, chosen)
    if not any(ranked.ranking.rank):
        return {"examples": 0, "resamples": 0, "models": [], "above": [], "pairs": []}
    if chosen.as_dict() or len(made.models) > MANY_MODELS:
        return _report(db, blobs, ranked)
    key = _key(ranked)
    known = cache.cached(db, [key])
    if key not in known:
        known[key] = _report(db, blobs, ranked)
        with transaction(db):
            cache.keep(db, known)
    return known[key]


def _key(ranked: Ranked) -> str:
    made = ranked.board
    values = np.where(np.isnan(ranked.table.values), -1.0, ranked.table.values).tolist()
    draws = [{axis: [list(keys) for keys in cells] for axis, cells in model.draws.items()} for model in made.models]
    models = [[model.ref, [list(keys) for keys in model.predictions]] for model in made.models]
    datasets = [[one.hash, weight] for one, weight in zip(made.datasets, shares_of(ranked), strict=True)]
    weights, epsilon = dict(ranked.ranking.weights), ranked.ranking.epsilon
    spread = [[figure and [figure.get("low"), figure.get("high")] for figure in one] for one in _figures(made)]
    return content_id(
        ["uncertainty", FORMAT, made.metric, made.part.tag, models, draws, datasets, values, weights, epsilon, spread]
    )


def _figures(made: Board) -> list[Sequence[Any]]:
    return [
        [model.pooled.get(axis.name)] if axis.pooled else model.values[axis.name]
        for model in made.models
        for axis in made.axes
    ]


def _report(db: Session, blobs: Blobs, ranked: Ranked) -> dict[str, Any]:
    made = ranked.board
    resamples = RESAMPLES if len(made.models) <= MANY_MODELS else FEWER_RESAMPLES
    samples = draw_axes(db, blobs, ranked, resamples)
    drawn = bootstrap_dynascores(ranked.table, samples, choices_of(made, ranked.view))
    # Rounded, so that two equal models are never apart by an error of the arithmetic.
    drawn = np.round(drawn, 9)
    found = rank_uncertainty(drawn, ranked.ranking.dynascore, confidence=CONFIDENCE)
    scoring = [one for one, weight in zip(made.datasets, shares_of(ranked), strict=True) if weight > 0]
    examples = sum(dataset.rows for dataset in scoring)
    order = [row for row in ranked.order() if ranked.ranking.rank[row] is not None]
    pairs = [_pair(ranked, drawn, found, pair, examples) for pair in pairwise(order)]
    return {
        "examples": examples,
        "resamples": resamples,
        "models": [_model(ranked, drawn, found, row) for row in order],
        "above": [[round(float(found.above[first, second]), 4) for second in order] for first in order],
        "pairs": [pair.as_dict() for pair in pairs],
    }


def _model(ranked: Ranked, drawn: FloatArray, found: RankUncertainty, row: int) -> dict[str, Any]:
    low, high = interval(drawn[:, row], CONFIDENCE)
    return {
        "model": ranked.board.models[row].ref,
        "rank": {"value": ranked.ranking.rank[row], "low": found.low[row], "high": found.high[row]},
        "dynascore": {"value": ranked.ranking.dynascore[row], "low": low, "high": high},
        "group": found.groups[row],
    }


def _pair(
    ranked: Ranked, drawn: FloatArray, found: RankUncertainty, pair: tuple[int, int], examples: int
) -> NeighbourPair:
    first, second = pair
    scores = ranked.ranking.dynascore
    difference = (scores[first] or 0.0) - (scores[second] or 0.0)
    apart = drawn[:, first] - drawn[:, second]
    probability = round(float(found.above[first, second]), 4)
    return NeighbourPair(
        ranked.board.models[first].ref,
        ranked.board.models[second].ref,
        probability,
        (difference, *interval(apart, CONFIDENCE)),
        more_examples(probability, examples) if difference else None,
    )


def more_examples(probability: float, examples: int) -> int | None:
    """Say how many more examples would show the order of two models, if it is the true one, with a chance of 80 %.

    *probability* is how often that order came out over resamples of *examples*: so many deviations their difference is
    above none, and that grows with the root of the number of examples. Nothing is left to settle where the order
    is sure already, as it is for groups of ties. None where it came out no more often than the opposite, or would need
    more than a thousand times as many.

    >>> more_examples(0.9, 100), more_examples(0.98, 100), more_examples(0.5, 100)
    (378, 0, None)
    """
    sure = 1 - (1 - CONFIDENCE) / 2
    if probability >= sure:
        return 0
    if probability <= 0.5:
        return None
    reach, there = scipy.special.ndtri([sure, POWER]).sum(), scipy.special.ndtri(probability)
    needed = float(reach / there) ** 2
    return int(np.ceil(examples * (needed - 1))) if needed <= MOST_TIMES else None
