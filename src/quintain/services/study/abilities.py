"""How able the models of a board are: a 2PL model of their responses to the examples of all data sets that score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy.orm import Session

from quintain.core.people import OPERATOR
from quintain.core.task import ABILITY
from quintain.services.board.abilities import NAME, basis
from quintain.services.collect.writing.checks import as_text
from quintain.services.jobs.figures import FigureKind, ReportProgress, files
from quintain.services.plain.reports.irt import study_responses
from quintain.services.study.coding_sources import shorten
from quintain.services.study.stored import LEAST_ITEMS, LEAST_MODELS, StoredSet, stored_set
from quintain.services.tasks.board_settings import board_spec
from quintain.services.tasks.definitions import get_task, list_tasks
from quintain.stats.irt.responses import Responses
from quintain.store.blobs import Blobs
from quintain.store.queries.board import boards as queries
from quintain.store.queries.tasks import board_settings
from quintain.tasks.contract import kind_of

# The scale that people read: 50 is the mean of the scale on which items and models stand, 10 one deviation of it.
MIDDLE, DEVIATION = 50.0, 10.0
Z = 1.96
MOST_SUSPECTS = 50
LONGEST = 200


def compute_abilities(db: Session, store: Blobs | None, task_name: str, tell: ReportProgress) -> dict[str, Any]:
    """Fit a 2PL model to which model got which example of the scoring data sets right; list items to review."""
    blobs = files(store)
    task, spec = get_task(db, task_name), board_spec(db, task_name)
    names = [
        f"{task_name}/{name}@{version.number}"
        for version, name in board_settings.evaluated_versions(db, task_name)
        if spec.dataset_weight(name) > 0
    ]
    sets = []
    for number, ref in enumerate(names):
        tell(number, len(names) + 1)
        sets.append(stored_set(db, blobs, OPERATOR, task, ref))
    db.rollback()  # hold nothing while it is computed
    responses = _responses(sets)
    if len(responses.respondents) < LEAST_MODELS or len(responses.items) < LEAST_ITEMS:
        return {"models": {}, "items": len(responses.items), "suspects": [], "converged": True}
    tell(len(names), len(names) + 1)
    study = study_responses(responses, "2pl")
    fit = study.fit
    return {
        "models": {
            f"{task_name}/{name}": _on_scale(float(ability), float(error))
            for name, ability, error in zip(responses.respondents, fit.ability, fit.ability_error, strict=True)
        },
        "items": len(responses.items),
        "suspects": [_suspect(sets, row) for row in study.suspicious().head(MOST_SUSPECTS).iter_rows(named=True)],
        "converged": bool(fit.converged),
    }


def _boards_by_ability(db: Session) -> Iterable[str]:
    return [task.task.name for task in list_tasks(db) if board_spec(db, task.task.name).metric == ABILITY]


ABILITIES = FigureKind(
    NAME,
    basis=basis,
    facts=lambda db, task: queries.plain_runs(db, task)[0],
    compute=compute_abilities,
    subjects=_boards_by_ability,
    at_once=-1,  # never while somebody waits
)


def _responses(sets: Iterable[StoredSet]) -> Responses:
    """Put the responses to all sets side by side; a model that was not run on one has none there."""
    rights = [(one, one.right) for one in sets]
    models = sorted({model for _, right in rights for model in right})
    items = [f"{place}/{item}" for place, (one, _) in enumerate(rights) for item in one.table["id"].to_list()]
    parts = [
        np.stack([right.get(model, np.full(one.table.height, np.nan)) for model in models])
        for one, right in rights
        if models
    ]
    correct = np.concatenate(parts, axis=1) if parts else np.zeros((len(models), len(items)))
    return Responses(models, items, correct, np.ones(len(models)))


def _on_scale(ability: float, error: float) -> dict[str, float]:
    value, half = MIDDLE + DEVIATION * ability, DEVIATION * Z * error
    return {"value": value, "low": value - half, "high": value + half}


def _suspect(sets: list[StoredSet], row: Mapping[str, Any]) -> dict[str, Any]:
    number, _, item = str(row["item"]).partition("/")
    stored = sets[int(number)]
    example = stored.table.row(by_predicate=pl.col("id") == item, named=True)
    own = [field.name for field in kind_of(stored.task).fields(stored.task)]
    text = " · ".join(as_text(example[name]) for name in own if example.get(name) is not None)
    return {
        "dataset": stored.version.ref,
        "example": item,
        "text": shorten(text, LONGEST),
        "strong_wrong": float(row["strong_wrong"]),
        "weak_right": float(row["weak_right"]),
        "z": float(row["z"]),
    }
