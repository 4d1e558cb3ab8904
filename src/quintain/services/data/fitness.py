"""What makes a data set weak ground for a ranking, read once for each version."""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from quintain.core.task import Task
from quintain.stats.fitness import Weakness, weaknesses
from quintain.store.blobs import Blobs


def fitness(blobs: Blobs, task: Task, blob: str, *, hidden: bool, tag: str | None = None) -> tuple[Weakness, ...]:
    """Return why the version kept under *blob*, or its examples with *tag*, are weak ground to rank models on.

    Where labels are hidden none is named, and nothing is said of the labels of some examples only.
    """
    units, grouped, counts = _counts(str(blobs.path(blob)), tag)
    labels = () if hidden and tag else task.label_names
    return weaknesses(units, dict(counts), labels, grouped=grouped, name_labels=not hidden)


@lru_cache(maxsize=512)
def _counts(path: str, tag: str | None) -> tuple[int, bool, tuple[tuple[str, int], ...]]:
    """Count what is drawn together (examples, or groups of them) and the answers; a version never changes."""
    table = pl.scan_parquet(path).filter(pl.col("answer").is_not_null())
    if tag is not None:
        table = table.filter(pl.col("tags").list.contains(tag))
    whole = table.select(pl.coalesce("group", "id").n_unique().alias("units"), pl.col("group").is_not_null().any())
    units, grouped = whole.collect().row(0)
    if table.collect_schema()["answer"] != pl.String:
        return units, bool(grouped), ()
    counts = table.group_by("answer").len().sort("answer").collect()
    return units, bool(grouped), tuple(counts.iter_rows())
