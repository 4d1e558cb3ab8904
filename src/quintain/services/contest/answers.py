"""What the systems of a contest answered, whether the platform ran them or their teams did, and how well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.core.cells import CellState
from quintain.core.contests import HandedState
from quintain.core.hashing import content_id
from quintain.core.task import Task
from quintain.services.contest.contests import ContestInfo
from quintain.services.contest.freeze import parts_of
from quintain.services.contest.grading import as_cell, grading_of
from quintain.services.data.content import scan_for_scoring
from quintain.services.data.datasets import VersionInfo
from quintain.store.blobs import Blobs
from quintain.store.database import transaction
from quintain.store.queries.contest import contests as queries
from quintain.store.queries.evaluate import results as cache
from quintain.store.tables import ContestSystem


@dataclass(frozen=True, slots=True)
class SubmittedAnswers:
    """A system's answers to one part: how far they are, and the file that holds them."""

    state: HandedState
    blob: str | None = None


def given_answers(
    db: Session, info: ContestInfo, systems: Sequence[ContestSystem]
) -> dict[tuple[int, str], SubmittedAnswers]:
    """Return of every system and part how far its answers are."""
    handed = queries.newest_answers(db, info.id)
    answers: dict[tuple[int, str], SubmittedAnswers] = {}
    models = {system.model_version_id for system in systems if system.model_version_id is not None}
    for part, version in parts_of(db, info).items():
        runs = queries.runs(db, models, version.id)
        for system in systems:
            if system.model_version_id is None:
                own = handed.get((system.id, part))
                answers[system.id, part] = (
                    SubmittedAnswers(HandedState.THERE, own.blob) if own else SubmittedAnswers(HandedState.MISSING)
                )
                continue
            cell = runs.get(system.model_version_id)
            if cell is not None and cell.state == CellState.DONE and cell.predictions:
                answers[system.id, part] = SubmittedAnswers(HandedState.THERE, cell.predictions)
            elif cell is not None and cell.state in {CellState.FAILED, CellState.CANCELLED}:
                answers[system.id, part] = SubmittedAnswers(HandedState.FAILED)
            else:
                answers[system.id, part] = SubmittedAnswers(HandedState.WAITING)
    return answers


def answer_cells(blobs: Blobs, task: Task, blob: str, ids: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a system's answers by the ids of examples, as the tables of a contest hold them."""
    table = pl.scan_parquet(blobs.path(blob), glob=False).select("id", "prediction")
    if ids is not None:
        table = table.filter(pl.col("id").is_in(list(ids)))
    rows = table.collect()
    return {
        key: as_cell(task, said) for key, said in zip(rows["id"].to_list(), rows["prediction"].to_list(), strict=True)
    }


def dev_accuracies(
    db: Session, blobs: Blobs, info: ContestInfo, task: Task, answers: Mapping[tuple[int, str], SubmittedAnswers]
) -> dict[int, float]:
    """Return the share of the development set that each system has right; computed once for each file of answers."""
    dev = parts_of(db, info)["dev"]
    blobs_of = {system: one.blob for (system, part), one in answers.items() if part == "dev" and one.blob}
    keys = {system: _key(info, task, dev, blob) for system, blob in blobs_of.items()}
    known = cache.cached(db, list(keys.values()))
    missing = {keys[system]: blob for system, blob in blobs_of.items() if keys[system] not in known}
    if missing:
        new = _computed(blobs, info, task, dev, missing)
        with transaction(db):
            cache.keep(db, new)
        known |= new
    return {system: float(known[key]["accuracy"]) for system, key in keys.items()}


def computed_accuracies(
    db: Session, blobs: Blobs, info: ContestInfo, task: Task, answers: Mapping[tuple[int, str], SubmittedAnswers]
) -> dict[str, dict[str, float]]:
    """Compute the share of the development set that each system has right again, by the keys that it is kept under."""
    dev = parts_of(db, info)["dev"]
    files = {one.blob for (_, part), one in answers.items() if part == "dev" and one.blob}
    return _computed(blobs, info, task, dev, {_key(info, task, dev, blob): blob for blob in files})


def _computed(
    blobs: Blobs, info: ContestInfo, task: Task, dev: VersionInfo, files: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    golds = _golds(blobs, task, dev)
    grade = grading_of(task, info.spec)
    accuracies = {}
    for key, blob in files.items():
        predictions = answer_cells(blobs, task, blob)
        right = sum(grade(predictions.get(example), gold).right for example, gold in golds.items())
        accuracies[key] = {"accuracy": right / len(golds) if golds else 0.0}
    return accuracies


def _golds(blobs: Blobs, task: Task, version: VersionInfo) -> dict[str, Any]:
    table = scan_for_scoring(blobs, version).select("id", "answer").drop_nulls("answer").collect()
    return {
        key: as_cell(task, gold) for key, gold in zip(table["id"].to_list(), table["answer"].to_list(), strict=True)
    }


def _key(info: ContestInfo, task: Task, dev: VersionInfo, blob: str) -> str:
    grading = grading_of(task, info.spec)
    return content_id({"contest": "dev", "of": dev.hash, "by": [grading.metric, grading.threshold], "answers": blob})
