"""How sure a board is: examples resampled for all models at once, and what that does to every score and rank.

Performance is resampled jointly: all models meet the same resample, and whole groups (contrast sets, prompts) are drawn
where the data have them. The other axes are drawn from their own intervals, each model apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from scipy.special import ndtri
from sqlalchemy.orm import Session

from quintain.core.hashing import content_id
from quintain.metrics.aligned import Aligned, align
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.services.board_cache import Warm
from quintain.services.board_rank import Ranked, choices_of, dataset_weights, rank
from quintain.services.board_types import Board, BoardDataset, View
from quintain.stats.bootstrap import FloatArray, IntArray, interval
from quintain.stats.joint import bootstrap_totals
from quintain.stats.ranking import RankUncertainty, bootstrap_dynascores, bootstrap_scores, rank_uncertainty
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries import results as cache
from quintain.tasks.contract import kind_of

FORMAT = 1
RESAMPLES = 1000
MANY_MODELS = 200  # from here on fewer resamples: the figure that counts is still there within a second or two
FEWER_RESAMPLES = 250
CONFIDENCE = 0.95
POWER = 0.8

_SAMPLES: Warm[FloatArray] = Warm(32)


@dataclass(frozen=True, slots=True)
class Pair:
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
        return _report(blobs, ranked)
    key = _key(ranked)
    known = cache.cached(db, [key])
    if key not in known:
        known[key] = _report(blobs, ranked)
        with transaction(db):
            cache.keep(db, known)
    return known[key]


def _key(ranked: Ranked) -> str:
    made = ranked.board
    values = np.where(np.isnan(ranked.table.values), -1.0, ranked.table.values).tolist()
    models = [[model.ref, [list(keys) for keys in model.predictions]] for model in made.models]
    datasets = [[one.hash, weight] for one, weight in zip(made.datasets, _weights(ranked), strict=True)]
    weights, epsilon = dict(ranked.ranking.weights), ranked.ranking.epsilon
    spread = [[figure and [figure.get("low"), figure.get("high")] for figure in one] for one in _figures(made)]
    return content_id(
        ["uncertainty", FORMAT, made.metric, made.part.tag, models, datasets, values, weights, epsilon, spread]
    )


def _figures(made: Board) -> list[Sequence[Any]]:
    return [model.values[axis.name] for model in made.models for axis in made.axes[1:]]


def _weights(ranked: Ranked) -> list[float]:
    weights = dataset_weights(ranked.board, ranked.view)
    return [weight / sum(weights) for weight in weights]


def _report(blobs: Blobs, ranked: Ranked) -> dict[str, Any]:
    made = ranked.board
    resamples = RESAMPLES if len(made.models) <= MANY_MODELS else FEWER_RESAMPLES
    samples = {"performance": _performance(blobs, ranked, resamples)}
    for axis in made.axes[1:]:
        if ranked.ranking.weights[axis.name] > 0:
            samples[axis.name] = _drawn(ranked, axis.name, resamples)
    drawn = bootstrap_dynascores(ranked.table, samples, choices_of(made, ranked.view))
    # Rounded, so that two equal models are never apart by an error of the arithmetic.
    drawn = np.round(drawn, 9)
    found = rank_uncertainty(drawn, ranked.ranking.dynascore, confidence=CONFIDENCE)
    scoring = [one for one, weight in zip(made.datasets, _weights(ranked), strict=True) if weight > 0]
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


def _pair(ranked: Ranked, drawn: FloatArray, found: RankUncertainty, pair: tuple[int, int], examples: int) -> Pair:
    first, second = pair
    scores = ranked.ranking.dynascore
    difference = (scores[first] or 0.0) - (scores[second] or 0.0)
    apart = drawn[:, first] - drawn[:, second]
    return Pair(
        ranked.board.models[first].ref,
        ranked.board.models[second].ref,
        round(float(found.above[first, second]), 4),
        (difference, *interval(apart, CONFIDENCE)),
        more_examples(difference, float(apart.std()), examples),
    )


def more_examples(difference: float, deviation: float, examples: int) -> int | None:
    """Say how many more examples would show *difference*, if it is the true one, with a chance of 80 %.

    *deviation* is that of the difference over resamples of *examples*; it shrinks with the root of their number. None
    where there is no difference to show.

    >>> more_examples(2.0, 1.0, 100)
    97
    """
    if difference == 0:
        return None
    reach = float(ndtri(1 - (1 - CONFIDENCE) / 2) + ndtri(POWER))
    needed = examples * (reach * deviation / difference) ** 2
    return max(0, int(np.ceil(min(needed, 1e12))) - examples)


def _drawn(ranked: Ranked, axis: str, resamples: int) -> FloatArray:
    """Draw an axis from the intervals of its figures: a normal error whose 95 % are what the interval spans."""
    made = ranked.board
    column = ranked.table.position(axis)
    values = ranked.table.values[:, column]
    halves = np.zeros((len(made.models), len(made.datasets)))
    for row, model in enumerate(made.models):
        for place, figure in enumerate(model.values[axis]):
            if figure is not None and figure.get("low") is not None and figure.get("high") is not None:
                halves[row, place] = (figure["high"] - figure["low"]) / 2
    deviation = np.sqrt(((halves * np.asarray(_weights(ranked))) ** 2).sum(axis=1)) / float(ndtri(0.975))
    rng = np.random.default_rng(int(content_id([axis, [dataset.hash for dataset in made.datasets]])[:8], 16))
    drawn = values + deviation * rng.standard_normal((resamples, len(values)))
    top = made.axes[column].cap if made.axes[column].cap is not None else 100.0 if axis != "throughput" else np.inf
    return np.asarray(np.clip(drawn, 0.0, top), dtype=np.float64)


def _performance(blobs: Blobs, ranked: Ranked, resamples: int) -> FloatArray:
    """Resample performance: the weighted mean over data sets of each model's resampled metric."""
    made = ranked.board
    total = np.zeros((resamples, len(made.models)))
    for place, (dataset, weight) in enumerate(zip(made.datasets, _weights(ranked), strict=True)):
        if weight > 0:
            total += weight * made.axes[0].scale * _on_dataset(blobs, made, dataset, place, resamples)
    return total


