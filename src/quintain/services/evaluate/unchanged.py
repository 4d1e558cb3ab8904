"""How many answers stay the same when examples are perturbed: what robustness and fairness are."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.task import Task
from quintain.metrics.flips import Unchanged, kept_answers, unchanged_share
from quintain.perturbations.contract import PERTURBATIONS
from quintain.perturbations.tables import lineage
from quintain.services.evaluate.cells import VARIANT_ROWS
from quintain.services.evaluate.scoring import read_predictions
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.queries.evaluate.cells import CellRow
from quintain.tasks.contract import kind_of

DRAWN = "drawn"
BROKEN = "broken"  # stands for the predictions of a variant that the model broke
NOTHING_CHANGED: Mapping[str, Any] = {
    "share": {"value": None, "low": None, "high": None},
    "rows": 0,
    "examples": 0,
    "kinds": 0,
    "flips": 0,
    "families": {},
}


def share_of_cells(
    db: Session, blobs: Blobs, task: Task, plain: pl.DataFrame, members: Mapping[str, CellRow]
) -> dict[str, Any]:
    """Give the share of unchanged answers of the cells of a family, and the resampled shares under `DRAWN`."""
    table = pl.concat([flip_table(db, blobs, plain, row) for row in members.values()])
    if table.is_empty():
        return dict(NOTHING_CHANGED)
    found = _unchanged_share(task, table, perturbed_ids(plain))
    return _shape(found, table) | {DRAWN: base64.b64encode(found.drawn.astype("<f4").tobytes()).decode()}


def perturbed_ids(plain: pl.DataFrame) -> pl.Series:
    """Give the ids of the examples that perturbations are made of, from the answers to all examples."""
    return plain["id"].sort().head(VARIANT_ROWS)


def unchanged_figures(task: Task, table: pl.DataFrame, examples: pl.Series) -> dict[str, Any]:
    """Give the share of unchanged answers of a table with `parent`, `family`, `group`, `before` and `after`.

    *examples* are the ids of all that were perturbed: an answer to one that did not change is unchanged.
    """
    if table.is_empty():
        return dict(NOTHING_CHANGED)
    return _shape(_unchanged_share(task, table, examples), table)


def _shape(found: Unchanged, table: pl.DataFrame) -> dict[str, Any]:
    """Give the figures as plain data, with the perturbations on which the model broke its run."""
    broken = table.filter(BROKEN)["family"].unique().sort().to_list() if BROKEN in table.columns else []
    return found.as_dict() | {BROKEN: broken}


def _unchanged_share(task: Task, table: pl.DataFrame, examples: pl.Series) -> Unchanged:
    """Measure the share; the figure is of the paper's perturbations, and the others stand beside it."""
    same = kept_answers(kind_of(task).answer_type, table["before"], table["after"])
    if BROKEN in table.columns:
        same &= ~table[BROKEN].to_numpy()
    every = pl.DataFrame({"parent": examples}).join(table.select("family").unique(), how="cross")
    left = every.join(table, on=["parent", "family"], how="anti").sort("family", "parent")
    rows = pl.concat([table.select("parent", "family", "group"), left], how="diagonal")
    return unchanged_share(
        np.concatenate([same, np.ones(left.height, dtype=bool)]),
        rows["family"].to_list(),
        changed=np.arange(rows.height) < table.height,
        groups=rows["group"].to_list(),
        clusters=rows["parent"].rank("dense").cast(pl.Int64).to_numpy() - 1,
        beside=[name for name, member in PERTURBATIONS.items() if not member.in_paper],
    )


def flip_table(db: Session, blobs: Blobs, plain: pl.DataFrame, row: CellRow) -> pl.DataFrame:
    """Put the answers before and after a perturbation side by side, one row for each changed example."""
    name = row.cell.variant
    variant = cell_queries.variant(db, row.dataset_version.id, name)
    schema = {"id": pl.String, "parent": pl.String, "group": pl.String, "family": pl.String}
    if variant is None or variant.rows == 0:
        kept = plain.schema["prediction"]
        return pl.DataFrame(schema={**schema, "before": kept, "after": kept, BROKEN: pl.Boolean})
    table = pl.read_parquet(blobs.path(variant.blob), columns=["id", "meta"])
    said = read_predictions(blobs, row, ("id", "prediction")) if row.cell.predictions else None
    return side_by_side(name.rpartition(".v")[0], table, plain, said)


def side_by_side(
    family: str, changed: pl.DataFrame, plain: pl.DataFrame, perturbed: pl.DataFrame | None
) -> pl.DataFrame:
    """Join the *changed* examples of a perturbation with what was answered to them and to their parents.

    Where the model broke the run there is nothing *perturbed*: all of its rows are `broken`, which counts as changed.
    """
    origin = lineage(changed).select("parent", pl.col("group").cast(pl.String))
    named = changed.select("id").hstack(origin).with_columns(family=pl.lit(family))
    before = plain.select(pl.col("id").alias("parent"), pl.col("prediction").alias("before"))
    joined = named.join(before, on="parent", how="left", maintain_order="left")
    if perturbed is None:
        nothing = pl.lit(None, dtype=plain.schema["prediction"])
        return joined.with_columns(nothing.alias("after"), pl.lit(value=True).alias(BROKEN))
    after = perturbed.select("id", pl.col("prediction").alias("after"))
    answered = joined.join(after, on="id", how="left", maintain_order="left")
    return answered.with_columns(pl.lit(value=False).alias(BROKEN))
