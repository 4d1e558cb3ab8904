"""What a board's uncertainty is drawn from: every axis resampled as far as its examples are known.

Performance, robustness and fairness are resampled jointly: on one data set all models meet the same resamples, and
whole groups (contrast sets, prompts, an example with all of its perturbations) are drawn where the data have them. The
axes are drawn apart from each other. Throughput and memory were measured, not sampled, and vMER rests on items that
differ from model to model: those are drawn from their own intervals, each model apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy
from sqlalchemy.orm import Session

from quintain.core.hashing import content_id
from quintain.core.records.figures import Figure
from quintain.metrics.aligned import Aligned, align
from quintain.metrics.contract import METRICS, MeanMetric
from quintain.services.board.parts import BoardMatrix, MatrixDataset
from quintain.services.board.ranking import Ranked
from quintain.services.data.label_shares import label_shares
from quintain.services.evaluate.results.compute import read_draws
from quintain.services.jobs.figures import ReportProgress
from quintain.services.jobs.memory import WarmValues
from quintain.stats.bootstrap import FloatArray, IntArray, Tally, resample_weights
from quintain.stats.joint import bootstrap_totals, by_unit, units_of
from quintain.stats.posterior import is_constant, is_few, posterior_totals
from quintain.stats.ranking import bootstrap_scores
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of

AT_ONCE = 10_000_000  # answers of all models to a data set that are resampled together; of more, a part is drawn
READ = ("id", "answer", "tags", "group", "meta")
LEAST_UNITS = 2_000  # that are drawn from in any case


@dataclass(frozen=True, slots=True)
class Drawn:
    """Resamples × files of predictions, from *examples* of a data set that has *known* of them."""

    values: FloatArray
    examples: int
    known: int

    @property
    def shrunk(self) -> float:
        """What errors on the examples used are to those on all: they shrink with the root of the number."""
        return float(np.sqrt(self.examples / self.known))


class DrawnSamples(WarmValues[Drawn]):
    """The resampled figures of data sets that were used last, for as long as the workspace is open."""

    def __init__(self) -> None:
        super().__init__(32)


def draw_axes(
    db: Session, blobs: Blobs, ranked: Ranked, resamples: int, tell: ReportProgress | None = None
) -> tuple[dict[str, FloatArray], int]:
    """Draw every axis that has a weight, and performance: resamples × models. Give them, and the examples used."""
    samples, used = {}, 0
    for axis in ranked.board.axes:
        if axis.name == "performance" and not axis.pooled:
            samples[axis.name], used = _performance(blobs, ranked, resamples, tell)
        elif axis.name == "performance" or ranked.ranking.weights[axis.name] > 0:
            samples[axis.name] = _shares(db, ranked, axis.name, resamples)
    return samples, used


def _shares(db: Session, ranked: Ranked, axis: str, resamples: int) -> FloatArray:
    """Take the resamples that were kept with a share; a row without all of its own is drawn from its intervals."""
    drawn = _from_intervals(ranked, axis, resamples)
    scoring = [(place, weight) for place, weight in enumerate(ranked.shares(axis)) if weight > 0]
    cells_by_row = {
        row: [(weight, model.draws[axis][place]) for place, weight in scoring]
        for row, model in enumerate(ranked.board.models)
        if axis in model.draws and not np.isnan(ranked.table.values[row, ranked.table.position(axis)])
    }
    draws_by_key = read_draws(db, [key for cells in cells_by_row.values() for _, keys in cells for key in keys if key])
    scale = ranked.board.axes[ranked.table.position(axis)].scale
    for row, cells in cells_by_row.items():
        if all(key in draws_by_key and len(draws_by_key[key]) >= resamples for _, keys in cells for key in keys):
            means = [
                weight * np.mean([draws_by_key[str(key)][:resamples] for key in keys], axis=0) for weight, keys in cells
            ]
            drawn[:, row] = scale * np.sum(means, axis=0)
    return drawn


def _from_intervals(ranked: Ranked, axis: str, resamples: int) -> FloatArray:
    """Draw an axis from the intervals of its figures: a normal error whose 95 % are what the interval spans."""
    matrix = ranked.board
    column = ranked.table.position(axis)
    values = ranked.table.values[:, column]
    halves = np.array([_half_width(ranked, row, axis) for row in range(len(matrix.models))])
    rng = np.random.default_rng(int(content_id([axis, [dataset.hash for dataset in matrix.datasets]])[:8], 16))
    drawn = values + halves / float(scipy.special.ndtri(0.975)) * rng.standard_normal((resamples, len(values)))
    top = matrix.axes[column].cap if matrix.axes[column].cap is not None else 100.0 if axis != "throughput" else np.inf
    return np.asarray(np.clip(drawn, 0.0, top), dtype=np.float64)


def _half_width(ranked: Ranked, row: int, axis: str) -> float:
    """Return half of what the interval of a row spans: over data sets the halves add up as independent errors do."""
    model = ranked.board.models[row]
    if ranked.board.axes[ranked.table.position(axis)].pooled:
        return _half(model.pooled.get(axis))
    halves = np.array([_half(figure) for figure in model.values[axis]])
    return float(np.sqrt(((halves * np.asarray(ranked.shares(axis))) ** 2).sum()))


def _half(figure: Figure | None) -> float:
    if figure is None or figure.low is None or figure.high is None:
        return 0.0
    return float(figure.high - figure.low) / 2


def _performance(blobs: Blobs, ranked: Ranked, resamples: int, tell: ReportProgress | None) -> tuple[FloatArray, int]:
    """Resample performance: the weighted mean over data sets of each model's resampled metric."""
    matrix, used = ranked.board, 0
    total = np.zeros((resamples, len(matrix.models)))
    shares = ranked.shares("performance")
    scoring = [place for place, weight in enumerate(shares) if weight > 0]
    for number, index in enumerate(scoring):
        tell_part = None if tell is None else _part_of(tell, number, len(scoring))
        drawn, examples = _on_dataset(blobs, matrix, matrix.datasets[index], index, resamples, tell=tell_part)
        total += shares[index] * matrix.axes[0].scale * drawn
        used += examples
    return total, used