def _on_dataset(blobs: Blobs, made: Board, dataset: BoardDataset, place: int, resamples: int) -> FloatArray:
    """Give resamples × models on one data set; NaN for models without all of their predictions."""
    keys = [model.predictions[place] for model in made.models]
    there = [row for row, seeds in enumerate(keys) if all(seeds) and seeds]
    flat = [str(key) for row in there for key in keys[row]]
    samples = np.full((resamples, len(made.models)), np.nan)
    if not flat:
        return samples
    name = (dataset.hash, made.metric, made.part.tag, made.task.label_names, tuple(flat), resamples)
    drawn = _SAMPLES.get(name, lambda: _resample(blobs, made, dataset, flat, resamples))
    start = 0
    for row in there:
        samples[:, row] = drawn[:, start : start + len(keys[row])].mean(axis=1)
        start += len(keys[row])
    return samples


def _resample(blobs: Blobs, made: Board, dataset: BoardDataset, keys: Sequence[str], resamples: int) -> FloatArray:
    examples = pl.read_parquet(blobs.path(dataset.blob)).filter(pl.col("answer").is_not_null())
    if made.part.tag is not None:
        examples = examples.filter(pl.col("tags").list.contains(made.part.tag))
    groups: IntArray | None = None
    if examples["group"].null_count() < examples.height:
        groups = examples["group"].fill_null(examples["id"]).rank("dense").cast(pl.Int64).to_numpy() - 1
    seed = int(dataset.hash[:8], 16)
    metric = METRICS.get(made.metric)()
    aligned = (_aligned(blobs, made, examples, key) for key in keys)
    if isinstance(metric, MeanMetric):
        scores = np.column_stack([metric.scores(data) for data in aligned])
        return bootstrap_scores(scores, groups=groups, seed=seed, resamples=resamples)
    tallies = [metric.tally(data) for data in aligned]
    totals = bootstrap_totals(tallies, groups=groups, seed=seed, resamples=resamples)
    return np.column_stack([metric.value(one) for one in totals])


def _aligned(blobs: Blobs, made: Board, examples: pl.DataFrame, key: str) -> Aligned:
    predictions = pl.read_parquet(blobs.path(key))
    table = examples.select("id", "answer").join(predictions, on="id", how="left", maintain_order="left")
    probabilities = None
    if "probabilities" in METRICS.get(made.metric).needs:
        probabilities = table["probabilities"].struct.unnest()
    return align(
        kind_of(made.task).answer_type,
        table["answer"],
        table["prediction"],
        labels=made.task.label_names or None,
        probabilities=probabilities,
    )
