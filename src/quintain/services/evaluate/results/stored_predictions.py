"""Predictions as they are kept, and the examples that they are scored against."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import polars as pl

from quintain.engine.predicting import EXCHANGE, SAMPLES
from quintain.services.evaluate.results.scoring import GOLD_COLUMNS, GoldExamples, make_gold
from quintain.services.jobs.memory import WarmValues
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate.cells import CellRow

GOLD_KEPT = 6  # 20 MB each at 200,000 examples


class KnownGold(WarmValues[GoldExamples]):
    """What was scored against last: a worker scores one model after the other on the same few data sets."""

    def __init__(self) -> None:
        super().__init__(GOLD_KEPT)


def gold_examples(blobs: Blobs, blob: str) -> GoldExamples:
    """Read what predictions are scored against from a data set's file; those that were read last are at hand."""
    return blobs.state.part(KnownGold).get(blob, lambda: make_gold(_read_gold(blobs.path(blob))))


def _read_gold(path: Path) -> pl.DataFrame:
    """Read the columns that scoring needs; what models were given is most of a file."""
    file = pl.scan_parquet(path, glob=False)
    return file.select([name for name in file.collect_schema().names() if name in GOLD_COLUMNS]).collect()


def read_predictions(
    blobs: Blobs, row: CellRow, columns: Collection[str] | None = None, ids: pl.Series | None = None
) -> pl.DataFrame:
    """Read the predictions of a cell that is done, or these *columns* of them as far as there are, for some *ids*.

    Older ones say of no example that the model failed on it. Single answers, of which one was made, are left out.
    """
    table = _predictions(blobs, row, ids).drop([*EXCHANGE, SAMPLES], strict=False)
    if "failure" not in table.collect_schema():
        table = table.with_columns(failure=pl.lit(None, dtype=pl.String))
    if columns is not None:
        table = table.select(name for name in table.collect_schema() if name in columns)
    return table.collect()


def read_samples(blobs: Blobs, row: CellRow) -> pl.DataFrame | None:
    """Read the predictions of a cell with their single answers, without words; None where there is one of each."""
    table = _predictions(blobs, row, None)
    if SAMPLES not in table.collect_schema():
        return None
    return without_words(table).collect()


def without_words(table: pl.LazyFrame) -> pl.LazyFrame:
    """Leave of predictions with their single answers what scoring needs."""
    scored = pl.struct(pl.element().struct.field("prediction"), pl.element().struct.field("outcome"))
    return table.drop(EXCHANGE, strict=False).with_columns(pl.col(SAMPLES).list.eval(scored))


def exchanges(blobs: Blobs, row: CellRow, ids: pl.Series | None = None) -> pl.DataFrame:
    """Read what the model of a cell was asked in words and wrote, by example; no more than ids where it was not."""
    table = _predictions(blobs, row, ids)
    return table.select("id", *(name for name in table.collect_schema() if name in EXCHANGE)).collect()


def _predictions(blobs: Blobs, row: CellRow, ids: pl.Series | None) -> pl.LazyFrame:
    table = pl.scan_parquet(blobs.path(str(row.cell.predictions)), glob=False)
    return table if ids is None else table.filter(pl.col("id").is_in(ids.implode()))
