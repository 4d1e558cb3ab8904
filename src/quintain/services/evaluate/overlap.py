"""Whether what a model was trained on turns up in what it is evaluated on: exactly, or nearly.

Only counts and, for those who may see the data, examples leave this module; labels never do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, NotFound
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.evaluate import AlikePair, Overlap
from quintain.core.task import Task
from quintain.data.tables import read_table
from quintain.services.data.datasets import VersionInfo, get_version, list_versions
from quintain.services.evaluate.cells import EVALUATED
from quintain.services.models.registry import get_model
from quintain.services.tasks.definitions import get_task
from quintain.stats.near_duplicates import THRESHOLD, Nearest, find_nearest
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import results as cache
from quintain.tasks.contract import kind_of

FORMAT = 1  # goes up when the meaning of a cached report changes
SHOWN = 20
# Columns that say something about an example and are not part of it.
BESIDE = frozenset({"id", "answer", "label", "gold_label", "tags", "group", "meta", "split", "distribution"})


def overlap_files(
    train: Path, test: Path, *, fields: Sequence[str] = (), threshold: float = THRESHOLD, limit: int = SHOWN
) -> Overlap:
    """Look for the examples of the file *test* in the file *train*, by the text in *fields* or in all shared ones."""
    tables = [read_table(path, required=list(fields)) for path in (train, test)]
    names = list(fields) or _shared_texts(*tables)
    if not names:
        raise BadInput(
            "{name} and {other} share no column of texts.",
            name=train.name,
            other=test.name,
            remedy="Name the columns with --field.",
        )
    texts = _texts(tables[0], names), _texts(tables[1], names)
    return _overlap((train.name, test.name), texts, threshold, limit)


def overlap_versions(
    db: Session, blobs: Blobs, actor: Actor, train: str, test: str, *, threshold: float = THRESHOLD
) -> Overlap:
    """Look for the examples of one data set version in another; what was found once is remembered."""
    first, second = get_version(db, actor, train), get_version(db, actor, test)
    if first.task != second.task:
        raise BadInput(
            "{ref} and {other} are of different tasks.",
            ref=first.ref,
            other=second.ref,
            remedy="Their inputs do not compare.",
        )
    return _between(db, blobs, get_task(db, first.task), first, second, threshold)


def model_overlap(db: Session, blobs: Blobs, actor: Actor, ref: str) -> list[Overlap]:
    """Report how much of each evaluation set is in the data that the model says it was trained on.

    What a model was trained on is what its version names under `data`: references, or hashes of content.
    """
    version = get_model(db, actor, ref).version
    task = get_task(db, version.task)
    versions = list_versions(db, actor, version.task)
    trained = _training(versions, version.meta)
    newest = {one.dataset: one for one in sorted(versions, key=lambda one: one.number)}
    tests = [one for one in newest.values() if one.role in EVALUATED]
    return [_between(db, blobs, task, first, second, THRESHOLD) for first in trained for second in tests]


def _training(versions: Sequence[VersionInfo], meta: Mapping[str, Any]) -> list[VersionInfo]:
    named = meta.get("data") or ()
    wanted: set[str] = set()
    for one in named if isinstance(named, list | tuple) else ():
        wanted |= (
            {str(one[key]) for key in ("hash", "name") if one.get(key)} if isinstance(one, Mapping) else {str(one)}
        )
    return [one for one in versions if one.hash in wanted or one.ref in wanted]


def _between(
    db: Session, blobs: Blobs, task: Task, first: VersionInfo, second: VersionInfo, threshold: float
) -> Overlap:
    key = content_id(["overlap", FORMAT, first.hash, second.hash, threshold])
    found = cache.cached(db, [key]).get(key)
    if found is None:
        names = [item.name for item in kind_of(task).fields(task)]

        def texts(one: VersionInfo) -> list[str]:
            return _texts(pl.scan_parquet(blobs.path(one.blob), glob=False).select(names).collect(), names)

        made = _overlap((first.ref, second.ref), (texts(first), texts(second)), threshold, 0)
        found = {"exact": made.exact, "near": made.near}
        with transaction(db):
            cache.keep(db, {key: found})
    return _counted((first.ref, second.ref), (first.rows, second.rows), found["exact"], found["near"], threshold)


def _overlap(
    names: tuple[str, str], texts: tuple[Sequence[str], Sequence[str]], threshold: float, limit: int
) -> Overlap:
    train, test = texts
    if not train or not test:
        raise NotFound("{names} has no examples.", names=names[0] if not train else names[1])
    found = find_nearest(test, train, threshold=threshold)
    pairs = _pairs(found, train, test, limit)
    exact, near = int(found.exact.sum()), int(found.near.sum())
    return _counted(names, (len(train), len(test)), exact, near, threshold, pairs)


def _counted(
    names: tuple[str, str],
    rows: tuple[int, int],
    exact: int,
    near: int,
    threshold: float,
    pairs: Sequence[AlikePair] = (),
) -> Overlap:
    share = (exact + near) / rows[1] if rows[1] else 0.0
    return Overlap(*names, *rows, exact, near, share, threshold, list(pairs))


def _pairs(found: Nearest, train: Sequence[str], test: Sequence[str], limit: int) -> list[AlikePair]:
    order = np.argsort(-found.similarity, kind="stable")[:limit]
    return [
        AlikePair(test[i], train[found.index[i]], round(float(found.similarity[i]), 4))
        for i in order
        if found.index[i] >= 0
    ]


def _shared_texts(first: pl.DataFrame, second: pl.DataFrame) -> list[str]:
    shared = [name for name in first.columns if name in second.columns and name not in BESIDE]
    return [name for name in shared if pl.String() in {first.schema[name], second.schema[name]}]


def _texts(table: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Join the inputs of each example into one text."""
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise BadInput("There is no column '{missing}'.", missing=missing[0])
    parts = []
    for name in names:
        column = pl.col(name)
        if isinstance(table.schema[name], pl.List):
            column = column.cast(pl.List(pl.String())).list.join(" ", ignore_nulls=True)
        parts.append(column.cast(pl.String()).fill_null(""))
    return table.select(pl.concat_str(parts, separator=" ")).to_series().to_list()
