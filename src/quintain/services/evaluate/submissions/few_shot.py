"""Examples that a submitted model is shown: drawn from the task's own training data when it is submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy.orm import Session

from quintain.adapters.chat_prompt import write_shots
from quintain.core.errors import BadInput
from quintain.core.example import Role
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.services.data.datasets import VersionInfo, get_version
from quintain.services.data.inputs import require_inputs
from quintain.services.evaluate.cells.lifecycle import EVALUATED
from quintain.services.evaluate.submissions.few_shot_draw import draw, few_shot_of
from quintain.services.plain.files.overlap import joined_texts
from quintain.store.blobs import Blobs
from quintain.store.queries.evaluate import cells as cell_queries
from quintain.store.queries.tasks.tasks import task_row
from quintain.store.tables import DatasetVersion
from quintain.tasks.contract import kind_of


def draw_for_task(
    db: Session, blobs: Blobs, actor: Actor, task: Task, folder: Path, options: Mapping[str, Any]
) -> str | None:
    """Draw the examples of the model in *folder* from the task's data, put them there, and return which data it is.

    Refused are data that are evaluated, that have hidden labels, or whose inputs *actor* may not read.
    """
    few = few_shot_of(options)
    if few is None:
        return None
    ref = str(few["data"])
    version = get_version(db, actor, ref if "/" in ref else f"{task.name}/{ref}")
    _require_training(task, version)
    require_inputs(db, actor, task.name, db.get_one(DatasetVersion, version.id))
    names = [item.name for item in kind_of(task).fields(task)]
    row = task_row(db, task.name)
    evaluated = cell_queries.newest_dataset_versions(db, row.id, EVALUATED) if row is not None else []
    avoided = [text for other in evaluated for text in _texts(blobs.path(other.blob), names)]
    write_shots(folder, draw(task, pl.read_parquet(blobs.path(version.blob), glob=False), few, avoided))
    return version.ref


def _require_training(task: Task, version: VersionInfo) -> None:
    if version.task != task.name:
        raise BadInput("{ref} is of another task.", ref=version.ref, remedy="Name training data with open labels.")
    if version.role != Role.TRAIN:
        raise BadInput(
            "{ref} is {role} data, of which no model is shown examples.",
            ref=version.ref,
            role=version.role,
            remedy="Name training data with open labels.",
        )
    if version.hidden:
        raise BadInput(
            "{ref} has hidden labels: no model is shown examples of it.",
            ref=version.ref,
            remedy="Name training data with open labels.",
        )


def _texts(path: Path, names: Sequence[str]) -> list[str]:
    return joined_texts(pl.scan_parquet(path, glob=False).select(names).collect(), names)