def _part_of(tell: ReportProgress, number: int, parts: int) -> ReportProgress:
    """Tell how far one of several equal parts is."""
    return lambda done, total: tell(number * total + done, parts * total)


def _on_dataset(
    blobs: Blobs,
    matrix: BoardMatrix,
    dataset: MatrixDataset,
    index: int,
    resamples: int,
    *,
    tell: ReportProgress | None,
) -> tuple[FloatArray, int]:
    """Return resamples × models on one data set, and the examples used; NaN for models without all predictions.

    Models that answer alike share a file, which is read once. Where a part of the examples was drawn from, the figure
    on all of them stays where it is and the errors are those of so many.
    """
    keys = [model.predictions[index] for model in matrix.models]
    complete_rows = [row for row, seeds in enumerate(keys) if all(seeds) and seeds]
    columns: dict[str, int] = {}
    for row in complete_rows:
        for key in keys[row]:
            columns.setdefault(str(key), len(columns))
    samples = np.full((resamples, len(matrix.models)), np.nan)
    if not columns:
        return samples, 0
    name = (
        dataset.hash,
        matrix.metric,
        matrix.part.tag,
        matrix.task.label_names,
        matrix.task.language,
        tuple(columns),
        resamples,
    )
    drawn = blobs.state.part(DrawnSamples).get(
        name, lambda: _resample(blobs, matrix, dataset, list(columns), resamples, tell=tell)
    )
    for row in complete_rows:
        mean = drawn.values[:, [columns[str(key)] for key in keys[row]]].mean(axis=1)
        if drawn.examples < drawn.known:
            figure = matrix.models[row].values["performance"][index]
            whole = mean.mean() if figure is None else figure.value / matrix.axes[0].scale
            mean = whole + drawn.shrunk * (mean - mean.mean())
        samples[:, row] = mean
    return samples, drawn.examples


