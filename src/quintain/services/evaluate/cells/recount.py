"""Whether the figures of cells that are kept are those that their predictions give; what disagrees is set right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from quintain.core.records.base import plain
from quintain.core.task import Task
from quintain.services.evaluate.results.compute import computed_again
from quintain.services.jobs.checks import Checked, agrees, compared
from quintain.services.tasks.board_settings import board_spec, frozen_at
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.evaluate import cells as queries
from quintain.store.queries.evaluate import results as cache
from quintain.store.queries.evaluate.cells import CellRow

KIND = "figures of runs"


def scored_pairs(db: Session, role: str | None = None) -> list[str]:
    """Name the model versions and data set versions, all or those of a *role*, that figures are kept of."""
    return [f"{pair.model_version_id} {pair.dataset_version_id}" for pair in queries.scored_pairs(db, role=role)]


def cells_of(db: Session, subject: str) -> list[CellRow]:
    """Return the cells of a model version and a data set version that `scored_pairs` named."""
    model, dataset = map(int, subject.split())
    return queries.rows(db, model_version_id=model, dataset_version_id=dataset)


def title_of(row: CellRow) -> str:
    """Return in words what a cell stands between."""
    model = f"{row.task.name}/{row.model.name}@{row.model_version.number}"
    return f"{model} on {row.dataset.name}@{row.dataset_version.number}"


def check_cells(db: Session, blobs: Blobs, subject: str) -> Checked:
    """Compare what is kept of a model version on a data set version with its predictions, and set it right."""
    group = cells_of(db, subject)
    if not group:
        return Checked()
    task = get_task(db, group[0].task.name)
    return set_right(db, KIND, title_of(group[0]), _computed(db, blobs, task, group, only_known=True))


def rebuild_cells(db: Session, blobs: Blobs, subject: str) -> None:
    """Compute what is kept of a model version on a data set version again, and keep that."""
    group = cells_of(db, subject)
    if group:
        figures = _computed(db, blobs, get_task(db, group[0].task.name), group, only_known=False)
        db.rollback()
        with transaction(db):
            cache.replace(db, figures)


def _computed(
    db: Session, blobs: Blobs, task: Task, group: list[CellRow], *, only_known: bool
) -> dict[str, dict[str, Any]]:
    moments = {None, frozen_at(board_spec(db, task.name))}
    return computed_again(db, blobs, task, group, moments, only_known=only_known)


def set_right(db: Session, kind: str, subject: str, counted: Mapping[str, Mapping[str, Any]]) -> Checked:
    """Compare what is cached with what was *counted* now, by its keys, and replace what disagrees."""
    recounted = {
        key: json.loads(json.dumps(figures, default=plain, allow_nan=False)) for key, figures in counted.items()
    }
    known = cache.cached(db, list(recounted))
    wrong = {key: figures for key, figures in recounted.items() if not agrees(known.get(key), figures)}
    db.rollback()
    if wrong:
        with transaction(db):
            cache.replace(db, wrong)
    faults = [fault for key, figures in wrong.items() for fault in compared(kind, subject, known.get(key, {}), figures)]
    return Checked(len(recounted), faults=faults)
