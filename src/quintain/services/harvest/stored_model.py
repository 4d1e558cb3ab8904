"""A model of the workspace to harvest with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Unavailable
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.services.harvest.model import HarvestTarget, Probabilities, asked_in_process, sentence_field
from quintain.services.models.ask import IN_PROCESS, RUNNERS, AdapterRunner
from quintain.services.models.registry import ModelVersionInfo, get_model
from quintain.services.plain.files.predictions import parse
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs

ASKED_AT_ONCE = 64  # of a model that runs apart: a call that takes too long is given up


def target_from_workspace(
    db: Session,
    blobs: Blobs,
    actor: Actor,
    ref: str,
    *,
    task: str | None = None,
    runners: Mapping[str, AdapterRunner] = RUNNERS,
) -> HarvestTarget:
    """Take the model version of the workspace that *ref* means; models that are not ours run through *runners*."""
    version = get_model(db, actor, ref).version
    if task is not None and version.task != task:
        raise BadInput(
            "Model '{ref}' belongs to task '{task}', not to '{other}'.", ref=version.ref, task=version.task, other=task
        )
    if version.withdrawn_at is not None:
        raise Conflict("Model '{ref}' was withdrawn.", ref=version.ref, remedy="Harvest with another version.")
    definition = get_task(db, version.task)
    field = sentence_field(definition)
    runner = runners.get(version.adapter)
    if runner is None:
        raise Unavailable(
            "Model '{ref}' runs through the adapter '{adapter}', which cannot be asked here.",
            ref=version.ref,
            adapter=version.adapter,
            remedy="Harvest with a model that answers live; a table of predictions does not.",
        )
    ask = (
        asked_in_process(IN_PROCESS.model(version, blobs))
        if runner is IN_PROCESS
        else _through(runner, version, blobs, definition, field)
    )
    return HarvestTarget(version.ref, version.hash, version.task, tuple(definition.label_names), field, ask)


def _through(
    runner: AdapterRunner, version: ModelVersionInfo, blobs: Blobs, task: Task, field: str
) -> Callable[[Sequence[str]], Probabilities]:
    labels = task.label_names

    def ask(texts: Sequence[str]) -> Probabilities:
        rows: list[list[float]] = []
        for start in range(0, len(texts), ASKED_AT_ONCE):
            batch: list[dict[str, Any]] = [{field: text} for text in texts[start : start + ASKED_AT_ONCE]]
            for prediction in parse(task, batch, runner(version, blobs, batch), version.ref):
                # A model that gives a label alone is as sure as can be.
                shares = prediction.probabilities or {str(prediction.answer): 1.0}
                rows.append([float(shares.get(label, 0.0)) for label in labels])
        return np.array(rows, dtype=np.float64).reshape(len(texts), len(labels))

    return ask