def _resample(
    blobs: Blobs,
    matrix: BoardMatrix,
    dataset: MatrixDataset,
    keys: Sequence[str],
    resamples: int,
    *,
    tell: ReportProgress | None,
) -> Drawn:
    examples = pl.read_parquet(blobs.path(dataset.blob), columns=list(READ)).filter(pl.col("answer").is_not_null())
    if matrix.part.tag is not None:
        examples = examples.filter(pl.col("tags").list.contains(matrix.part.tag))
    groups: IntArray | None = None
    if examples["group"].null_count() < examples.height:
        groups = examples["group"].fill_null(examples["id"]).rank("dense").cast(pl.Int64).to_numpy() - 1
    seed = int(dataset.hash[:8], 16)
    metric = METRICS.get(matrix.metric)()
    if examples.height * len(keys) > AT_ONCE:
        return _streamed(blobs, matrix, examples, groups, keys, resamples=resamples, seed=seed, tell=tell)

    def tallies() -> list[Tally]:
        return [metric.tally(_aligned(blobs, matrix, examples, key)) for key in keys]

    def by_bootstrap() -> FloatArray:
        if isinstance(metric, MeanMetric):
            scores = [metric.scores(_aligned(blobs, matrix, examples, key)) for key in keys]
            return bootstrap_scores(np.column_stack(scores), groups=groups, seed=seed, resamples=resamples)
        totals = bootstrap_totals(tallies(), groups=groups, seed=seed, resamples=resamples)
        return np.column_stack([metric.value(total) for total in totals])

    drawn = None if is_few(examples.height, groups) else by_bootstrap()
    height = examples.height
    if drawn is not None and not any(is_constant(column) for column in drawn.T):
        return Drawn(drawn, height, height)
    by_model = tallies()
    if any(tally.prior is None for tally in by_model):
        return Drawn(by_bootstrap() if drawn is None else drawn, height, height)
    # A model that made no error, or few examples, say too little for a bootstrap: all are drawn from the posterior.
    totals = posterior_totals(by_model, groups=groups, seed=seed, resamples=resamples)
    return Drawn(np.column_stack([metric.value(total) for total in totals]), height, height)


def _streamed(
    blobs: Blobs,
    matrix: BoardMatrix,
    examples: pl.DataFrame,
    groups: IntArray | None,
    keys: Sequence[str],
    *,
    resamples: int,
    seed: int,
    tell: ReportProgress | None,
) -> Drawn:
    """Resample one file after the other, so that memory does not grow with their number.

    Of the examples so many are drawn as there is time for: whole groups, by the seed. Means are added up as means.
    """
    units, number = units_of(examples.height, groups)
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(number)[: max(LEAST_UNITS, int(AT_ONCE * number / (examples.height * len(keys))))])
    in_sample = np.isin(units, chosen)
    part, places = examples.filter(pl.Series(in_sample)), np.searchsorted(chosen, units[in_sample])
    weights = np.empty((resamples, len(chosen)), dtype=np.float32)
    start = 0
    for block in resample_weights(len(chosen), resamples, rng):
        weights[start : start + len(block)] = block
        start += len(block)
    metric = METRICS.get(matrix.metric)()
    values = np.empty((resamples, len(keys)))
    for number_of, key in enumerate(keys):
        if tell is not None:
            tell(number_of, len(keys))
        aligned = _aligned(blobs, matrix, part, key)
        tally = Tally.of_scores(metric.scores(aligned)) if isinstance(metric, MeanMetric) else metric.tally(aligned)
        rows = by_unit(tally, places, len(chosen))
        dense = np.asarray(rows.toarray() if scipy.sparse.issparse(rows) else rows, dtype=np.float32)
        totals = np.asarray(weights @ dense, dtype=np.float64)
        values[:, number_of] = totals[:, 0] / totals[:, 1] if isinstance(metric, MeanMetric) else metric.value(totals)
    return Drawn(np.round(values, 9), part.height, examples.height)


def _aligned(blobs: Blobs, matrix: BoardMatrix, examples: pl.DataFrame, key: str) -> Aligned:
    columns = ["id", "prediction", *(["probabilities"] if "probabilities" in METRICS.get(matrix.metric).needs else [])]
    predictions = pl.read_parquet(blobs.path(key), columns=columns)
    table = examples.select("id", "answer").join(predictions, on="id", how="left", maintain_order="left")
    groups = examples["group"].fill_null(examples["id"]) if examples["group"].null_count() < examples.height else None
    probabilities = None
    if "probabilities" in METRICS.get(matrix.metric).needs:
        probabilities = table["probabilities"].struct.unnest()
    return align(
        kind_of(matrix.task).answer_type,
        table["answer"],
        table["prediction"],
        labels=matrix.task.label_names or None,
        probabilities=probabilities,
        distributions=label_shares(matrix.task, [matrix.metric], examples["meta"]),
        groups=groups,
        language=matrix.task.language,
    )
