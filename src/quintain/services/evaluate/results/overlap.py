"""Whether what a model was trained on turns up in what it is evaluated on: exactly, or nearly.

Only counts and, for those who may see the data, examples leave this module; labels never do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput
from quintain.core.hashing import content_id
from quintain.core.people import Actor
from quintain.core.records.evaluate import Overlap
from quintain.core.task import Task
from quintain.services.data.datasets import VersionInfo, get_version, list_versions
from quintain.services.evaluate.cells.lifecycle import EVALUATED
from quintain.services.models.registry import get_model
from quintain.services.plain.files.overlap import compare_texts, counted, joined_texts
from quintain.services.tasks.definitions import get_task
from quintain.stats.near_duplicates import THRESHOLD
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import results as cache
from quintain.tasks.contract import kind_of

FORMAT = 3  # goes up when the meaning of a cached report changes


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
    newest = {dataset.dataset: dataset for dataset in sorted(versions, key=lambda dataset: dataset.number)}
    tests = [dataset for dataset in newest.values() if dataset.role in EVALUATED]
    return [_between(db, blobs, task, first, second, THRESHOLD) for first in trained for second in tests]


def _training(versions: Sequence[VersionInfo], meta: Mapping[str, Any]) -> list[VersionInfo]:
    named = meta.get("data") or ()
    refs: set[str] = set()
    for entry in named if isinstance(named, list | tuple) else ():
        refs |= (
            {str(entry[key]) for key in ("hash", "name") if entry.get(key)}
            if isinstance(entry, Mapping)
            else {str(entry)}
        )
    return [entry for entry in versions if entry.hash in refs or entry.ref in refs]


def _between(
    db: Session, blobs: Blobs, task: Task, first: VersionInfo, second: VersionInfo, threshold: float
) -> Overlap:
    key = content_id(["overlap", FORMAT, first.hash, second.hash, threshold])
    counts = cache.cached(db, [key]).get(key)
    if counts is None:
        names = [item.name for item in kind_of(task).fields(task)]

        def texts(version: VersionInfo) -> list[str]:
            return joined_texts(pl.scan_parquet(blobs.path(version.blob), glob=False).select(names).collect(), names)

        overlap = compare_texts((first.ref, second.ref), (texts(first), texts(second)), threshold, 0)
        counts = {"exact": overlap.exact, "near": overlap.near}
        with transaction(db):
            cache.keep(db, {key: counts})
    return counted((first.ref, second.ref), (first.rows, second.rows), counts["exact"], counts["near"], threshold)
