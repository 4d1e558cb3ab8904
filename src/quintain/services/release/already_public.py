"""Which labels of a validation's items can be read already: those in data sets of the task whose answers are open."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.release import known_spec
from quintain.core.task import Task
from quintain.data.identity import example_ids
from quintain.services.validate.types import ValidationInfo
from quintain.stats.split_pool import BoolArray
from quintain.store.blobs import Blobs
from quintain.store.queries.data import datasets
from quintain.store.queries.release import releases as queries
from quintain.store.queries.release.releases import JudgedRow
from quintain.tasks.contract import kind_of


def already_public(
    db: Session, blobs: Blobs, validation: ValidationInfo, rows: Sequence[JudgedRow], spec: Mapping[str, Any]
) -> BoolArray:
    """Return for each item whether an open data set of the task has its text with an answer.

    Data sets of a release of the same items by the same *spec* do not count: they are what is made once more.
    """
    own = {
        version
        for release in queries.of_validation(db, validation.id)
        if known_spec(release.spec) == json.loads(json.dumps(dict(spec)))
        for version in queries.version_ids(db, release.id).values()
    }
    is_public = np.zeros(len(rows), dtype=bool)
    others = [
        row.version
        for row in datasets.versions(db, validation.task.name)
        if not row.version.hidden and row.version.id not in own
    ]
    if not others or not rows:
        return is_public
    ids = _ids(validation.task, rows)
    for blob in {other.blob for other in others}:
        published = pl.scan_parquet(blobs.path(blob), glob=False).filter(pl.col("answer").is_not_null()).select("id")
        is_public |= ids.is_in(published.collect()["id"].implode()).to_numpy()
    return is_public


def _ids(task: Task, rows: Sequence[JudgedRow]) -> pl.Series:
    fields = kind_of(task).fields(task)
    schema = {name: dtype for name, dtype in kind_of(task).schema(task).items() if name != "answer"}
    inputs = [item.name for item in fields]
    table = pl.DataFrame([{name: row.inputs.get(name) for name in inputs} for row in rows], schema=schema)
    return example_ids(table, inputs)
