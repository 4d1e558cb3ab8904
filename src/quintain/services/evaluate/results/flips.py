"""The answers of a model that perturbations changed, from the cells that hold them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.task import Task
from quintain.services.evaluate.results.stored_predictions import read_predictions
from quintain.services.evaluate.results.unchanged import (
    BROKEN,
    NOTHING_CHANGED,
    measure_unchanged,
    perturbed_ids,
    side_by_side,
    unchanged_shape,
)
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.queries.evaluate.cells import CellRow

DRAWN = "drawn"


def share_of_cells(
    db: Session, blobs: Blobs, task: Task, plain: pl.DataFrame, members: Mapping[str, CellRow]
) -> dict[str, Any]:
    """Return the share of unchanged answers of the cells of a family, and the resampled shares under `DRAWN`."""
    table = pl.concat([flip_table(db, blobs, plain, row) for row in members.values()])
    if table.is_empty():
        return dict(NOTHING_CHANGED)
    unchanged = measure_unchanged(task, table, perturbed_ids(plain))
    return unchanged_shape(unchanged, table) | {
        DRAWN: base64.b64encode(unchanged.drawn.astype("<f4").tobytes()).decode()
    }


def flip_table(db: Session, blobs: Blobs, plain: pl.DataFrame, row: CellRow) -> pl.DataFrame:
    """Put the answers before and after a perturbation side by side, one row for each changed example."""
    name = row.cell.variant
    variant = cell_queries.variant(db, row.dataset_version.id, name)
    schema = {"id": pl.String, "parent": pl.String, "group": pl.String, "family": pl.String}
    if variant is None or variant.rows == 0:
        answer_type = plain.schema["prediction"]
        return pl.DataFrame(schema={**schema, "before": answer_type, "after": answer_type, BROKEN: pl.Boolean})
    table = pl.read_parquet(blobs.path(variant.blob), columns=["id", "meta"])
    perturbed = read_predictions(blobs, row, ("id", "prediction")) if row.cell.predictions else None
    return side_by_side(name.rpartition(".v")[0], table, plain, perturbed)
