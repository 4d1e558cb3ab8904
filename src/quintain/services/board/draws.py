"""What a board's uncertainty is drawn from: every axis resampled as far as its examples are known.

Performance, robustness and fairness are resampled jointly: on one data set all models meet the same resamples, and
whole groups (contrast sets, prompts, an example with all of its perturbations) are drawn where the data have them. The
axes are drawn apart from each other. Throughput and memory were measured, not sampled, and vMER rests on items that
differ from model to model: those are drawn from their own intervals, each model apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import scipy
from sqlalchemy.orm import Session

from quintain.core.hashing import content_id
from quintain.metrics.aligned import Aligned, align
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.services.board.cache import WarmValues
from quintain.services.board.parts import Board, BoardDataset, Figure
from quintain.services.board.ranking import Ranked, dataset_weights
from quintain.services.data.label_shares import label_shares
from quintain.services.evaluate.results import read_draws
from quintain.stats.bootstrap import FloatArray, IntArray, Tally
from quintain.stats.joint import bootstrap_totals
from quintain.stats.posterior import is_constant, is_few, posterior_totals
from quintain.stats.ranking import bootstrap_scores
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of

_SAMPLES: WarmValues[FloatArray] = WarmValues(32)


def draw_axes(db: Session, blobs: Blobs, ranked: Ranked, resamples: int) -> dict[str, FloatArray]:
    """Draw every axis that has a weight, and performance: resamples × models."""
    samples = {}
    for axis in ranked.board.axes:
        if axis.name == "performance" and not axis.pooled:
            samples[axis.name] = _performance(blobs, ranked, resamples)
        elif axis.name == "performance" or ranked.ranking.weights[axis.name] > 0:
            samples[axis.name] = _shares(db, ranked, axis.name, resamples)
    return samples


def shares_of(ranked: Ranked) -> list[float]:
    """Give the weights of the data sets, which add up to one; all 0 where none scores."""
    weights = dataset_weights(ranked.board, ranked.view)
    return [weight / (sum(weights) or 1.0) for weight in weights]


def _shares(db: Session, ranked: Ranked, axis: str, resamples: int) -> FloatArray:
    """Take the resamples that were kept with a share; a row without all of its own is drawn from its intervals."""
    drawn = _from_intervals(ranked, axis, resamples)
    scoring = [(place, weight) for place, weight in enumerate(shares_of(ranked)) if weight > 0]
    wanted = {
        row: [(weight, model.draws[axis][place]) for place, weight in scoring]
        for row, model in enumerate(ranked.board.models)
        if axis in model.draws and not np.isnan(ranked.table.values[row, ranked.table.position(axis)])
    }
    kept = read_draws(db, [key for cells in wanted.values() for _, keys in cells for key in keys if key])
    scale = ranked.board.axes[ranked.table.position(axis)].scale
    for row, cells in wanted.items():
        if all(key in kept and len(kept[key]) >= resamples for _, keys in cells for key in keys):
            means = [weight * np.mean([kept[str(key)][:resamples] for key in keys], axis=0) for weight, keys in cells]
            drawn[:, row] = scale * np.sum(means, axis=0)
    return drawn


def _from_intervals(ranked: Ranked, axis: str, resamples: int) -> FloatArray:
    """Draw an axis from the intervals of its figures: a normal error whose 95 % are what the interval spans."""
    made = ranked.board
    column = ranked.table.position(axis)
    values = ranked.table.values[:, column]
    halves = np.array([_half_width(ranked, row, axis) for row in range(len(made.models))])
    rng = np.random.default_rng(int(content_id([axis, [dataset.hash for dataset in made.datasets]])[:8], 16))
    drawn = values + halves / float(scipy.special.ndtri(0.975)) * rng.standard_normal((resamples, len(values)))
    top = made.axes[column].cap if made.axes[column].cap is not None else 100.0 if axis != "throughput" else np.inf
    return np.asarray(np.clip(drawn, 0.0, top), dtype=np.float64)


def _half_width(ranked: Ranked, row: int, axis: str) -> float:
    """Give half of what the interval of a row spans: over data sets the halves add up as independent errors do."""
    model = ranked.board.models[row]
    if ranked.board.axes[ranked.table.position(axis)].pooled:
        return _half(model.pooled.get(axis))
    halves = np.array([_half(figure) for figure in model.values[axis]])
    return float(np.sqrt(((halves * np.asarray(shares_of(ranked))) ** 2).sum()))


def _half(figure: Figure | None) -> float:
    if figure is None or figure.get("low") is None or figure.get("high") is None:
        return 0.0
    return float(figure["high"] - figure["low"]) / 2


def _performance(blobs: Blobs, ranked: Ranked, resamples: int) -> FloatArray:
    """Resample performance: the weighted mean over data sets of each model's resampled metric."""
    made = ranked.board
    total = np.zeros((resamples, len(made.models)))
    for place, (dataset, weight) in enumerate(zip(made.datasets, shares_of(ranked), strict=True)):
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

    def tallies() -> list[Tally]:
        return [metric.tally(_aligned(blobs, made, examples, key)) for key in keys]

    def by_bootstrap() -> FloatArray:
        if isinstance(metric, MeanMetric):
            scores = [metric.scores(_aligned(blobs, made, examples, key)) for key in keys]
            return bootstrap_scores(np.column_stack(scores), groups=groups, seed=seed, resamples=resamples)
        totals = bootstrap_totals(tallies(), groups=groups, seed=seed, resamples=resamples)
        return np.column_stack([metric.value(one) for one in totals])

    drawn = None if is_few(examples.height, groups) else by_bootstrap()
    if drawn is not None and not any(is_constant(column) for column in drawn.T):
        return drawn
    found = tallies()
    if any(tally.prior is None for tally in found):
        return by_bootstrap() if drawn is None else drawn
    # A model that made no error, or few examples, say too little for a bootstrap: all are drawn from the posterior.
    totals = posterior_totals(found, groups=groups, seed=seed, resamples=resamples)
    return np.column_stack([metric.value(one) for one in totals])


def _aligned(blobs: Blobs, made: Board, examples: pl.DataFrame, key: str) -> Aligned:
    predictions = pl.read_parquet(blobs.path(key))
    table = examples.select("id", "answer").join(predictions, on="id", how="left", maintain_order="left")
    groups = examples["group"].fill_null(examples["id"]) if examples["group"].null_count() < examples.height else None
    probabilities = None
    if "probabilities" in METRICS.get(made.metric).needs:
        probabilities = table["probabilities"].struct.unnest()
    return align(
        kind_of(made.task).answer_type,
        table["answer"],
        table["prediction"],
        labels=made.task.label_names or None,
        probabilities=probabilities,
        distributions=label_shares(made.task, [made.metric], examples["meta"]),
        groups=groups,
    )
