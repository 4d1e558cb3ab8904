"""The model that a harvest asks, wherever it comes from: probabilities of labels for many sentences at once."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from quintain.core.errors import BadInput, Conflict, Unavailable
from quintain.core.people import Actor
from quintain.core.task import Task
from quintain.models import artefact
from quintain.models.baselines.ngram import Ngram
from quintain.models.contract import Baseline, load
from quintain.models.fields import text_fields
from quintain.models.labelled import LabelBaseline
from quintain.services.models.ask import IN_PROCESS, RUNNERS, AdapterRunner, parse
from quintain.services.models.registry import ModelVersionInfo, get_model
from quintain.services.tasks.definitions import get_task
from quintain.store.blobs import Blobs
from quintain.tasks.contract import kind_of

Probabilities = npt.NDArray[np.float64]
BATCH = 1024


@dataclass(frozen=True, slots=True)
class HarvestTarget:
    """A model to harvest with: its *labels*, the *field* that takes a sentence, and how it is asked."""

    name: str
    hash: str
    task: str
    labels: tuple[str, ...]
    field: str
    ask: Callable[[Sequence[str]], Probabilities]


def target_from_folder(folder: Path, *, task: Task | None = None) -> HarvestTarget:
    """Take the trained baseline in *folder*; where *task* is given, it must be made for its labels."""
    model = load(folder)
    if task is not None and set(task.label_names) != set(model.task.label_names):
        raise BadInput(
            "The model in {folder} answers {answers}, and task '{name}' has the labels {labels}.",
            folder=folder,
            answers=", ".join(model.task.label_names),
            name=task.name,
            labels=", ".join(task.label_names),
            remedy="Name the task that the model was trained for.",
        )
    field = sentence_field(model.task)
    return HarvestTarget(
        str(folder), _folder_hash(folder), model.task.name, tuple(model.task.label_names), field, _in_process(model)
    )


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
            remedy="Harvest with a model that is built in.",
        )
    ask = (
        _in_process(IN_PROCESS.model(version, blobs))
        if runner is IN_PROCESS
        else _through(runner, version, blobs, definition, field)
    )
    return HarvestTarget(version.ref, version.hash, version.task, tuple(definition.label_names), field, ask)


def sentence_field(task: Task) -> str:
    """Give the one field of *task* that takes a sentence, or say why a sentence alone is not an example of it."""
    fields = kind_of(task).fields(task)
    texts = text_fields(task)
    if not kind_of(task).needs_labels or len(texts) != 1 or any(f.required and f.name not in texts for f in fields):
        raise BadInput(
            "An example of task '{name}' ({kind}) is more than one sentence with a label.",
            name=task.name,
            kind=task.kind,
            remedy="Harvest for a task of kind text-classification.",
        )
    return texts[0]


def _in_process(model: Baseline) -> Callable[[Sequence[str]], Probabilities]:
    if not isinstance(model, LabelBaseline):
        raise BadInput("The baseline '{name}' gives no probabilities of labels.", name=model.name)
    field = sentence_field(model.task)
    order = [model.labels.index(label) for label in model.task.label_names]

    def ask(texts: Sequence[str]) -> Probabilities:
        if isinstance(model, Ngram):
            found = model.text_probabilities(texts)
        else:
            parts = [
                model.probabilities([{field: text} for text in texts[start : start + BATCH]])
                for start in range(0, len(texts), BATCH)
            ]
            found = np.concatenate(parts) if parts else np.empty((0, len(order)))
        return np.asarray(found[:, order], dtype=np.float64)

    return ask


def _through(
    runner: AdapterRunner, version: ModelVersionInfo, blobs: Blobs, task: Task, field: str
) -> Callable[[Sequence[str]], Probabilities]:
    labels = task.label_names

    def ask(texts: Sequence[str]) -> Probabilities:
        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            batch: list[dict[str, Any]] = [{field: text} for text in texts[start : start + BATCH]]
            for one in parse(task, batch, runner(version, blobs, batch), version.ref):
                # A model that gives a label alone is as sure as can be.
                shares = one.probabilities or {str(one.answer): 1.0}
                rows.append([float(shares.get(label, 0.0)) for label in labels])
        return np.array(rows, dtype=np.float64).reshape(len(texts), len(labels))

    return ask


def _folder_hash(folder: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="quintain-model-") as temporary:
        packed = Path(temporary) / "model.tar"
        artefact.pack(folder, packed)
        return sha256(packed.read_bytes()).hexdigest()[:32]
