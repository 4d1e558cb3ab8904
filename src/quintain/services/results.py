"""From stored predictions to figures: performance, throughput, memory, robustness, fairness.

Metrics are pure functions of predictions and gold answers, so a new metric needs no new run. What was computed once is
cached under a hash of everything that went in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.hashing import content_id
from quintain.core.task import Task
from quintain.metrics.contract import METRICS
from quintain.metrics.evaluate import evaluate_metrics
from quintain.metrics.flips import same_answers, unchanged_share
from quintain.perturb.contract import Family, perturbation
from quintain.perturb.tables import lineage
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries import cells as cell_queries
from quintain.store.queries import results as cache
from quintain.store.queries.cells import MEASURE, PLAIN, CellRow
from quintain.tasks.contract import kind_of

FORMAT = 2  # goes up when the shape or the meaning of a cached value changes
MOST_TAGS = 40


@dataclass(frozen=True, slots=True)
class DatasetResult:
    """What is known of one model version on one data set version. Rates are fractions, memory is in GiB."""

    model_version_id: int
    dataset_version_id: int
    dataset: str
    number: int
    role: str
    rows: int
    metrics: Mapping[str, Any] = field(default_factory=dict)
    slices: Sequence[Mapping[str, Any]] = ()
    measurements: Mapping[str, Any] = field(default_factory=dict)
    robustness: Mapping[str, Any] | None = None
    fairness: Mapping[str, Any] | None = None
    states: Mapping[str, str] = field(default_factory=dict)
    cells: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        return {
            "dataset": f"{self.dataset}@{self.number}",
            "role": self.role,
            "rows": self.rows,
            "metrics": dict(self.metrics),
            "slices": [dict(part) for part in self.slices],
            "measurements": dict(self.measurements),
            "robustness": self.robustness,
            "fairness": self.fairness,
            "states": dict(self.states),
            "cells": dict(self.cells),
        }


def results(db: Session, blobs: Blobs, task: Task, *, model_version_id: int | None = None) -> list[DatasetResult]:
    """Give the results of every model version of *task*, or of one, on every data set that it has cells for."""
    rows = cell_queries.rows(db, task=task.name, model_version_id=model_version_id)
    grouped: dict[tuple[int, int], list[CellRow]] = {}
    for row in rows:
        grouped.setdefault((row.model_version.id, row.dataset_version.id), []).append(row)
    wanted = {pair: _keys(task, group) for pair, group in grouped.items()}
    known = cache.cached(db, [key for keys in wanted.values() for key in keys.values()])
    fresh: dict[str, dict[str, Any]] = {}
    found = []
    for pair, group in grouped.items():
        figures: dict[str, Any] = {}
        for part, key in wanted[pair].items():
            if key not in known:
                known[key] = fresh[key] = _compute(db, blobs, task, group, part)
            figures[part] = known[key]
        found.append(_result(group, figures))
    if fresh:
        with transaction(db):
            cache.keep(db, fresh)
    return found


def _result(group: Sequence[CellRow], figures: Mapping[str, Any]) -> DatasetResult:
    first = group[0]
    measured = next((row.cell.measurements for row in group if row.cell.variant == MEASURE), {})
    return DatasetResult(
        model_version_id=first.model_version.id,
        dataset_version_id=first.dataset_version.id,
        dataset=first.dataset.name,
        number=first.dataset_version.number,
        role=first.dataset_version.role,
        rows=first.dataset_version.rows,
        metrics=figures.get(PLAIN, {}).get("metrics", {}),
        slices=figures.get(PLAIN, {}).get("slices", ()),
        measurements=measured or {},
        robustness=figures.get("robustness"),
        fairness=figures.get("fairness"),
        states={row.cell.variant: row.cell.state for row in group},
        cells={row.cell.variant: row.cell.id for row in group},
    )


def _keys(task: Task, group: Sequence[CellRow]) -> dict[str, str]:
    """Name what can be computed of these cells by hashes of all that goes into it."""
    done = {row.cell.variant: row.cell.predictions for row in group if row.cell.predictions}
    if PLAIN not in done:
        return {}
    base = [FORMAT, group[0].dataset_version.hash, done[PLAIN]]
    keys = {PLAIN: content_id([*base, list(metric_names(task)), list(task.label_names)])}
    for family in ("robustness", "fairness"):
        members = sorted((name, key) for name, key in done.items() if family_of(name) == family)
        if members:
            keys[family] = content_id([*base, family, [list(member) for member in members]])
    return keys


def metric_names(task: Task) -> tuple[str, ...]:
    """List the metrics that are computed for *task*: its own, as far as they come from predictions."""
    return tuple(name for name in task.metrics if name in METRICS)


def family_of(variant: str) -> Family | None:
    """Say to which family a variant belongs; None for the plain one and the measurement."""
    return None if variant in {PLAIN, MEASURE} else perturbation(variant.rpartition(".v")[0]).family


def _compute(db: Session, blobs: Blobs, task: Task, group: Sequence[CellRow], part: str) -> dict[str, Any]:
    cells = {row.cell.variant: row for row in group if row.cell.predictions}
    plain = read_predictions(blobs, cells[PLAIN])
    if part == PLAIN:
        return score_table(task, pl.read_parquet(blobs.path(group[0].dataset_version.blob)), plain)
    members = {name: row for name, row in cells.items() if family_of(name) == part}
    return _unchanged(db, blobs, task, plain, members)


def read_predictions(blobs: Blobs, row: CellRow) -> pl.DataFrame:
    """Read the predictions of a cell that is done."""
    return pl.read_parquet(blobs.path(str(row.cell.predictions)))


def score_table(task: Task, examples: pl.DataFrame, predictions: pl.DataFrame) -> dict[str, Any]:
    """Score *predictions* against the gold answers of *examples*, overall and by tag."""
    table = examples.filter(pl.col("answer").is_not_null()).join(
        predictions, on="id", how="left", maintain_order="left"
    )
    if table.is_empty():
        return {"metrics": {}, "slices": [], "examples": 0}
    beside: dict[str, Any] = {}
    if "probabilities" in table.columns and table["probabilities"].null_count() == 0:
        beside["probabilities"] = table["probabilities"].struct.unnest()
    if table["group"].null_count() < table.height:
        beside["groups"] = table["group"].fill_null(table["id"])
    common = table["tags"].explode().drop_nulls().value_counts(sort=True).head(MOST_TAGS).get_column("tags").to_list()
    tags = table.select(pl.col("tags").list.filter(pl.element().is_in(common))).to_series() if common else None
    by = {"tag": tags} if tags is not None else None
    found = evaluate_metrics(task, table["answer"], table["prediction"], metric_names(task), by=by, **beside)
    return found.as_dict()


def _unchanged(
    db: Session, blobs: Blobs, task: Task, plain: pl.DataFrame, members: Mapping[str, CellRow]
) -> dict[str, Any]:
    parts = [flip_table(db, blobs, plain, row) for row in members.values()]
    table = pl.concat(parts)
    if table.is_empty():
        return {"share": {"value": None, "low": None, "high": None}, "rows": 0, "flips": 0, "families": {}}
    same = same_answers(kind_of(task).answer_type, table["before"], table["after"])
    clusters = table["parent"].rank("dense").cast(pl.Int64).to_numpy() - 1
    share = unchanged_share(same, table["family"].to_list(), groups=table["group"].to_list(), clusters=clusters)
    return share.as_dict()


def flip_table(db: Session, blobs: Blobs, plain: pl.DataFrame, row: CellRow) -> pl.DataFrame:
    """Put the answers before and after a perturbation side by side, one row for each changed example."""
    name = row.cell.variant
    variant = cell_queries.variant(db, row.dataset_version.id, name)
    schema = {"id": pl.String, "parent": pl.String, "group": pl.String, "family": pl.String}
    if variant is None or variant.rows == 0:
        kept = plain.schema["prediction"]
        return pl.DataFrame(schema={**schema, "before": kept, "after": kept})
    table = pl.read_parquet(blobs.path(variant.blob))
    origin = lineage(table).select("parent", pl.col("group").cast(pl.String))
    named = table.select("id").hstack(origin).with_columns(family=pl.lit(name.rpartition(".v")[0]))
    before = plain.select(pl.col("id").alias("parent"), pl.col("prediction").alias("before"))
    after = read_predictions(blobs, row).select("id", pl.col("prediction").alias("after"))
    return named.join(before, on="parent", how="left").join(after, on="id", how="left")
