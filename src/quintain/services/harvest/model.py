"""The model that a harvest asks, wherever it comes from: probabilities of labels for many sentences at once."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from quintain.core.errors import BadInput
from quintain.core.task import Task
from quintain.models import artefact
from quintain.models.baselines.ngram import Ngram
from quintain.models.contract import Baseline, load
from quintain.models.fields import text_fields
from quintain.models.labelled import LabelBaseline
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
        str(folder),
        _folder_hash(folder),
        model.task.name,
        tuple(model.task.label_names),
        field,
        asked_in_process(model),
    )


def sentence_field(task: Task) -> str:
    """Return the one field of *task* that takes a sentence; refuse a task whose examples are more than a sentence."""
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


def asked_in_process(model: Baseline) -> Callable[[Sequence[str]], Probabilities]:
    """Ask a baseline in this process, which must give probabilities of labels."""
    if not isinstance(model, LabelBaseline):
        raise BadInput("The baseline '{name}' gives no probabilities of labels.", name=model.name)
    field = sentence_field(model.task)
    order = [model.labels.index(label) for label in model.task.label_names]

    def ask(texts: Sequence[str]) -> Probabilities:
        if isinstance(model, Ngram):
            probabilities = model.text_probabilities(texts)
        else:
            parts = [
                model.probabilities([{field: text} for text in texts[start : start + BATCH]])
                for start in range(0, len(texts), BATCH)
            ]
            probabilities = np.concatenate(parts) if parts else np.empty((0, len(order)))
        return np.asarray(probabilities[:, order], dtype=np.float64)

    return ask


def _folder_hash(folder: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="quintain-model-") as temporary:
        packed = Path(temporary) / "model.tar"
        artefact.pack(folder, packed)
        return sha256(packed.read_bytes()).hexdigest()[:32]
