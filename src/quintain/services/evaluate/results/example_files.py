"""All answers of a model on a data set as a file, read and written some thousand at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import PLAIN
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.data.exporting import write_parts
from quintain.services.evaluate.cells.lifecycle import may_see_logs
from quintain.services.evaluate.results.examples import finished_cells, require_gold, scored
from quintain.services.evaluate.results.stored_predictions import exchanges, read_predictions
from quintain.services.models.registry import get_model
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate.cells import CellRow

AT_A_TIME = 20_000  # examples


def export_examples(  # noqa: PLR0917 - what, of whom, on what, how, where to
    db: Session,
    blobs: Blobs,
    actor: Actor,
    model: str,
    dataset: str,
    format: str,  # noqa: A002 - the word that users read
    path: Path,
) -> int:
    """Write what *model* answered to each example of *dataset*, with gold answer and score, to *path*; count them."""
    version = get_model(db, actor, model).version
    task = get_task(db, version.task)
    row = finished_cells(db, version, dataset)[PLAIN]
    require_gold(db, actor, row)
    parts = _parts(blobs, task, row, with_words=may_see_logs(actor, row))
    first = next(parts)
    return write_parts(chain([first], parts), first.schema, format, path)


def _parts(blobs: Blobs, task: Task, row: CellRow, *, with_words: bool) -> Iterator[pl.DataFrame]:
    """Return the examples with what was said of them, in their order; one part at least."""
    source = pl.scan_parquet(blobs.path(row.dataset_version.blob), glob=False)
    for start in range(0, max(row.dataset_version.rows, 1), AT_A_TIME):
        examples = source.slice(start, AT_A_TIME).collect()
        table = scored(task, examples, read_predictions(blobs, row, ids=examples["id"]))
        if not with_words:  # why it failed is in the model's own words
            table = table.with_columns(failure=pl.when(pl.col("failure").is_not_null()).then(pl.lit("failed")))
        else:
            words = exchanges(blobs, row, examples["id"])
            table = table.join(words, on="id", how="left", maintain_order="left", suffix="_of_the_model")
        yield table.drop("meta", "group", strict=False)
